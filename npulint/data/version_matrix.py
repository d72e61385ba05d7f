"""Which releases of packages belong together, and which releases have no wheel for aarch64."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING

import msgspec

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
    return next((one.version for one in specifier if one.operator == "==" and "*" not in one.version), "")


def of_same_base(package: str, release: str) -> Needs:
    """For a release that is not recorded, what all recorded ones of the same base (2.7.1 of 2.7.1.post3) need alike;
    nothing for an empty release."""
    from packaging.version import Version

    if not release:
        return {}
    base = Version(release).base_version
    same = [needs for one, needs in releases_of(package).items() if Version(one).base_version == base]
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
