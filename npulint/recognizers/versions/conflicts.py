"""Packages that are installed together although their releases do not belong together."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from typing import Literal

import msgspec
from packaging.specifiers import SpecifierSet
from packaging.version import Version

from npulint.core.lazy_regex import lazy_compile
from npulint.data.version_matrix import Needs, exact, lacks_aarch64, of_same_base, packages_with_needs, releases_of
from npulint.facts.attributes import Flag, flag
from npulint.facts.kinds import fact_kind
from npulint.facts.model import Fact, FileFact, FileFacts, Span
from npulint.read.chip_names import NamedToolkit
from npulint.read.launcher_facts import BaseImage
from npulint.read.packages import Dependency, PythonVersion, RequirementsFile
from npulint.recognizers.versions.specifiers import meet, specifier_of

# What is installed together: the packages of a requirements file, an image or an installation script.

_PYTHON_IMAGE = lazy_compile(r"(?:^|/)python:(\d\.\d+)|[-:]py(?:thon)?(\d\.\d+)(?![\d.])")
_PARTIAL = lazy_compile(r"\d+(?:\.\d+)?")
_AARCH64 = lazy_compile(r"aarch64|arm64")
_KINDS = (Dependency, PythonVersion, RequirementsFile, NamedToolkit, BaseImage)
_FOR_NPU = frozenset(("torch-npu", "vllm-ascend", "triton-ascend", "mindspeed", "cann"))


class Pin(msgspec.Struct, frozen=True):
    """A package with the specifier of what is installed, at its place. Besides packages there are python and cann."""

    package: str
    specifier: str
    path: str
    span: Span
    group: str = ""
    other_index: bool = True
    step: int = 0
    """The number of the command that installs it: those of one command are installed in no certain order."""

    @property
    def place(self) -> str:
        """Its path and line; for a release that the target declares, the option that does."""
        return f"{self.path}:{self.span.line}" if self.path else f"--target {self.package}"


class Environment(msgspec.Struct, frozen=True):
    """What is installed together. `aarch64`: certainly on machines with Arm processors."""

    pins: Sequence[Pin]
    aarch64: bool = False

    def of(self, package: str) -> list[Pin]:
        """The pins of a package; several are alternatives."""
        return [pin for pin in self.pins if pin.package == package]

    @property
    def for_npu(self) -> bool:
        """Whether something in it is for NPU servers alone."""
        return any(pin.package in _FOR_NPU for pin in self.pins)


def environments(files: Iterable[FileFacts], cann: str = "", torch: str = "") -> Iterator[Environment]:
    """The environments for NPU servers that the files of a project describe; `cann` and `torch` are the declared
    releases."""
    own = {file.path: file for file in files if any(isinstance(fact, _KINDS) for fact in file.facts)}
    for file in own.values():
        pins = list(_with_included(file, own))
        groups = {pin.group for pin in pins} - {""}
        shown = {pin.package for pin in pins}
        declared = [
            Pin(package, _declared(release), "", Span())
            for package, release in (("cann", cann), ("torch", torch))
            if release and package not in shown
        ]
        for group in sorted(groups) or [""]:
            chosen = [pin for pin in pins if pin.group in ("", group)]
            environment = Environment([*chosen, *declared], _is_aarch64(file))
            if chosen and environment.for_npu:
                yield environment


def _declared(release: str) -> str:
    """The specifier of a declared release, which may be the beginning of one."""
    return f"=={release}.*" if _PARTIAL.fullmatch(release) else f"=={release}"


def _with_included(file: FileFacts, own: dict[str, FileFacts]) -> Iterator[Pin]:
    """The pins of a file and of the requirements files that it installs."""
    seen, queue = {file.path}, [(file, 0)]
    while queue:
        requirements, step = queue.pop()
        for pin in _pins(requirements):
            yield msgspec.structs.replace(pin, step=step or pin.step)
        for fact in requirements.facts:
            if isinstance(fact, RequirementsFile):
                included = _found(fact.name, requirements.path, own)
                if included is not None and included.path not in seen:
                    seen.add(included.path)
                    queue.append((included, step or fact.step))


def _found(name: str, path: str, own: dict[str, FileFacts]) -> FileFacts | None:
    """The requirements file that another file names: relative to it, to the root, or the only one of its name, as the
    folders of an image are others."""
    for base in (posixpath.dirname(path), ""):
        file = own.get(posixpath.normpath(posixpath.join(base, name)))
        if file is not None:
            return file
    last = posixpath.basename(name)
    same = [namesake for other, namesake in own.items() if posixpath.basename(other) == last]
    return same[0] if len(same) == 1 else None


def _pins(file: FileFacts) -> Iterator[Pin]:
    for fact in file.facts:
        if isinstance(fact, Dependency):
            yield Pin(fact.name, fact.version, fact.path, fact.span, fact.group, fact.other_index, fact.step)
        elif isinstance(fact, PythonVersion):
            yield Pin("python", fact.version, fact.path, fact.span)
        elif isinstance(fact, NamedToolkit):
            yield Pin("cann", f"=={fact.version}", fact.path, fact.span)
        elif isinstance(fact, BaseImage):
            match = _PYTHON_IMAGE.search(fact.name)
            if match:
                yield Pin("python", f"=={match.group(1) or match.group(2)}", fact.path, fact.span)


def _is_aarch64(file: FileFacts) -> bool:
    """Whether an image is for machines with Arm processors."""
    return any(isinstance(fact, BaseImage) and _AARCH64.search(f"{fact.name} {fact.platform}") for fact in file.facts)


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
    """Where the other one is written, as path:line; `--target` and its key for a declared release."""


@fact_kind("installed_together")
class InstalledTogether(FileFact):
    """Two packages are installed that overwrite each other's files; the name is the one for the NPU."""

    other: str
    """The other package."""
    other_place: str
    """Where the other one is written, as path:line; `--target` and its key for a declared release."""


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
    yield from _through_adapter(environment)
    for package, other in _TOGETHER:
        yield from _overwritten(environment.of(package), other, environment.of(other))
    for pin in environment.pins:
        yield from _uninstallable(pin, environment)


