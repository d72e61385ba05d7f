"""Summaries of training runs for reports: artifacts and figures."""

from __future__ import annotations

import math
import posixpath
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from npulint.assemble.programs import Program
from npulint.facts.model import Fact
from npulint.run_summary import RunCurve, RunFile, RunGraph, RunPart, RunStall, RunSummary, RunTimes

TYPES = 8
"""Operator types that are listed; the others are summed up."""

_KEPT = 64  # of each kind
_TEXT = 120
_PARTS = {
    "run_step": ("step", "step_us", "steps", ("computing", "exposed", "free")),
    "run_iteration": ("iteration", "iteration_us", "iterations", ("data", "compute", "refresh")),
}
"""Per fact kind: `what`, the attributes of the total and the count, and the parts."""

_LEVELS = {"times": "no-operators", "none": "no-kernels"}
_Kept = TypeVar("_Kept", RunTimes, RunCurve, RunStall, RunGraph)


def summarise_run(program: Program) -> RunSummary:
    """The summary of a run program."""
    facts = program.index.of_kind
    tables = _operators(facts)
    times = [*tables, *(one for kind in _PARTS for one in _steps(facts(kind), kind))]
    stalls = (_stall(one) for one in facts("run_stall") if one.name == "periodic")
    graphs = (_graph(one) for one in facts("run_stall") if one.name == "graph_runs")
    sorts = list(times), list(_curves(facts)), list(stalls), list(graphs)
    return RunSummary(
        files=_files(facts),
        times=_first(sorts[0]),
        curves=_first(sorts[1]),
        stalls=_first(sorts[2]),
        graphs=_first(sorts[3]),
        left_out=sum(max(len(one) - _KEPT, 0) for one in sorts),
    )


def _first(found: Iterable[_Kept]) -> tuple[_Kept, ...]:
    """The first ones by place, up to the limit."""
    return tuple(sorted(found, key=lambda one: (one.path, one.line))[:_KEPT])


_Facts = Callable[[str], Sequence[Fact]]


def _files(facts: _Facts) -> tuple[RunFile, ...]:
    notes = {one.path: _LEVELS[one.attrs["level"]] for one in facts("run_kernels") if one.attrs["level"] in _LEVELS}
    notes |= {one.path: "no-values" for one in facts("run_comparison") if not _whole(one, "outputs")}
    found = {one.path: _file(one, notes.get(one.path, "")) for one in facts("run_source")}
    return tuple(found[path] for path in sorted(found))


def _file(fact: Fact, note: str) -> RunFile:
    generation = fact.get("generation")
    return RunFile(
        path=fact.path,
        form=fact.get_text("form") or fact.name,
        generation=generation if isinstance(generation, int | str) else 0,
        rows=_whole(fact, "rows"),
        malformed=_whole(fact, "malformed"),
        first_malformed=_whole(fact, "first_malformed"),
        missing=fact.get_text("missing"),
        note=fact.get_text("note") or note,
    )


def _operators(facts: _Facts) -> list[RunTimes]:
    """Time by operator type, from kernel tables, or from totals tables where there is no kernel table next to them."""
    tables: dict[str, list[RunPart]] = {}
    for fact in facts("run_op"):
        if fact.get("leads") == "yes":
            part = RunPart(
                _name(fact), _figure(fact, "type_us"), _figure(fact, "type_share"), _whole(fact, "type_count")
            )
            tables.setdefault(fact.get_text("table") or fact.path, []).append(part)
    wholes = {one.path: one for one in facts("run_kernels") if one.path in tables}
    found = []
    for path, whole in wholes.items():
        compute, kernels = _figure(whole, "compute_us"), _whole(whole, "kernels")
        found.append(_table(path, whole.span.line, compute, kernels, tables[path]))
    folders = {posixpath.dirname(path) for path in wholes}
    totals: dict[str, list[Fact]] = {}
    for fact in facts("run_op_total"):
        if posixpath.dirname(fact.path) not in folders and "share" in fact.attrs:
            totals.setdefault(fact.path, []).append(fact)
    return found + [_of_totals(path, known) for path, known in totals.items()]


