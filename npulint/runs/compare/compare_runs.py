"""Adds two training runs to a comparison, or compares them alone."""

from __future__ import annotations

import msgspec

from npulint.core.texts import say
from npulint.discover.paths import local, shown
from npulint.judge.findings import Comparison, RunResult, Summary
from npulint.judge.settings import Settings
from npulint.runs.compare.symptoms import compared_runs
from npulint.runs.read.recorded import recorded_values


def add_runs(result: RunResult, settings: Settings, runs: tuple[str, str]) -> RunResult:
    """The result with the runs at both paths (logs, tables, event files, or folders with them) beside each other. A
    result without a comparison becomes one of the runs alone."""
    names = shown(local(runs[0])), shown(local(runs[1]))
    sides = recorded_values(runs[0], names[0]), recorded_values(runs[1], names[1])
    comparison = result.comparison
    compared = compared_runs(names, sides, comparison.pairs if comparison is not None else (), settings.language())
    together = any(curve.count for curve in compared.curves)
    if comparison is None:
        read = len({recorded.path for side in sides for recorded in side}) if together else 0
        comparison, result = Comparison(*names), msgspec.structs.replace(result, summary=Summary(max(read, 2), read))
    elif not together:
        notice = say(settings.language(), "pair.nothing")
        result = msgspec.structs.replace(result, notices=[*result.notices, notice])
    return msgspec.structs.replace(result, comparison=msgspec.structs.replace(comparison, runs=compared))
