"""The package of torch_npu for a pinned release of PyTorch."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from npulint.core.lazy_regex import lazy_compile
from npulint.data.version_matrix import releases_of

if TYPE_CHECKING:
    from packaging.specifiers import SpecifierSet

_FIRST = ((1, 5),)  # built from a patched PyTorch, without a package of its own
_PATCHES = 10  # of a minor release, at most
_LATER = 20  # minor releases that are not known so far
_BUILD = lazy_compile(r"\+[\w.]+")
_CONDA = lazy_compile(r"^=(?!=)v?([\d.]*\d)(?:\.?\*)?$")
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


def has_adapter(version: str) -> bool | None:
    """Whether some release of torch that a specifier of pip or conda allows has a torch-npu; None if that is unknown,
    and where it allows later releases than those that are known.

    >>> has_adapter("==1.6"), has_adapter("=1.9.1"), has_adapter("==1.7.1+cu110"), has_adapter("<1.5")
    (False, False, False, False)
    >>> has_adapter("==2.1.2"), has_adapter("==2.7.1+cpu"), has_adapter(">=1.7"), has_adapter("==3.1"), has_adapter("")
    (True, True, None, None, None)
    """
    from packaging.specifiers import InvalidSpecifier, SpecifierSet

    try:
        allowed = SpecifierSet(_CONDA.sub(r"==\1.*", _BUILD.sub("", version)))
    except InvalidSpecifier:
        return None
    if not version or allowed.contains("99"):
        return None
    if any(_allows(allowed, release) for release in _supported()):
        return True
    major, minor = max(_supported())
    later = [(major, minor + step) for step in range(1, _LATER)] + [(major + 1, step) for step in range(_LATER)]
    return None if any(_allows(allowed, release) for release in later) else False


def _allows(allowed: SpecifierSet, release: tuple[int, int]) -> bool:
    """Whether a specifier allows some patch release of a minor release."""
    return any(allowed.contains(f"{release[0]}.{release[1]}.{patch}") for patch in range(_PATCHES))


@cache
def _supported() -> frozenset[tuple[int, int]]:
    """The minor releases of torch that torch_npu exists for."""
    needed = (text for needs in releases_of("torch-npu").values() for text in needs["torch"])
    numbers = (text.removeprefix("==").split(".") for text in needed)
    return frozenset((int(number[0]), int(number[1])) for number in numbers) | frozenset(_FIRST)
