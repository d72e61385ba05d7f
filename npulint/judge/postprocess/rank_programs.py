"""The order of programs in reports: what the project is about first, its tests and tools last."""

from __future__ import annotations

import posixpath
from collections import Counter
from collections.abc import Sequence

from npulint.core.lazy_regex import lazy_compile
from npulint.judge.findings import ProgramSummary

_APART = frozenset(("test", "documentation", "ci", "benchmark"))
_STARTED = ("console_script", "launcher", "")
_MAIN = frozenset(("train", "main", "__main__", "pretrain", "finetune", "run"))
_TRAINS = lazy_compile(
    r"(?:^|_)(?:pre|re|post)?(?:train|tune)(?:ing|er)?(?=_|\d|$)|(?:^|_)fine_?tun(?:e|ing)(?=_|\d|$)"
)
_SIDE = lazy_compile(
    r"(?:^|/)(?:tools?|utils?|contrib|extensions?|third_?party|community|research(?:_projects)?|deprecated|legacy)/"
)


def ranked(programs: Sequence[ProgramSummary]) -> list[ProgramSummary]:
    """The programs as a maintainer would list them: those that train before others, tests, benchmarks and tools that
    no launcher starts last; then scripts before trainings that are only configured, those that installed commands
    start, those whose name says that they are the main script, those with most launchers and variants
    (``train_net_lora.py`` of ``train_net.py``), those in few folders, with the shortest name, with most files."""
    variants = Counter(prefix for program in programs for prefix in _prefixes(_stem(program)))
    return sorted(programs, key=lambda program: _rank(program, variants[_stem(program)]))


def _stem(program: ProgramSummary) -> str:
    return posixpath.basename(program.entry).rpartition(".")[0].lower()


def _prefixes(stem: str) -> list[str]:
    """The stem and its beginnings: ``train``, ``train_net`` and ``train_net_lora`` of the last."""
    parts = stem.split("_")
    return ["_".join(parts[: end + 1]) for end in range(len(parts))]


def _rank(program: ProgramSummary, variants: int) -> tuple[object, ...]:
    stem = _stem(program)
    apart = 2 if program.file_role in _APART else 1 if program.file_role else 0
    return (
        apart == 2,
        "train" not in program.roles,
        apart,
        _SIDE.search(program.entry) is not None and not program.launches,
        program.configured_by != "",
        program.started_by != _STARTED[0],
        stem not in _MAIN,
        -program.launches - variants,
        program.entry.count("/"),
        _TRAINS.search(stem) is None,
        len(stem),
        -program.files,
        program.entry,
    )
