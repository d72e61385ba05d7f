"""Which scripts of a project its launchers start, and with which options."""

from __future__ import annotations

import posixpath
import re
from collections import defaultdict
from collections.abc import Container, Mapping, Set
from typing import Literal

import msgspec

from npulint.core.lazy_regex import lazy_compile
from npulint.facts.code import Call, Const, Ref
from npulint.facts.model import FileFacts
from npulint.facts.values import NO, NOTHING, YES, PossibleValues
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
    """One start of the module at `entry`. `sure`: it is the only script at that path. `options` are the literal values
    by option name, None for computed values; `target` is the device that the launcher is for: npu, gpu (also a TPU),
    unknown, or other (unknown, while other launchers start the same script for the NPU)."""

    fact: LaunchFact
    entry: str
    sure: bool
    options: dict[str, str | None]
    target: Target


class Launches:
    """The starts of a project's modules by its launchers. `started_by` are the modules that a file starts, itself or by
    the launchers that it starts."""

    def __init__(self, project: Project) -> None:
        self._root = project.root if project.root != "." else ""
        self._in_project = project.in_project
        self._modules = project.modules
        self._by_base: dict[str, list[str]] = defaultdict(list)
        for path in project.modules:
            self._by_base[posixpath.basename(path)].append(path)
        self._resolved: dict[tuple[str, str, str], tuple[list[str], bool]] = {}
        self.by_entry: dict[str, list[Launch]] = defaultdict(list)
        self.started_by: dict[str, set[str]] = defaultdict(set)
        launchers = {file.path for file in project.files if file.code is None}
        inner: dict[str, set[str]] = defaultdict(set)
        for file in project.files:
            started = [f for f in file.facts if isinstance(f, LaunchFact) and not f.record.sourced]
            target = target_of(file) if started else "unknown"
            for fact in started:
                self._add(fact, target)
                inner[file.path].update(self._at_path(fact, launchers))
        self._add_inner(inner)
        for entry, launches in self.by_entry.items():
            if any(launch.target == "npu" for launch in launches):
                self.by_entry[entry] = [_beside_npu(launch) for launch in launches]

    def _add(self, fact: LaunchFact, target: Target) -> None:
        entries, is_there = self._entries(fact)
        texts = {
            name.lstrip("-").replace("-", "_"): None if text and "$" in text else text
            for name, text in fact.record.options.items()
        }
        for entry in entries:
            self.by_entry[entry].append(Launch(fact, entry, is_there and len(entries) == 1, texts, target))
        self.started_by[fact.path].update(entries)

    def _add_inner(self, inner: Mapping[str, Set[str]]) -> None:
        """Add what each launcher starts by others: ``bash run_one.sh``."""
        for path in inner:
            seen, queue = {path}, [path]
            while queue:
                more = inner.get(queue.pop(), frozenset()) - seen
                seen |= more
                queue += more
            for other in seen - {path}:
                self.started_by[path] |= self.started_by.get(other, set())

    def entries(self, fact: LaunchFact) -> list[str]:
        """The modules that a launch may start: the one at the path if its folder is known, else all at whose paths it
        may be, wherever the launcher is started or the project lies. What an absolute path leads to on another machine
        may be any of that name."""
        return self._entries(fact)[0]

    def _entries(self, fact: LaunchFact) -> tuple[list[str], bool]:
        """The modules that a launch may start, and whether one of them is at its path."""
        script = fact.record.script or fact.name
        if posixpath.basename(script) not in self._by_base:
            return [], False
        written = fact.record.path or script
        key = (posixpath.dirname(fact.path), fact.record.folder, written)
        if key not in self._resolved:
            self._resolved[key] = self._resolve(*key, script)
        return self._resolved[key]

    def _resolve(self, launcher: str, folder: str, written: str, script: str) -> tuple[list[str], bool]:
        at_path = self._at(launcher, folder, written, self._modules)
        if at_path:
            return at_path, True
        end, full_path = f"/{script.removeprefix('./')}", f"/{written}"
        same = self._by_base[posixpath.basename(script)]
        fitting = [
            path for path in same if f"/{path}".endswith(end) or full_path.endswith(f"/{self._in_project(path)}")
        ]
        return (fitting, True) if fitting or not posixpath.isabs(written) else (same, False)

    def _at_path(self, fact: LaunchFact, paths: Container[str]) -> list[str]:
        """The file of some paths that a launch names."""
        return self._at(posixpath.dirname(fact.path), fact.record.folder, fact.record.path or fact.name, paths)

    def _at(self, launcher: str, folder: str, written: str, paths: Container[str]) -> list[str]:
        """The file of some paths at a written path, as seen from the folder of the launcher, the one above and the root
        of the project; at most one."""
        for path in dict.fromkeys((_from_start(posixpath.join(folder, written)), _from_start(written))):
            for start in dict.fromkeys((launcher, posixpath.dirname(launcher), self._root)):
                full = posixpath.normpath(posixpath.join(start, path)) if path else ""
                if full in paths:
                    return [full]
        return []


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


