"""Summaries of training runs for reports: artifacts and figures."""

from __future__ import annotations

import math
import posixpath
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeVar

from npulint.facts.model import Fact
from npulint.judge.summaries.run_summary import (
    RunChange,
    RunCurve,
    RunFile,
    RunGraph,
    RunPart,
    RunStall,
    RunSummary,
    RunTimes,
)
from npulint.recognizers.programs import Program
from npulint.runs.facts.changes import OperatorChange, StepChange, trend_of
from npulint.runs.read.comparison import ComparisonTable
from npulint.runs.read.kernel_groups import OperatorKernels
from npulint.runs.read.kernels import KernelTable
from npulint.runs.read.numbers import finite
from npulint.runs.read.quantities import share
from npulint.runs.read.series.graphs import GraphRuns
from npulint.runs.read.series.loss import MeasureSeries
from npulint.runs.read.series.scale import LossScaleSeries
from npulint.runs.read.series.stalls import PeriodicStall
from npulint.runs.read.source_fact import RunSource
from npulint.runs.read.statistics import OperatorTotal
from npulint.runs.read.steps import IterationTimes, StepBreakdown

TYPES = 8
"""Operator types that are listed; the others are summed up."""

_KEPT = 64  # of each kind
_TEXT = 120
_LEVELS = {"times": "no-operators", "none": "no-kernels"}
_Kept = TypeVar("_Kept", RunTimes, RunCurve, RunStall, RunGraph)
_F = TypeVar("_F", bound=Fact)


def summarise_run(program: Program) -> RunSummary:
    """The summary of a run program."""
    times = [*_operators(program), *_steps(program), *_iterations(program)]
    curves, stalls, graphs = list(_curves(program)), list(_stalls(program)), list(_graphs(program))
    return RunSummary(
        files=_files(program),
        times=_first(times),
        curves=_first(curves),
        stalls=_first(stalls),
        graphs=_first(graphs),
        changes=(*_steps_changed(program), *_operators_changed(program))[:_KEPT],
        left_out=sum(max(len(summaries) - _KEPT, 0) for summaries in (times, curves, stalls, graphs)),
    )


def _of(program: Program, kind: str, cls: type[_F]) -> list[_F]:
    return [fact for fact in program.index.of_kind(kind) if isinstance(fact, cls)]


def _first(run_timeses: Iterable[_Kept]) -> tuple[_Kept, ...]:
    """The first ones by place, up to the limit."""
    return tuple(sorted(run_timeses, key=lambda run_times: (run_times.path, run_times.line))[:_KEPT])


def _files(program: Program) -> tuple[RunFile, ...]:
    tables = _of(program, "run_kernels", KernelTable)
    notes = {table.path: _LEVELS[table.level] for table in tables if table.level in _LEVELS}
    notes |= {
        comparison_table.path: "no-values"
        for comparison_table in _of(program, "run_comparison", ComparisonTable)
        if not comparison_table.outputs
    }
    files = {
        run_source.path: RunFile(
            path=run_source.path,
            form=run_source.form,
            generation=run_source.generation,
            rows=run_source.rows,
            malformed=run_source.malformed,
            first_malformed=run_source.first_malformed,
            missing=run_source.missing,
            note=run_source.note or notes.get(run_source.path, ""),
        )
        for run_source in _of(program, "run_source", RunSource)
    }
    return tuple(files[path] for path in sorted(files))


def _operators(program: Program) -> Iterator[RunTimes]:
    """Time by operator type, from kernel tables, or from totals tables where there is no kernel table next to them."""
    tables: dict[str, list[RunPart]] = {}
    for fact in _of(program, "run_op", OperatorKernels):
        if fact.leads:
            part = RunPart(fact.name[:_TEXT], fact.type_us, fact.type_share, fact.type_count)
            tables.setdefault(fact.table or fact.path, []).append(part)
    wholes = {table.path: table for table in _of(program, "run_kernels", KernelTable) if table.path in tables}
    for path, kernel_table in wholes.items():
        yield _table(path, kernel_table.span.line, kernel_table.compute_us, kernel_table.kernels, tables[path])
    folders = {posixpath.dirname(path) for path in wholes}
    totals: dict[str, list[OperatorTotal]] = {}
    for total in _of(program, "run_op_total", OperatorTotal):
        if posixpath.dirname(total.path) not in folders and total.share is not None:
            totals.setdefault(total.path, []).append(total)
    yield from (_of_totals(path, operator_totals) for path, operator_totals in totals.items())


def _of_totals(path: str, facts: Sequence[OperatorTotal]) -> RunTimes:
    """The times in the totals table at a path; one type may run on several core types."""
    parts: dict[str, RunPart] = {}
    for fact in facts:
        run_part = parts.get(fact.name, RunPart(fact.name[:_TEXT], 0.0, 0.0))
        share = round(run_part.share + (fact.share or 0.0), 1)
        parts[fact.name] = RunPart(run_part.name, run_part.us + fact.total_us, share, run_part.count + fact.count)
    compute, count = sum(part.us for part in parts.values()), sum(part.count for part in parts.values())
    return _table(path, min(operator_total.span.line for operator_total in facts), compute, count, parts.values())


