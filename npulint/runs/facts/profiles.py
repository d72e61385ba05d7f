"""What files of one profile say of each other: its level, which of two tables speaks, and what was never exported."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from npulint.core.lazy_regex import lazy_compile
from npulint.facts.kinds import fact_kind
from npulint.facts.model import Fact, FileFact, Span
from npulint.runs.read.environment import ProfileOptions
from npulint.runs.read.host_lines import HostWait
from npulint.runs.read.interfaces import HostActivity
from npulint.runs.read.kernels import KernelTable
from npulint.runs.read.source_fact import RunSource
from npulint.runs.read.steps import StepBreakdown
from npulint.runs.read.trace import TraceRead

_RAW = lazy_compile(r"PROF_[\w-]+|JOB[A-Z]{12,64}")
_TORCH = lazy_compile(r".+_ascend_(?:pt|ms)")
_PLAIN = lazy_compile(r"\w[\w.+-]*")  # what may stand in a command that people copy
_NOTES = frozenset(("device_info", "sample_info", "profiler_info", "profiler_metadata", "log", "rank_table", "events"))
_HOST = (HostActivity, HostWait)
_TABLE_LEVELS = {"times": "level0", "none": "levelnone"}


@fact_kind("run_raw")
class RawProfile(FileFact):
    """A profile that no table was exported from; the name is its tool: msprof or torch_npu."""

    folder: str
    """Its name, or FOLDER if that is not a plain word."""


def with_levels(facts: Iterable[Fact]) -> list[Fact]:
    """The facts; each `run_step` has the `level` of the profile that it is a part of: of the file about the profile in
    its folder or the one above, else what the kernel table beside it shows, else unknown."""
    facts = list(facts)
    levels: dict[str, str] = {}
    for fact in facts:
        if isinstance(fact, KernelTable) and fact.level in _TABLE_LEVELS:
            levels.setdefault(folder_of(fact.path), _TABLE_LEVELS[fact.level])
    for fact in facts:
        if isinstance(fact, ProfileOptions):
            levels[folder_of(fact.path)] = fact.level or "unknown"
    return [_with_level(fact, levels) if isinstance(fact, StepBreakdown) else fact for fact in facts]


def _with_level(fact: StepBreakdown, levels: dict[str, str]) -> StepBreakdown:
    folder = folder_of(fact.path)
    level = levels.get(folder) or levels.get(folder_of(folder), "unknown")
    return msgspec.structs.replace(fact, level=level)


def steps_once(facts: Iterable[Fact]) -> list[Fact]:
    """The facts, without what a trace says of steps that a table beside it tells better."""
    facts = list(facts)
    steps = [fact for fact in facts if isinstance(fact, StepBreakdown)]
    tabled = {folder_of(step.path) for step in steps if not step.traced}
    dropped = {id(step) for step in steps if step.traced and folder_of(step.path) in tabled}
    return [fact for fact in facts if id(fact) not in dropped]


def told_once(facts: Iterable[Fact]) -> list[Fact]:
    """The facts, of `run_host` and of all `run_wait` only those of one file for what a trace and a table beside it both
    tell: those of the trace, which knows more lines, unless it was not read to its end."""
    facts = list(facts)
    cut = {fact.path for fact in facts if isinstance(fact, TraceRead) and fact.cut}
    host = [fact for fact in facts if isinstance(fact, _HOST)]
    traced = {_told(fact) for fact in host if fact.traced and fact.path not in cut}
    tabled = {_told(fact) for fact in host if not fact.traced} - traced
    dropped = {id(fact) for fact in host if _told(fact) in (tabled if fact.traced else traced)}
    return [fact for fact in facts if id(fact) not in dropped]


def _told(fact: HostActivity | HostWait) -> tuple[str, str]:
    """What two files of one profile may both tell: the kind of a call, or of all lines where the host waits."""
    return folder_of(fact.path), fact.name if isinstance(fact, HostActivity) else ""


def raw_profiles(facts: Iterable[Fact]) -> list[Fact]:
    """A `run_raw` for each folder of a profile that nothing was exported from, at the first file that was seen there.
    Where but one file of a folder was seen, nobody knows what else it has."""
    forms = {fact.path.replace("\\", "/"): (fact.path, fact.name) for fact in facts if isinstance(fact, RunSource)}
    seen: dict[tuple[str, str], list[str]] = {}
    for path in forms:
        key = _profile_of(path)
        if key is not None:
            seen.setdefault(key, []).append(path)
    profiles: list[Fact] = []
    for (tool, folder), paths in sorted(seen.items()):
        raw = [path for path in paths if tool == "msprof" or _RAW.fullmatch(path[len(folder) :].split("/")[1])]
        told = [path for path in paths if forms[path][1] in _NOTES]
        if len(paths) < 2 or not raw or len(told) < len(paths) or (tool != "msprof" and len(raw) == len(paths)):
            continue
        name = folder.rpartition("/")[2]
        profiles.append(RawProfile(tool, forms[min(paths)][0], Span(), name if _PLAIN.fullmatch(name) else "FOLDER"))
    return profiles


def _profile_of(path: str) -> tuple[str, str] | None:
    """The tool and the outermost folder of the profile that a file belongs to."""
    parts = path.split("/")[:-1]
    for tool, pattern in (("torch_npu", _TORCH), ("msprof", _RAW)):
        for place, part in enumerate(parts):
            if pattern.fullmatch(part):
                return tool, "/".join(parts[: place + 1])
    return None


def folder_of(path: str) -> str:
    """The folder that a file or folder lies in."""
    return path.replace("\\", "/").rpartition("/")[0]


def together(facts: Sequence[Fact]) -> list[Fact]:
    """All of this, in order."""
    return [*told_once(with_levels(facts)), *raw_profiles(facts)]