def _of_totals(path: str, facts: Sequence[Fact]) -> RunTimes:
    """The times in the totals table at a path; one type may run on several core types."""
    parts: dict[str, RunPart] = {}
    for fact in facts:
        known = parts.get(fact.name, RunPart(_name(fact), 0.0, 0.0))
        us, count = known.us + _figure(fact, "total_us"), known.count + _whole(fact, "count")
        parts[fact.name] = RunPart(known.name, us, round(known.share + _figure(fact, "share"), 1), count)
    compute = sum(part.us for part in parts.values())
    return _table(
        path, min(one.span.line for one in facts), compute, sum(p.count for p in parts.values()), [*parts.values()]
    )


def _table(path: str, line: int, compute: float, kernels: int, parts: Iterable[RunPart]) -> RunTimes:
    ordered = sorted(parts, key=lambda part: (-part.us, part.name))
    shown, more = tuple(ordered[:TYPES]), max(len(ordered) - TYPES, 0)
    rest = max(compute - sum(part.us for part in shown), 0.0) if more else 0.0
    share = round(100 * rest / compute, 1) if compute else 0.0
    return RunTimes(path, line, "operators", round(compute, 3), kernels, shown, more, round(rest, 3), share)


def _steps(facts: Iterable[Fact], kind: str) -> Iterable[RunTimes]:
    what, whole, count, names = _PARTS[kind]
    for fact in facts:
        us = _figure(fact, whole)
        parts = tuple(RunPart(one, _figure(fact, f"{one}_us"), _figure(fact, f"{one}_share")) for one in names)
        known = tuple(part for part in parts if f"{part.name}_us" in fact.attrs)
        if us > 0 and known:
            yield RunTimes(fact.path, fact.span.line, what, us, _whole(fact, count), known)


def _curves(facts: _Facts) -> Iterable[RunCurve]:
    for fact in (*facts("run_series"), *facts("run_comparison")):
        points = _points(fact.get("curve"))
        if len(points) > 1:
            yield _similarity(fact, points) if fact.kind == "run_comparison" else _series(fact, points)


def _series(fact: Fact, points: tuple[float | None, ...]) -> RunCurve:
    return RunCurve(
        path=fact.path,
        line=fact.span.line,
        what=fact.name,
        label=(fact.get_text("label") or fact.get_text("scaler"))[:_TEXT],
        count=_whole(fact, "points"),
        points=points,
        first=_number(fact, "first"),
        last=_number(fact, "last"),
        minimum=_number(fact, "minimum"),
        maximum=_number(fact, "maximum"),
        bad=_whole(fact, "bad"),
    )


def _similarity(fact: Fact, points: tuple[float | None, ...]) -> RunCurve:
    return RunCurve(
        path=fact.path,
        line=fact.span.line,
        what="similarity",
        label=_name(fact),
        count=_whole(fact, "outputs"),
        points=points,
        first=points[0],
        last=points[-1],
        minimum=_number(fact, "lowest"),
        maximum=max((one for one in points if one is not None), default=None),
        bad=_whole(fact, "below"),
    )


def _points(curve: object) -> tuple[float | None, ...]:
    values = curve if isinstance(curve, Sequence) and not isinstance(curve, str) else ()
    numbers = (one for one in values if isinstance(one, int | float))
    return tuple(float(one) if math.isfinite(one) else None for one in numbers)


def _stall(fact: Fact) -> RunStall:
    return RunStall(
        path=fact.path,
        line=fact.span.line,
        label=fact.get_text("label")[:_TEXT],
        period=_whole(fact, "period"),
        phase=_whole(fact, "phase"),
        count=_whole(fact, "events"),
        lost_share=_figure(fact, "lost_share"),
        lost_seconds=_figure(fact, "lost_seconds"),
        worst=_figure(fact, "worst"),
    )


def _graph(fact: Fact) -> RunGraph:
    first, middle, longest = (_figure(fact, key) for key in ("first_ms", "median_ms", "max_ms"))
    name = fact.get_text("graph")[:_TEXT]
    return RunGraph(fact.path, fact.span.line, name, _whole(fact, "runs"), first, middle, longest)


def _name(fact: Fact) -> str:
    return fact.name[:_TEXT]


def _number(fact: Fact, key: str) -> float | None:
    value = fact.get(key)
    return float(value) if isinstance(value, int | float) and math.isfinite(value) else None


def _figure(fact: Fact, key: str) -> float:
    return _number(fact, key) or 0.0


def _whole(fact: Fact, key: str) -> int:
    return int(_figure(fact, key))
