"""The package of torch_npu for a pinned release of PyTorch."""

from __future__ import annotations

from npulint.data.version_matrix import releases_of
from npulint.lazy_regex import lazy_compile

_PINNED = lazy_compile(r"===?(\d+(?:\.\d+){1,2})")


def adapter_for(version: str) -> str:
    """The specifier of the torch-npu package for a specifier of torch; empty where there is none, or where several
    releases of torch are allowed.

    >>> adapter_for("==2.1.0"), adapter_for("==2.6"), adapter_for("==2.3.0"), adapter_for(">=2.1")
    ('~=2.1.0', '~=2.6.0', '', '')
    """
    match = _PINNED.fullmatch(version)
    number = match.group(1) if match is not None else ""
    number += ".0" if number.count(".") == 1 else ""
    known = any(f"=={number}" in needs["torch"] for needs in releases_of("torch-npu").values())
    return f"~={number}" if known else ""
