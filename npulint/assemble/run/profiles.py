"""What files of one profile say of each other: its level, which of two tables speaks, and what was never exported."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from npulint.facts.model import Fact, GenericFact, Span
from npulint.lazy_regex import lazy_compile

_RAW = lazy_compile(r"PROF_\d{6}_\d{17}_\w+")
_TORCH = lazy_compile(r".+_ascend_(?:pt|ms)")
_PLAIN = lazy_compile(r"\w[\w.+-]*")  # what may stand in a command that people copy
_NOTES = frozenset(("device_info", "sample_info", "profiler_info", "profiler_metadata", "log", "rank_table", "events"))
_HOST = frozenset(("run_host", "run_wait"))
_TABLE_LEVELS = {"times": "level0", "none": "levelnone"}


def with_levels(facts: Iterable[Fact]) -> list[Fact]:
    """The facts; each `run_step` has the `level` of the profile that it is a part of: of the file about the profile in
    its folder or the one above, else what the kernel table beside it shows, else unknown."""
    facts = list(facts)
    levels: dict[str, str] = {}
    for fact in facts:
        if fact.kind == "run_kernels":
            told = _TABLE_LEVELS.get(str(fact.attrs["level"]))
            if told:
                levels.setdefault(folder_of(fact.path), told)
    for fact in facts:
        if fact.kind == "run_profile":
            levels[folder_of(fact.path)] = str(fact.attrs.get("level", "unknown"))
    return [fact if fact.kind != "run_step" else _with_level(fact, levels) for fact in facts]


def _with_level(fact: Fact, levels: dict[str, str]) -> Fact:
    folder = folder_of(fact.path)
    level = levels.get(folder) or levels.get(folder_of(folder), "unknown")
    return msgspec.structs.replace(fact, attrs={**fact.attrs, "level": level})


def steps_once(facts: Iterable[Fact]) -> list[Fact]:
    """The facts, without what a trace says of steps that a table beside it tells better."""
    facts = list(facts)
    tabled = {folder_of(one.path) for one in facts if one.kind == "run_step" and not _traced(one)}
    return [one for one in facts if one.kind != "run_step" or not _traced(one) or folder_of(one.path) not in tabled]


def told_once(facts: Iterable[Fact]) -> list[Fact]:
    """The facts, of `run_host` and of all `run_wait` only those of one file for what a trace and a table beside it both
    tell: those of the trace, which knows more lines, unless it was not read to its end."""
    facts = list(facts)
    cut = {fact.path for fact in facts if fact.kind == "run_trace" and fact.attrs["cut"] == "yes"}
    host = [fact for fact in facts if fact.kind in _HOST]
    traced = {_told(fact) for fact in host if _traced(fact) and fact.path not in cut}
    tabled = {_told(fact) for fact in host if not _traced(fact)} - traced
    return [
        fact for fact in facts if fact.kind not in _HOST or _told(fact) not in (tabled if _traced(fact) else traced)
    ]


def _told(fact: Fact) -> tuple[str, str]:
    """What two files of one profile may both tell: the kind of a call, or of all lines where the host waits."""
    return folder_of(fact.path), fact.name if fact.kind == "run_host" else ""


def _traced(fact: Fact) -> bool:
    return bool(fact.attrs.get("from") == "trace_view")


def raw_profiles(facts: Iterable[Fact]) -> list[Fact]:
    """A `run_raw` for each folder of a profile that nothing was exported from, at the first file that was seen there.
    Where but one file of a folder was seen, nobody knows what else it has."""
    forms = {fact.path.replace("\\", "/"): (fact.path, fact.name) for fact in facts if fact.kind == "run_source"}
    seen: dict[tuple[str, str], list[str]] = {}
    for path in forms:
        key = _profile_of(path)
        if key is not None:
            seen.setdefault(key, []).append(path)
    found: list[Fact] = []
    for (tool, folder), paths in sorted(seen.items()):
        raw = [path for path in paths if tool == "msprof" or _RAW.fullmatch(path[len(folder) :].split("/")[1])]
        told = [path for path in paths if forms[path][1] in _NOTES]
        if len(paths) < 2 or not raw or len(told) < len(paths) or (tool != "msprof" and len(raw) == len(paths)):
            continue
        name = folder.rpartition("/")[2]
        attrs: dict[str, object] = {"folder": name if _PLAIN.fullmatch(name) else "FOLDER"}
        found.append(GenericFact("run_raw", tool, forms[min(paths)][0], Span.at(1), attrs))
    return found


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
