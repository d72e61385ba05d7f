"""What is installed together: the packages of a requirements file, an image or an installation script."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from npulint.core.lazy_regex import lazy_compile
from npulint.facts.model import FileFacts, Span
from npulint.read.chip_names import NamedToolkit
from npulint.read.launcher_facts import BaseImage
from npulint.read.packages import Dependency, PythonVersion, RequirementsFile

_PYTHON_IMAGE = lazy_compile(r"(?:^|/)python:(\d\.\d+)|[-:]py(?:thon)?(\d\.\d+)(?![\d.])")
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

    @property
    def place(self) -> str:
        """Its path and line; empty for a declared release."""
        return f"{self.path}:{self.span.line}" if self.path else ""


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


def environments(files: Iterable[FileFacts], cann: str = "") -> Iterator[Environment]:
    """The environments for NPU servers that the files of a project describe; `cann` is the declared release of CANN."""
    own = {file.path: file for file in files if any(isinstance(fact, _KINDS) for fact in file.facts)}
    for file in own.values():
        pins = list(_with_included(file, own))
        groups = {pin.group for pin in pins} - {""}
        declared = [Pin("cann", f"=={cann}", "", Span())] if cann and all(pin.package != "cann" for pin in pins) else []
        for group in sorted(groups) or [""]:
            chosen = [pin for pin in pins if pin.group in ("", group)]
            environment = Environment([*chosen, *declared], _is_aarch64(file))
            if chosen and environment.for_npu:
                yield environment


def _with_included(file: FileFacts, own: dict[str, FileFacts]) -> Iterator[Pin]:
    """The pins of a file and of the requirements files that it installs."""
    seen, queue = {file.path}, [file]
    while queue:
        one = queue.pop()
        yield from _pins(one)
        for fact in one.facts:
            if isinstance(fact, RequirementsFile):
                found = _found(fact.name, one.path, own)
                if found is not None and found.path not in seen:
                    seen.add(found.path)
                    queue.append(found)


def _found(name: str, path: str, own: dict[str, FileFacts]) -> FileFacts | None:
    """The requirements file that another file names: relative to it, to the root, or the only one of its name, as the
    folders of an image are others."""
    for base in (posixpath.dirname(path), ""):
        file = own.get(posixpath.normpath(posixpath.join(base, name)))
        if file is not None:
            return file
    last = posixpath.basename(name)
    same = [one for other, one in own.items() if posixpath.basename(other) == last]
    return same[0] if len(same) == 1 else None


def _pins(file: FileFacts) -> Iterator[Pin]:
    for fact in file.facts:
        if isinstance(fact, Dependency):
            yield Pin(fact.name, fact.version, fact.path, fact.span, fact.group, fact.other_index)
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
