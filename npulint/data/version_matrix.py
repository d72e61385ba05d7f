"""Which releases of packages belong together, and which releases have no wheel for aarch64."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING

import msgspec

from npulint.core.lazy_regex import lazy_compile
from npulint.data import lazy_table

if TYPE_CHECKING:
    from packaging.specifiers import SpecifierSet

RECOMMENDED = "recommended "
"""Precedes the name of what is recommended, not needed."""

Needs = dict[str, list[str]]
"""Per package the specifiers of which one must hold."""


class _Matrix(msgspec.Struct, frozen=True):
    needs: dict[str, dict[str, Needs]]
    aarch64: dict[str, tuple[list[tuple[str, str]], str]]


_table = lazy_table("version_matrix.json", _Matrix)


def packages_with_needs() -> Sequence[str]:
    """The packages of which it is known what their releases need."""
    return list(_table().needs)


def releases_of(package: str) -> Mapping[str, Needs]:
    """Per release of a package what it needs of others, in the order of the table; empty for an unknown package."""
    return _table().needs.get(package, {})


@cache
def known_releases(package: str) -> tuple[str, ...]:
    """The releases of a package that the table names anywhere, the oldest first."""
    from packaging.version import Version

    needed = (
        text.lstrip("=>").removesuffix(".*")
        for releases in _table().needs.values()
        for needs in releases.values()
        for text in needs.get(package, ())
    )
    return tuple(sorted({*releases_of(package), *needed}, key=Version))


def exact(specifier: SpecifierSet) -> str:
    """The one release that a specifier allows; empty if it may allow several."""
    return next((clause.version for clause in specifier if clause.operator == "==" and "*" not in clause.version), "")


def of_same_base(package: str, release: str) -> Needs:
    """For a release that is not recorded, what all recorded ones of the same base (2.7.1 of 2.7.1.post3) need alike;
    nothing for an empty release."""
    from packaging.version import Version

    if not release:
        return {}
    base = Version(release).base_version
    same = [needs for version, needs in releases_of(package).items() if Version(version).base_version == base]
    if not same:
        return {}
    return {name: texts for name, texts in same[0].items() if all(needs.get(name) == texts for needs in same)}


def lacks_aarch64(package: str, specifier: SpecifierSet) -> str | None:
    """What to install instead where no release that a specifier allows has a wheel for aarch64 or an archive of sources
    (empty if nothing is known); None where some have, or where that is unknown."""
    from packaging.version import Version

    ranges, instead = _table().aarch64.get(package, ([], ""))
    if len(ranges) == 1 and not ranges[0][1]:
        return instead
    pinned = exact(specifier)
    if not pinned:
        return None
    lacking = any(Version(first) <= Version(pinned) <= Version(last or pinned) for first, last in ranges)
    return instead if lacking else None


# The package of torch_npu for a pinned release of PyTorch.

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
    is_recorded = any(f"=={number}" in needs["torch"] for needs in releases_of("torch-npu").values())
    return f"~={number}" if is_recorded else ""


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
