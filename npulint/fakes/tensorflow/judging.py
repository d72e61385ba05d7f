"""Judges what a TensorFlow program built and ran: one result of all its graphs, and of where it stopped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from npulint.core.texts import say
from npulint.facts.graph import Body, Graph
from npulint.fakes.tensorflow.records import Report, Run
from npulint.fakes.tensorflow.stops import stops_graph
from npulint.fakes.tensorflow.trial import TensorFlowOutcome
from npulint.judge.findings import Finding, RunResult
from npulint.judge.settings import Settings
from npulint.judge.summaries.step_summary import StepOperator, StepSummary
from npulint.live.judge import judged
from npulint.live.result import LiveResult


def judged_outcome(
    outcome: TensorFlowOutcome, name: str, settings: Settings, static: Sequence[Finding], places: dict[str, str]
) -> LiveResult:
    """The result of all graphs of a trial: findings at source lines and operators. `static` are the findings of the
    source check, `places` the files of their paths."""
    graphs = _relevant(outcome)
    stops = stops_graph(outcome.report, outcome.report.version, static, places)
    lang = settings.language()
    parts = [
        judged(graph, name=name, lang=lang, root="", steps=outcome.report.steps, settings=settings)
        for graph in (*graphs, *([stops] if stops is not None else ()))
    ]
    if not parts:
        empty = Graph("live_tensorflow", [Body("", [])], outcome.report.version)
        parts = [judged(empty, name=name, lang=lang, root="", settings=settings)]
    return _united(parts, name, outcome, lang)


def _relevant(outcome: TensorFlowOutcome) -> list[Graph]:
    """The graphs to judge: those of what trained; if nothing did, all that the user's code ran."""
    runs = [run for run in outcome.report.runs if run.graph in outcome.graphs]
    trained = {run.graph for run in runs if run.trains}
    chosen = trained or {run.graph for run in runs if run.place is not None}
    return [outcome.graphs[name] for name in sorted(chosen)]


def _united(parts: Sequence[LiveResult], name: str, outcome: TensorFlowOutcome, lang: str) -> LiveResult:
    """One result of several graphs of one program."""

    def answer(wanted: str) -> RunResult:
        reports = [part.report for part in parts]
        found: dict[tuple[object, ...], Finding] = {}
        for report in reports:
            for finding in report.findings:
                found.setdefault((finding.code, finding.path, finding.span.line, finding.subject), finding)
        ordered = sorted(found.values(), key=lambda one: (one.path, one.span, one.code))
        graphs = [graph for report in reports for graph in report.graphs if graph.nodes]
        step = _step([report.step for report in reports if report.step is not None], outcome, wanted)
        return msgspec.structs.replace(reports[0], findings=ordered, graphs=graphs, step=step)

    return LiveResult(name=name, graph=parts[0].graph, lang=lang, answer=answer, lines=parts[0].lines)


def _step(parts: Sequence[StepSummary], outcome: TensorFlowOutcome, lang: str) -> StepSummary:
    """The summary of all graphs of one program: equal operators of several graphs are one."""
    rows: dict[tuple[str, ...], StepOperator] = {}
    for row in (row for part in parts for row in part.operators):
        key = (row.name, row.verdict, row.path, str(row.line))
        step_operator = rows.get(key)
        rows[key] = (
            row
            if step_operator is None
            else msgspec.structs.replace(step_operator, count=step_operator.count + row.count)
        )
    notes = dict.fromkeys((*_notes(outcome.report, lang), *(note for part in parts for note in part.notes)))
    steps = max(1, outcome.report.steps)
    return msgspec.structs.replace(parts[0], operators=tuple(rows.values()), steps=steps, notes=tuple(notes))


def _notes(report: Report, lang: str) -> list[str]:
    """What the run did not show."""
    return [say(lang, "try.tf.missed", text=text) for text in dict.fromkeys(report.missed)]


def run_rows(report: Report, own: Mapping[str, str]) -> list[tuple[Run, str]]:
    """The runs to list with their places, most frequent first: those that train, then what the user's code ran more
    than once. `own` are the names to show for files."""
    rows = [run for run in report.runs if run.trains or (run.place is not None and run.count > 1)]
    rows.sort(key=lambda run: (not run.trains, -run.count))
    return [(run, _shown(run.place, own)) for run in rows]


def _shown(place: tuple[str, int] | None, own: Mapping[str, str]) -> str:
    return "" if place is None else f"{own.get(place[0], place[0])}:{place[1]}"
