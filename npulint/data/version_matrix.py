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
    from packaging.version import Version

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

_PATCHED = "1.5.0"  # torch_npu was built from a patched PyTorch, without a package of its own
_ADAPTERS = {"torch": ("torch-npu",), "tensorflow": ("npu-bridge", "npu-device")}
_GROWING = ("torch",)  # later releases get an adapter as well; TF Adapter has stayed at TensorFlow 1.15 and 2.6
_LATER = 20  # minor releases that are not known so far
_PATCHES = 10  # of a minor release, at most
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


def has_adapter(framework: str, version: str) -> bool | None:
    """Whether some release of a framework (torch, tensorflow) that a specifier of pip or conda allows has an adapter
    for the NPU; None if that is unknown, also where it allows later releases than those that are known.

    >>> [has_adapter("torch", text) for text in ("==1.6", "=1.9.1", "==1.7.1+cu110", "<1.5", "==2.1.2", "~=2.1.1")]
    [False, False, False, False, False, False]
    >>> [has_adapter("torch", text) for text in ("==2.1.0", "==2.7.1+cpu", "=2.3", ">=1.7", "==1.5.0")]
    [True, True, True, True, True]
    >>> [has_adapter("torch", text) for text in ("==3.1", ">=2.99", "", "latest")]
    [None, None, None, None]
    >>> [has_adapter("tensorflow", text) for text in ("==1.15.5", ">=2.0", "==2.6.5", ">=2.10", "==1.13.1")]
    [True, True, True, False, False]
    """
    allowed = _allowed(version)
    if allowed is None:
        return None
    if any(_allows(allowed, release) for release in adapted(framework)):
        return True
    return None if framework in _GROWING and _allows_later(allowed, adapted(framework)[-1]) else False


def nearest_adapted(framework: str, version: str) -> tuple[str, ...]:
    """The releases of a framework with an adapter that are just below and above those that a specifier allows; without
    the patched PyTorch, which nobody can install any more.

    >>> nearest_adapted("torch", "==2.1.2"), nearest_adapted("torch", "~=2.3.2"), nearest_adapted("torch", "<1.5")
    (('2.1.0', '2.2.0'), ('2.3.1', '2.4.0'), ('1.8.1',))
    >>> nearest_adapted("tensorflow", ">=2.10"), nearest_adapted("tensorflow", "==1.14")
    (('2.6',), ('1.15',))
    """
    from packaging.version import Version

    bounds = [Version(clause.version.removesuffix(".*")) for clause in _allowed(version) or ()]
    if not bounds:
        return ()
    installable = [release for release in adapted(framework) if release != _PATCHED]
    return neighbours(installable, min(bounds), max(bounds))


def neighbours(releases: Sequence[str], first: Version, last: Version) -> tuple[str, ...]:
    """Of sorted releases the last one up to `first` and the first one from `last` on, where there are some: just
    outside of a range in which none of them is."""
    from packaging.version import Version

    below = [release for release in releases if Version(release) <= first][-1:]
    above = [release for release in releases if Version(release) >= last][:1]
    return tuple(dict.fromkeys((*below, *above)))


@cache
def adapted(framework: str) -> tuple[str, ...]:
    """The releases of a framework that an adapter exists for, oldest first: ``2.1.0``, or ``2.6`` for all patches."""
    from packaging.version import Version

    needed = {
        text.removeprefix("==").removesuffix(".*")
        for package in _ADAPTERS[framework]
        for needs in releases_of(package).values()
        for text in needs[framework]
    }
    return tuple(sorted(needed | ({_PATCHED} if framework == "torch" else set()), key=Version))


def _allowed(version: str) -> SpecifierSet | None:
    """What a specifier of pip or conda allows; None if it says nothing or is not understood."""
    from packaging.specifiers import InvalidSpecifier, SpecifierSet

    try:
        return SpecifierSet(_CONDA.sub(r"==\1.*", _BUILD.sub("", version))) if version else None
    except InvalidSpecifier:
        return None


def _allows(allowed: SpecifierSet, release: str) -> bool:
    """Whether a specifier allows a release, or some patch of a minor release."""
    if release.count(".") > 1:
        return allowed.contains(release)
    return any(allowed.contains(f"{release}.{patch}") for patch in range(_PATCHES))


def _allows_later(allowed: SpecifierSet, newest: str) -> bool:
    """Whether a specifier allows releases later than the newest known one."""
    major, minor = (int(part) for part in newest.split(".")[:2])
    later = [f"{major}.{minor + step}" for step in range(1, _LATER)] + [f"{major + 1}.{step}" for step in range(_LATER)]
    return allowed.contains("99") or any(_allows(allowed, release) for release in later)
