"""What a run says about the findings of the source check, and what the two disagree about."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence

import msgspec

from npulint.core.texts import say
from npulint.discover.paths import local
from npulint.judge.catalogue.check import GRAPH, Catalogue
from npulint.judge.findings import Finding, RunResult
from npulint.judge.postprocess.merge_graph_findings import of_graph
from npulint.judge.summaries.step_summary import StepDifference, StepFinding, StepSummary

_MOST = 200  # findings of the source check
_KINDS = {"host_sync": "wait", "unsupported_op": "operator", "dynamic_shape": "shape"}
"""What a run shows about a topic; about others, whether the line fails."""
_BY_TYPE = frozenset(("NPU2341", "NPU2143"))
"""Checks about element types, of which the fake NPU computes all."""

Place = tuple[str, int]


class Run(msgspec.Struct, frozen=True):
    """What a run showed: its summary, the lines that it reached by real path (None: not followed), the line that
    stopped it, and its findings."""

    step: StepSummary
    lines: Mapping[str, frozenset[int]]
    stopped: str
    findings: Sequence[Finding]


def joined_step(
    run: Run, static: RunResult, merged: Iterable[Finding], catalogue: Catalogue, explained: bool, lang: str
) -> StepSummary:
    """The summary of a run with what it says about the findings of the source check. `merged` are the findings of both
    as they are reported, equal ones as one. With `explained`, also what the two disagree about."""
    decided = frozenset(code for check in catalogue.checks if check.family == GRAPH for code in check.joins) - _BY_TYPE
    confirmed = {(finding.path, finding.span.line, finding.code) for finding in merged if not of_graph(finding)}
    rows = []
    for finding in static.findings:
        status = _status(finding, run, confirmed, decided)
        if status and (status != "missed" or finding.severity == "error"):
            rows.append((finding, status))
    listed = [
        StepFinding(finding.code, finding.name, finding.severity, finding.path, finding.span.line, status)
        for finding, status in rows
    ]
    step = msgspec.structs.replace(run.step, static=tuple(dict.fromkeys(listed))[:_MOST])
    if not explained:
        return step
    against = [_contradicted(finding, lang) for finding, status in rows if status == "contradicted"]
    alone = [_live_only(finding, run, static, lang) for finding in merged if of_graph(finding)]
    return msgspec.structs.replace(step, differences=tuple(dict.fromkeys((*against, *alone))), explained=True)


def _status(finding: Finding, run: Run, confirmed: set[tuple[str, int, str]], decided: frozenset[str]) -> str:
    """What the run says about a finding of the source check; empty if its file did not run."""
    real = os.path.realpath(local(finding.path))
    reached = run.lines.get(real)
    if reached is None:
        return ""
    span = range(finding.span.line, max(finding.span.line, finding.span.end_line) + 1)
    if (finding.path, finding.span.line, finding.code) in confirmed:
        return "confirmed"
    if reached.isdisjoint(span):
        return "missed"
    stopped, _, line = run.stopped.rpartition(":")
    if finding.code not in decided or (stopped and os.path.realpath(stopped) == real and int(line) in span):
        return "open"
    places = {(finding.path, number) for number in span}
    shows = _SHOWN.get(_KINDS.get(finding.topic, ""))
    if shows is None:
        return "contradicted" if finding.severity == "error" else "open"
    if not any((row.path, row.line) in places for row in run.step.operators):
        return "open"
    return "confirmed" if shows(run.step, places) else "contradicted"


def _waits(step: StepSummary, places: set[Place]) -> bool:
    return any((wait.path, wait.line) in places for wait in step.waits)


def _leaves(step: StepSummary, places: set[Place]) -> bool:
    return any((operator.path, operator.line) in places and not operator.fine for operator in step.operators)


def _varies(step: StepSummary, places: set[Place]) -> bool:
    return _waits(step, places) or any((shape.path, shape.line) in places for shape in step.shapes)


_SHOWN: dict[str, Callable[[StepSummary, set[Place]], bool]] = {"wait": _waits, "operator": _leaves, "shape": _varies}
"""Whether a step does what the findings of a kind say, at some lines."""


def _contradicted(finding: Finding, lang: str) -> StepDifference:
    said = say(lang, "step.static.contradicted", message=finding.message)
    run = say(lang, f"step.run.{_KINDS.get(finding.topic, 'error')}")
    return StepDifference("contradicted", finding.code, finding.name, finding.path, finding.span.line, said, run)


def _live_only(finding: Finding, run: Run, static: RunResult, lang: str) -> StepDifference:
    said = say(lang, "step.run.live_only", message=finding.message)
    return StepDifference(
        "live_only",
        finding.code,
        finding.name,
        finding.path,
        finding.span.line,
        _unseen(finding, run, static, lang),
        said,
    )


def _unseen(finding: Finding, run: Run, static: RunResult, lang: str) -> str:
    """Why the source check does not report what a run does."""
    place = (finding.path, finding.span.line)
    rows = [
        row
        for row in run.step.operators
        if (row.path, row.line) == place and f"{row.name}.".startswith(f"{finding.subject}.")
    ]
    waits = [row for row in run.step.waits if (row.path, row.line) == place and row.name == finding.subject]
    inside = [row.inside for row in rows] + [row.inside for row in waits]
    if inside and all(inside):
        return say(lang, "step.static.library")
    if rows and all(row.phase == "backward" for row in rows):
        return say(lang, "step.static.gradient")
    if any((other.finding.path, other.finding.span.line) == place for other in static.suppressed):
        return say(lang, "step.static.suppressed")
    there = dict.fromkeys(f"`{other.name}`" for other in static.findings if (other.path, other.span.line) == place)
    if there:
        return say(lang, "step.static.other", names=say(lang, "list.and").join(there))
    return say(lang, "step.static.values")