# The values that launchers pass for an option, as the started script parses them.

_TRUE = frozenset(("true", "t", "1", "yes", "y"))
_FALSE = frozenset(("false", "f", "0", "no", "n"))
_KINDS = {
    "DEFINE_integer": "int",
    "DEFINE_float": "float",
    "DEFINE_boolean": "flag",
    "DEFINE_bool": "flag",
    "DEFINE_string": "text",
    "DEFINE_enum": "text",
}
_TYPES = {"int": "int", "float": "float", "str": "text", "bool": "nonempty"}
_ACTIONS = {"store_true": "true", "store_false": "false", "store": ""}


class LaunchArguments:
    """The starts of a project's scripts by the modules that these scripts import."""

    def __init__(self, project: Project) -> None:
        self.launches = Launches(project)
        self._project = project
        self._reaching: dict[str, frozenset[str]] = {}

    def reaching(self, path: str) -> frozenset[str]:
        """The started scripts that are the module or import it, directly or indirectly."""
        if not self.launches.by_entry:
            return frozenset()
        scripts = self._reaching.get(path)
        if scripts is None:
            seen = {path}
            queue = [path]
            while queue:
                for user in self._project.users.get(queue.pop(), ()):
                    if user not in seen:
                        seen.add(user)
                        queue.append(user)
            scripts = self._reaching[path] = frozenset(seen & self.launches.by_entry.keys())
        return scripts

    def starts(self, defined: str, used: str) -> list[Launch]:
        """The starts in which code of the module `used` may read an option that the module `defined` defines: those of
        scripts that import both. If some launchers are for the NPU, those for other devices are omitted."""
        first, second = self.reaching(defined), self.reaching(used)
        entries = (first & second) or first or second
        starts = [launch for entry in sorted(entries) for launch in self.launches.by_entry[entry]]
        if any(launch.target == "npu" for launch in starts):
            return [launch for launch in starts if launch.target != "gpu"]
        return starts


def option_kind(written: str, call: Call) -> str:
    """How the parser converts an option's text: int, float, text, flag (words for true and false), nonempty (true for
    every text except the empty one), true or false (options without a value), words (a function of the project converts
    it), parameter (no option, but often set from one), or unknown. An option without a type is text."""
    if written.startswith("DEFINE_"):
        return _KINDS.get(written, "unknown")
    if written != "add_argument":
        return "parameter"
    keywords = dict(call.keywords)
    action, kind = keywords.get("action"), keywords.get("type")
    if action is not None and isinstance(action, Const) and action.value in _ACTIONS:
        taken = _ACTIONS[str(action.value)]
        if taken:
            return taken
    elif action is not None or "nargs" in keywords:
        return "unknown"
    if kind is None:
        return "text"
    return _TYPES.get(kind.name, "words") if isinstance(kind, Ref) else "unknown"


def converted(text: str | None, kind: str) -> PossibleValues:
    """The value of an option of `kind` when a launcher passes `text` (None: computed)."""
    if text is None or kind == "unknown":
        return NOTHING
    if kind in ("true", "false"):
        return YES if kind == "true" else NO
    if kind == "nonempty":
        return YES if text else NO
    lowered = text.lower()
    if kind == "flag":
        return YES if lowered in _TRUE else NO if lowered in _FALSE else NOTHING
    if kind in ("int", "float"):
        return _number(text, kind)
    if kind in ("words", "parameter") and lowered in ("true", "false"):
        return YES if lowered == "true" else NO
    return PossibleValues((text,), True)


def _number(text: str, kind: str) -> PossibleValues:
    try:
        return PossibleValues((int(text) if kind == "int" else float(text),), True)
    except ValueError:
        return NOTHING
