"""The releases of PyTorch that a package of torch_npu exists for.

Source: the tags of Ascend/pytorch (``v2.1.0-7.2.0`` and the like); a package has the number of its PyTorch, with
``.post`` and a number where it was corrected.
"""

from __future__ import annotations

from npulint.lazy_regex import lazy_compile

_SUPPORTED = frozenset(
    "2.1.0 2.2.0 2.3.1 2.4.0 2.5.1 2.6.0 2.7.1 2.8.0 2.9.0 2.10.0 2.11.0 2.12.0".split()
)  # fmt: skip
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
    return f"~={number}" if number in _SUPPORTED else ""
