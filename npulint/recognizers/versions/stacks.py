"""Releases that fit together: for each torch_npu the torch, CANN, Python and other packages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import msgspec
from packaging.specifiers import SpecifierSet
from packaging.version import Version

from npulint.data.version_matrix import RECOMMENDED, Needs, known_releases, neighbours, of_same_base, releases_of
from npulint.recognizers.versions.specifiers import meet, specifier_of

BASE = "torch-npu"
COLUMNS = (BASE, "torch", "torchvision", "torchaudio", "cann", "python", "vllm-ascend", "triton-ascend")
"""The packages of a stack; cann is the recommended release."""


class Stack(msgspec.Struct, frozen=True):
    """Per package of `COLUMNS` the releases that fit together, oldest first; empty where none is known."""

    releases: dict[str, list[str]]


class Unmatched(msgspec.Struct, frozen=True):
    """A required release of a package with which no recorded torch_npu fits; `nearest` are the recorded releases just
    below and above it, without pre-releases where there are others."""

    package: str
    version: str
    nearest: tuple[str, ...]


def unmatched(wanted: Mapping[str, str]) -> list[Unmatched]:
    """The packages of `wanted` whose specifier names one version that is in no stack at all."""
    unmatcheds = []
    for package, text in wanted.items():
        clauses = list(specifier_of(text, package) or ())
        if len(clauses) != 1 or next(stacks({package: text}), None) is not None:
            continue
        version = Version(clauses[0].version.removesuffix(".*"))
        fitting = {candidate for release, needs in _adapters() for candidate in _fitting(package, release, needs)}
        candidates = sorted(fitting, key=Version)
        final = [candidate for candidate in candidates if not Version(candidate).is_prerelease] or candidates
        written = str(clauses[0]).removeprefix("==").removesuffix(".*")
        unmatcheds.append(Unmatched(package, written, neighbours(final, version, version)))
    return unmatcheds


def stacks(wanted: Mapping[str, str]) -> Iterator[Stack]:
    """The stacks in which every package of `wanted` has a release that its specifier allows, the newest first."""
    specifiers = {package: specifier_of(text, package) for package, text in wanted.items()}
    for release, needs in _adapters():
        if all(_allowed(release, needs, package, specifier) for package, specifier in specifiers.items()):
            yield Stack({package: _fitting(package, release, needs) for package in COLUMNS})


def _adapters() -> Iterator[tuple[str, Needs]]:
    """The releases of torch_npu with what they need, the newest first."""
    for release in reversed(known_releases(BASE)):
        needs = releases_of(BASE).get(release) or of_same_base(BASE, release)
        if needs and not Version(release).is_devrelease:
            yield release, needs


def _fitting(package: str, release: str, needs: Needs) -> list[str]:
    """The releases of a package that fit a release of torch_npu, oldest first."""
    if package == BASE:
        return [release]
    if package == "python":
        return needs.get(package, [])
    if package in ("torch", "cann"):
        specifiers = needs.get(RECOMMENDED + package) or needs.get(package, [])
        return [text.removeprefix("==") for text in specifiers]
    against = {BASE: SpecifierSet(f"=={release}"), "torch": SpecifierSet(needs["torch"][0])}
    cann = needs.get(f"{RECOMMENDED}cann")
    if cann:
        against["cann"] = SpecifierSet(f"=={cann[0]}")
    return sorted(
        (candidate for candidate, others in releases_of(package).items() if _fits(others, against)), key=Version
    )


def _fits(needs: Needs, against: Mapping[str, SpecifierSet]) -> bool:
    """Whether each of the others has a release that fulfils what a package needs of it."""
    asked = {name: needs[name] for name in against if name in needs}
    return bool(asked) and all(any(meet(text, against[name], name) for text in texts) for name, texts in asked.items())


def _allowed(release: str, needs: Needs, package: str, specifier: SpecifierSet | None) -> bool:
    """Whether a package has a release that a specifier allows and that fits a release of torch_npu."""
    if specifier is None:
        return False
    if package == "cann" and package in needs:
        return any(meet(text, specifier, package) for text in needs[package])
    return any(specifier.contains(candidate, prereleases=True) for candidate in _fitting(package, release, needs))