def _table(path: str, line: int, compute: float, kernels: int, parts: Iterable[RunPart]) -> RunTimes:
    ordered = sorted(parts, key=lambda part: (-part.us, part.name))
    shown, more = tuple(ordered[:TYPES]), max(len(ordered) - TYPES, 0)
    rest = max(compute - sum(part.us for part in shown), 0.0) if more else 0.0
    share = round(100 * rest / compute, 1) if compute else 0.0
    return RunTimes(path, line, "operators", round(compute, 3), kernels, shown, more, round(rest, 3), share)


def _steps(program: Program) -> Iterator[RunTimes]:
    for fact in _of(program, "run_step", StepBreakdown):
        parts = (
            RunPart("computing", fact.computing_us, fact.computing_share),
            RunPart("exposed", fact.exposed_us, fact.exposed_share),
            RunPart("free", fact.free_us, fact.free_share),
        )
        if fact.step_us > 0:
            yield RunTimes(fact.path, fact.span.line, "step", fact.step_us, fact.steps, parts)


def _iterations(program: Program) -> Iterator[RunTimes]:
    for fact in _of(program, "run_iteration", IterationTimes):
        figures = (
            ("data", fact.data_us, fact.data_share),
            ("compute", fact.compute_us, fact.compute_share),
            ("refresh", fact.refresh_us, fact.refresh_share),
        )
        parts = tuple(RunPart(name, us, share or 0.0) for name, us, share in figures if us is not None)
        if fact.iteration_us > 0 and parts:
            yield RunTimes(fact.path, fact.span.line, "iteration", fact.iteration_us, fact.iterations, parts)


def _curves(program: Program) -> Iterator[RunCurve]:
    scales, measures = _of(program, "run_series", LossScaleSeries), _of(program, "run_series", MeasureSeries)
    tables = _of(program, "run_comparison", ComparisonTable)
    run_curves = (*map(_of_scale, scales), *map(_of_measure, measures), *map(_of_comparison, tables))
    return (run_curve for run_curve in run_curves if len(run_curve.points) > 1)


def _of_measure(measure_series: MeasureSeries) -> RunCurve:
    ends = measure_series.first, measure_series.last, measure_series.minimum, measure_series.maximum, measure_series.bad
    return RunCurve(
        measure_series.path,
        measure_series.span.line,
        measure_series.name,
        measure_series.label[:_TEXT],
        measure_series.points,
        _points(measure_series.curve),
        *ends,
    )


def _of_scale(loss_scale_series: LossScaleSeries) -> RunCurve:
    ends = loss_scale_series.first, loss_scale_series.last, loss_scale_series.minimum
    return RunCurve(
        loss_scale_series.path,
        loss_scale_series.span.line,
        loss_scale_series.name,
        loss_scale_series.scaler[:_TEXT],
        loss_scale_series.points,
        _points(loss_scale_series.curve),
        *ends,
    )


def _of_comparison(comparison_table: ComparisonTable) -> RunCurve:
    points = _points(comparison_table.curve)
    largest = max((point for point in points if point is not None), default=None)
    ends = (
        points[0] if points else None,
        points[-1] if points else None,
        finite(comparison_table.lowest),
        largest,
        comparison_table.below,
    )
    return RunCurve(
        comparison_table.path,
        comparison_table.span.line,
        "similarity",
        comparison_table.name[:_TEXT],
        comparison_table.outputs,
        points,
        *ends,
    )


def _points(curve: Iterable[float]) -> tuple[float | None, ...]:
    return tuple(number if math.isfinite(number) else None for number in curve)


def _stalls(program: Program) -> Iterator[RunStall]:
    for periodic_stall in _of(program, "run_stall", PeriodicStall):
        lost = periodic_stall.lost_share, periodic_stall.lost_seconds or 0.0
        label = periodic_stall.label[:_TEXT]
        yield RunStall(
            periodic_stall.path,
            periodic_stall.span.line,
            label,
            periodic_stall.period,
            periodic_stall.phase,
            periodic_stall.events,
            *lost,
            periodic_stall.worst,
        )


def _steps_changed(program: Program) -> Iterator[RunChange]:
    for step_change in _of(program, "run_step_change", StepChange):
        figures = (
            ("step", step_change.step_us, step_change.before_step_us),
            ("computing", step_change.computing_us, step_change.before_computing_us),
            ("exposed", step_change.exposed_us, step_change.before_exposed_us),
            ("free", step_change.free_us, step_change.before_free_us),
        )
        for name, us, before in figures:
            change = share(us - before, before) if before else None
            yield RunChange(
                step_change.path, step_change.span.line, "step", name, us, before, trend_of(us, before), change
            )


def _operators_changed(program: Program) -> Iterator[RunChange]:
    for operator_change in _of(program, "run_op_change", OperatorChange):
        change = None if operator_change.trend == "new" else operator_change.change
        yield RunChange(
            *(
                operator_change.path,
                operator_change.span.line,
                "operator",
                operator_change.name[:_TEXT],
                operator_change.us,
                operator_change.before_us,
                operator_change.trend,
                change,
                operator_change.per,
            ),
            *(operator_change.count, operator_change.before_count, operator_change.core, operator_change.before_core),
        )


def _graphs(program: Program) -> Iterator[RunGraph]:
    for graph_runs in _of(program, "run_stall", GraphRuns):
        times = graph_runs.first_ms, graph_runs.median_ms, graph_runs.max_ms
        yield RunGraph(graph_runs.path, graph_runs.span.line, graph_runs.graph[:_TEXT], graph_runs.runs, *times)
