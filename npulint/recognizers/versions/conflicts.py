"""Packages that are installed together although their releases do not belong together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import product
from typing import Literal

from packaging.specifiers import SpecifierSet
from packaging.version import Version

from npulint.data.version_matrix import Needs, exact, lacks_aarch64, of_same_base, packages_with_needs, releases_of
from npulint.facts.attributes import Flag, flag
from npulint.facts.kinds import fact_kind
from npulint.facts.model import Fact, FileFact
from npulint.recognizers.versions.environments import Environment, Pin
from npulint.recognizers.versions.specifiers import meet, specifier_of

# Facts about packages that a project installs together on NPU servers.


@fact_kind("version_conflict")
class VersionConflict(FileFact):
    """A package is installed together with a release of another that it does not work with; the name is the
    package."""

    version: str
    """The version specifier as written."""
    other: str
    """The other package; also python and cann."""
    other_version: str
    """The version of the other one as written."""
    needs: str
    """What the release of the package needs of the other one."""
    fits: str
    """The newest releases of the package that work with the other one; a dash if none is known."""
    other_place: str
    """Where the other one is written, as path:line; empty for a declared release."""


@fact_kind("installed_together")
class InstalledTogether(FileFact):
    """Two packages are installed that overwrite each other's files; the name is the one for the NPU."""

    other: str
    """The other package."""
    other_place: str
    """Where the other one is written, as path:line; empty for a declared release."""


@fact_kind("uninstallable")
class Uninstallable(FileFact):
    """A package cannot be installed on the machines that the file is for; the name is the package."""

    version: str
    """The version specifier as written."""
    why: Literal["development_build", "no_aarch64_wheel"]
    """What is missing."""
    instead: str = ""
    """The package to install instead; a dash if none is known."""
    aarch64: Flag | None = None
    """Whether the file is certainly for Arm processors."""


_TOGETHER = (("triton-ascend", "triton"),)  # both install into one folder
_SHOWN = 3


def conflicts(environment: Environment) -> Iterator[Fact]:
    """What cannot work in an environment: releases that exclude each other, packages that overwrite each other, and
    packages that cannot be installed."""
    for package in packages_with_needs():
        pins = environment.of(package)
        if not pins:
            continue
        needed = {name for needs in releases_of(package).values() for name in needs}
        for other in sorted(needed):
            against = environment.of(other)
            if against:
                yield from _conflict(pins, other, against)
    for package, other in _TOGETHER:
        for pin, second in product(environment.of(package)[:1], environment.of(other)[:1]):
            yield InstalledTogether(package, pin.path, pin.span, other, second.place)
    for pin in environment.pins:
        yield from _uninstallable(pin, environment)


def _conflict(pins: list[Pin], other: str, against: list[Pin]) -> Iterator[Fact]:
    """The conflict of a package with another, unless one of the alternatives is free of it."""
    version_conflict = None
    for pin, second in product(pins, against):
        allowed = _needs(pin, other)
        specifier = specifier_of(second.specifier, other)
        if allowed is None or specifier is None or any(meet(text, specifier, other) for text in allowed):
            return
        version_conflict = version_conflict or _fact(pin, second, allowed, specifier)
    if version_conflict is not None:
        yield version_conflict


def _fact(pin: Pin, second: Pin, allowed: list[str], specifier: SpecifierSet) -> VersionConflict:
    other = second.package
    fitting = [
        release
        for release, needs in releases_of(pin.package).items()
        if any(meet(text, specifier, other) for text in needs.get(other, ()))
    ]
    return VersionConflict(
        pin.package,
        pin.path,
        pin.span,
        pin.specifier,
        other=other,
        other_version=_shown(second),
        needs=" | ".join(dict.fromkeys(_plain(text, other) for text in allowed)),
        fits=", ".join(_newest(fitting)) or "-",
        other_place=second.place,
    )


def _plain(specifier: str, package: str) -> str:
    """A specifier as people write it: ``8.5.0``, ``>=8.2.RC1``; Python's releases are listed alone."""
    return specifier if package == "python" else specifier.removeprefix("==")


def _shown(pin: Pin) -> str:
    return pin.specifier.removeprefix("==") if pin.package in ("cann", "python") else pin.specifier


def _newest(releases: Iterable[str]) -> list[str]:
    return sorted(releases, key=Version)[-_SHOWN:]


def _needs(pin: Pin, other: str) -> list[str] | None:
    """What the allowed releases of a package need of another; None if some of them need nothing or are unknown."""
    specifier = specifier_of(pin.specifier, pin.package)
    if specifier is None or not pin.specifier:
        return None
    releases = releases_of(pin.package)
    chosen: list[Needs] = [
        needs for release, needs in releases.items() if specifier.contains(release, prereleases=True)
    ]
    if not chosen:
        chosen = [of_same_base(pin.package, exact(specifier))]
    if not all(other in needs for needs in chosen):
        return None
    return list(dict.fromkeys(text for needs in chosen for text in needs[other]))


def _uninstallable(pin: Pin, environment: Environment) -> Iterator[Fact]:
    """A development build that only Ascend's index has; a package without wheels for the machine."""
    if pin.package == "torch-npu" and ".dev" in pin.specifier and not pin.other_index:
        yield Uninstallable(pin.package, pin.path, pin.span, pin.specifier, why="development_build")
    specifier = specifier_of(pin.specifier, pin.package)
    instead = None if specifier is None else lacks_aarch64(pin.package, specifier)
    if instead is not None:
        aarch64 = flag(environment.aarch64)
        yield Uninstallable(pin.package, pin.path, pin.span, pin.specifier, "no_aarch64_wheel", instead or "-", aarch64)
