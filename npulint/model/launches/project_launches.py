"""Which scripts of a project its launchers start, and with which options."""

from __future__ import annotations

import posixpath
import re
from collections import defaultdict
from typing import Literal

import msgspec

from npulint.core.lazy_regex import lazy_compile
from npulint.facts.model import FileFacts
from npulint.model.code.project import Project
from npulint.read.launcher_facts import LaunchFact

_NPU_VARIABLE = lazy_compile(
    r"(?:ASCEND|HCCL|CM|NPU)_|(?:RANK_TABLE_FILE|RANK_ID|RANK_SIZE|JOB_ID|DEVICE_ID|DEVICE_INDEX)$"
)
_GPU_VARIABLE = lazy_compile(r"CUDA_(?!DEVICE_MAX_CONNECTIONS)|(?:NCCL|NVIDIA|XLA|TF_XLA|TF_GPU)_|TPU_")
_NPU_PATH = lazy_compile(r"npu|ascend|davinci|910", re.IGNORECASE)
_DEVICES_PATH = lazy_compile(r"(?:^|_)\d+p(?:_\w+)?\.sh$")
_OTHER_PATH = lazy_compile(
    r"(?<![a-z])(?:gpus?|cuda|tpus?|nvidia|dgx[-\da-z]*|v100|a100|slurm|horovod)(?![a-z])|\dgpu", re.IGNORECASE
)
_GPU_LAUNCHERS = frozenset(("horovodrun", "srun", "bytepslaunch"))
Target = Literal["npu", "gpu", "unknown", "other"]
_GPU_COMMANDS = frozenset(("nvidia-smi", "nvidia-docker", "nvprof", "nsys", "horovodrun"))


class Launch(msgspec.Struct, frozen=True, eq=False):
    """One start of the module at `entry`. `sure`: it is the only script of that name. `options` are the literal values
    by option name, None for computed values; `target` is the device that the launcher is for: npu, gpu (also a TPU),
    unknown, or other (unknown, while other launchers start the same script for the NPU)."""

    fact: LaunchFact
    entry: str
    sure: bool
    options: dict[str, str | None]
    target: Target


class Launches:
    """The starts of a project's modules by its launchers."""

    def __init__(self, project: Project) -> None:
        self._root = project.root if project.root != "." else ""
        self._modules = project.modules
        self._by_base: dict[str, list[str]] = defaultdict(list)
        for path in project.modules:
            self._by_base[posixpath.basename(path)].append(path)
        self._found: dict[tuple[str, str, str], list[str]] = {}
        self.by_entry: dict[str, list[Launch]] = defaultdict(list)
        for file in project.files:
            started = [f for f in file.facts if isinstance(f, LaunchFact) and not f.record.sourced]
            target = target_of(file) if started else "unknown"
            for fact in started:
                self._add(fact, target)
        for entry, launches in self.by_entry.items():
            if any(launch.target == "npu" for launch in launches):
                self.by_entry[entry] = [_beside_npu(launch) for launch in launches]

    def _add(self, fact: LaunchFact, target: Target) -> None:
        entries = self.entries(fact)
        texts = {
            name.lstrip("-").replace("-", "_"): None if text and "$" in text else text
            for name, text in fact.record.options.items()
        }
        for entry in entries:
            self.by_entry[entry].append(Launch(fact, entry, len(entries) == 1, texts, target))

    def entries(self, fact: LaunchFact) -> list[str]:
        """The modules that a launch may start: the one at the path if its folder is known, else all with the script's
        name."""
        script = fact.record.script or fact.name
        if posixpath.basename(script) not in self._by_base:
            return []
        written = fact.record.path or script
        key = (posixpath.dirname(fact.path), fact.record.folder, written)
        if key not in self._found:
            self._found[key] = self._resolve(*key, script)
        return self._found[key]

    def _resolve(self, launcher: str, folder: str, written: str, script: str) -> list[str]:
        for path in dict.fromkeys((_from_start(posixpath.join(folder, written)), _from_start(written))):
            for start in dict.fromkeys((launcher, posixpath.dirname(launcher), self._root)):
                found = posixpath.normpath(posixpath.join(start, path)) if path else ""
                if found in self._modules:
                    return [found]
        same = self._by_base[posixpath.basename(script)]
        tail = f"/{script.removeprefix('./')}"
        return [path for path in same if f"/{path}".endswith(tail)] or same


def _beside_npu(launch: Launch) -> Launch:
    return msgspec.structs.replace(launch, target="other") if launch.target == "unknown" else launch


def target_of(file: FileFacts) -> Target:
    """The device that a launcher is for, according to what it sets and starts, else to its path."""
    if _NPU_PATH.search(posixpath.basename(file.path)):
        return "npu"
    other = False
    for fact in file.facts:
        if fact.kind == "environment":
            if _NPU_VARIABLE.match(fact.name):
                return "npu"
            other = other or bool(_GPU_VARIABLE.match(fact.name))
        elif isinstance(fact, LaunchFact):
            other = other or fact.launcher in _GPU_LAUNCHERS
        elif fact.kind == "command":
            other = other or fact.name in _GPU_COMMANDS
    if other or _OTHER_PATH.search(file.path):
        return "gpu"
    return "npu" if _DEVICES_PATH.search(file.path) else "unknown"


def _from_start(path: str) -> str:
    """A path relative to the launcher's working directory, which a computed prefix usually is; empty if more than the
    prefix is computed."""
    head, star, rest = path.rpartition("*")
    if not star:
        return path.lstrip("/")
    return rest.lstrip("/") if rest.startswith("/") and "/" not in head else ""
