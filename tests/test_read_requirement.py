"""Version specifiers of requirements."""

from __future__ import annotations

import pytest

from npulint.read.requirement import excludes_from


@pytest.mark.parametrize(
    ("specifier", "excluded"),
    [
        ("==0.21.0", True),
        ("==0.22", False),
        ("==0.22.0", False),
        ("==v0.9.1", True),
        ("==0.21.*", True),
        ("==0.22.*", False),
        ("===0.21.0", True),
        ("<=0.21.9", True),
        ("<=0.22.0", False),
        ("<0.22.0", True),
        ("<0.22.1", False),
        (">=0.20,<0.22", True),
        (">=0.20,<1", False),
        ("~=0.21.0", True),
        ("~=0.21", False),
        ("~=0.22.0", False),
        (">=0.20.3", False),
        ("!=0.21.0", False),
        ("", False),
    ],
)
def test_a_specifier_that_allows_only_older_releases(specifier: str, excluded: bool) -> None:
    assert excludes_from(specifier, "0.22.0") is excluded