def _overwritten(pins: list[Pin], other: str, others: list[Pin]) -> Iterator[Fact]:
    """A package and another that overwrites it, unless a later command installs the package again."""
    if pins and others and max(pin.step for pin in pins) <= (last := max(pin.step for pin in others)):
        second = next(pin for pin in others if pin.step == last)
        yield InstalledTogether(pins[0].package, pins[0].path, pins[0].span, other, second.place)


def _through_adapter(environment: Environment) -> Iterator[VersionConflict]:
    """The conflict of PyTorch with CANN where no torch_npu is pinned: every torch_npu for it needs another CANN."""
    pins, against = environment.of("torch"), environment.of("cann")
    pinned = any(pin.specifier for pin in environment.of("torch-npu"))
    if pinned or len(pins) != 1 or len(against) != 1 or not pins[0].path:
        return
    pin, cann = pins[0], against[0]
    specifier, installed = specifier_of(pin.specifier, "torch"), specifier_of(cann.specifier, "cann")
    if specifier is None or installed is None or not pin.specifier:
        return
    fitting, allowed = list[str](), list[str]()
    for needs in releases_of("torch-npu").values():
        torch, of_cann = needs["torch"][0].removeprefix("=="), needs.get("cann", [])
        if specifier.contains(torch):
            allowed += of_cann  # where it is not recorded, it is at least that of the builds before
        if any(meet(text, installed, "cann") for text in of_cann):
            fitting.append(torch)
    if not allowed or any(meet(text, installed, "cann") for text in allowed):
        return
    yield VersionConflict(
        "torch",
        pin.path,
        pin.span,
        pin.specifier,
        other="cann",
        other_version=_shown(cann),
        needs=" | ".join(dict.fromkeys(_plain(text, "cann") for text in allowed[:1])),
        fits=", ".join(_newest(set(fitting))) or "-",
        other_place=cann.place,
    )


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
    written = pin.specifier if pin.path else pin.specifier.removesuffix(".*")
    return written.removeprefix("==") if pin.package in ("cann", "python") else written


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
