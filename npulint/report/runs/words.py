"""Figures of training runs in words, for all formats."""

from __future__ import annotations

import math
from collections.abc import Sequence

import msgspec

from npulint.core.texts import count, known, say
from npulint.judge.catalogue.forms import number, time
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

THRESHOLD = 0.98
"""The similarity below which outputs deviate."""

_LINES = frozenset(("log", "precision_console", "training_trace", "trace_summary", "comparison_advice"))
_DOCUMENTS = frozenset(
    """communication communication_matrix communication_group construct trace profiler_info profiler_metadata
    device_info sample_info""".split()
)
_ORDER = {"similarity": 0, "loss_scale": 1, "loss": 2, "accuracy": 3}
_UNUSED = frozenset(("unread", "older"))
_TINY, _HUGE = 1e-3, 1e7


def value(amount: float | None) -> str:
    """A number with three digits; ``-`` for None."""
    if amount is None:
        return "-"
    return number(amount) if amount == 0 or _TINY <= abs(amount) < _HUGE else f"{amount:.3g}"


def scale(factor: float | None) -> str:
    """A loss scale; large powers of two as such, also from values rounded to six digits."""
    if factor is None or factor < 1024:
        return value(factor)
    power = round(math.log2(factor))
    return f"2^{power}" if abs(factor / 2.0**power - 1) < 1e-5 else value(factor)


def similarity(cosine: float | None) -> str:
    """A cosine similarity; values below 1 are never rounded to 1."""
    return "-" if cosine is None else f"{cosine:.6f}".rstrip("0").rstrip(".") if cosine != 1 else "1"


def is_band(curve: RunCurve) -> bool:
    """Whether the points alternate between minimum and maximum of many values instead of being samples."""
    return curve.what in ("loss", "accuracy") and curve.count > 2 * len(curve.points) and None not in curve.points


def middle(points: Sequence[float | None]) -> list[float]:
    """The middle line of a band: means over five points, the outer ones weighted by half, since the points alternate
    with a period of four."""
    present = [point for point in points if point is not None]
    padded = [*present[:1], *present[:1], *present, *present[-1:], *present[-1:]]
    fives = (padded[index : index + 5] for index in range(len(present)))
    return [((five[0] + five[4]) / 2 + sum(five[1:4])) / 4 for five in fives]


def figure(curve: RunCurve, point: float | None) -> str:
    """A value of a curve."""
    return {"loss_scale": scale, "similarity": similarity}.get(curve.what, value)(point)


def percent(share: float, lang: str, signed: bool = False) -> str:
    """A share; `signed`: a change."""
    return say(lang, "runs.percent", share=f"{share:+.1f}" if signed else f"{share:.1f}")


def form(word: str, lang: str) -> str:
    """The name of an artifact form."""
    key = f"runs.form.{word}"
    return say(lang, key) if known(key) else word.replace("_", " ")


def size(file: RunFile, lang: str) -> str:
    """The size of an artifact in words; empty if it has no rows."""
    if not file.rows or file.form in _DOCUMENTS:
        return ""
    return count(lang, "runs.lines" if file.form in _LINES else "runs.rows", file.rows)


def remark(file: RunFile, lang: str) -> str:
    """Why an artifact was not evaluated, and what could not be read; empty if all is well."""
    parts = []
    if file.note:
        key = f"runs.note.{file.note}"
        plain = known(key)
        parts.append(say(lang, key if plain else "runs.note.other", missing=file.missing, note=file.note))
    if file.malformed:
        rows = file.rows + file.malformed
        parts.append(say(lang, "runs.broken", n=file.malformed, rows=rows, line=file.first_malformed))
    return say(lang, "list.clause").join(parts)


def file_notes(files: Sequence[RunFile], lang: str, most: int) -> list[tuple[str, str]]:
    """Labels and texts: artifacts read, not used, and up to `most` each that were not evaluated or are malformed."""
    used = [file for file in files if file.note not in _UNUSED]
    unused = [file for file in files if file.note in _UNUSED]
    unevaluated = [run_file for run_file in used if run_file.note]
    broken = [file for file in files if file.malformed and not file.note]
    lines = [(say(lang, "runs.read"), _by_form(used, lang))] if used else []
    if unused:
        lines.append((say(lang, "runs.unread"), _by_form(unused, lang, sized=False)))
    for key, run_files in (("runs.undetermined", unevaluated), ("runs.malformed", broken)):
        lines += [(say(lang, key), _about(run_file, lang)) for run_file in run_files[:most]]
        if len(run_files) > most:
            lines.append((say(lang, key), count(lang, "runs.more", len(run_files) - most)))
    return lines


def _about(file: RunFile, lang: str) -> str:
    return say(lang, "runs.about", path=file.path, text=remark(file, lang))


def _by_form(files: Sequence[RunFile], lang: str, sized: bool = True) -> str:
    groups: dict[str, list[RunFile]] = {}
    for file in files:
        groups.setdefault(file.form, []).append(file)
    parts = []
    for word, group in groups.items():
        what = form(word, lang)
        what = say(lang, "runs.times", what=what, n=len(group)) if len(group) > 1 else what
        rows = sum(run_file.rows for run_file in group)
        known_size = size(msgspec.structs.replace(group[0], rows=rows), lang) if sized else ""
        parts.append(what + (say(lang, "aside", text=known_size) if known_size else ""))
    return say(lang, "list.and").join(parts)


def whole(times: RunTimes, lang: str) -> str:
    """The total time in words."""
    if times.what != "operators" and times.count < 2:
        return say(lang, f"runs.single.{times.what}", time=time(times.us))
    return count(lang, f"runs.{times.what}.whole", times.count, time=time(times.us))


def part(times: RunTimes, run_part: RunPart, lang: str) -> str:
    """The name of a part; of an operator type as it is."""
    return run_part.name if times.what == "operators" else say(lang, f"runs.part.{run_part.name}")


def title(curve: RunCurve, lang: str) -> str:
    """The title of a curve; its own label if more specific."""
    named = say(lang, f"runs.curve.{curve.what}")
    plain = not curve.label or curve.what == "similarity" or curve.label == named
    label = say(lang, "runs.scaler", name=curve.label) if curve.what == "loss_scale" else curve.label
    return named if plain else f"{named}{say(lang, 'aside', text=label)}"


def course(curve: RunCurve, lang: str) -> str:
    """The course of a curve in a few words."""
    parts = []
    if curve.what == "similarity":
        parts.append(say(lang, "runs.lowest", value=figure(curve, curve.minimum)))
        parts.append(say(lang, "runs.below", n=curve.bad, of=curve.count))
        return say(lang, "list.and").join(parts)
    if curve.first is not None and curve.last is not None:
        parts.append(say(lang, "runs.course", first=figure(curve, curve.first), last=figure(curve, curve.last)))
    if curve.minimum is not None and curve.minimum < min(curve.first or 0.0, curve.last or 0.0):
        parts.append(say(lang, "runs.lowest", value=figure(curve, curve.minimum)))
    parts.append(count(lang, "runs.values", curve.count))
    if curve.bad:
        parts.append(count(lang, "runs.bad", curve.bad))
    return say(lang, "list.and").join(parts)


def stall(run_stall: RunStall, lang: str) -> str:
    """The cost of a periodic stall in words."""
    return count(
        lang, "runs.stall", run_stall.count, period=run_stall.period, share=percent(run_stall.lost_share, lang)
    )


def graph(run_graph: RunGraph, lang: str) -> str:
    """The execution times of a graph in words."""
    first = time(run_graph.first_ms * 1000)
    if run_graph.count < 2:
        return say(lang, "runs.graph.once", first=first)
    return count(lang, "runs.graph", run_graph.count, first=first, median=time(run_graph.median_ms * 1000))


def changed(run_change: RunChange, lang: str) -> str:
    """By how much a time changed: in percent, or that it is new or gone."""
    if run_change.trend in ("new", "gone"):
        return say(lang, f"runs.trend.{run_change.trend}")
    return percent(run_change.change, lang, signed=True) if run_change.change is not None else "-"


def change_name(run_change: RunChange, lang: str) -> str:
    """What a time is of: a part of the step, an operator type, or all operators."""
    if run_change.what == "step" and run_change.name == "step":
        return say(lang, "runs.step.one")
    if run_change.what == "step":
        return say(lang, f"runs.part.{run_change.name}")
    return say(lang, "runs.all-operators") if run_change.name == "computing" else run_change.name


def merged_runs(runs: Sequence[RunSummary]) -> RunSummary:
    """All runs as one summary, however many projects the artifacts belong to; curves in a fixed order."""
    return RunSummary(
        files=tuple(file for run in runs for file in run.files),
        times=tuple(run_times for run in runs for run_times in run.times),
        curves=tuple(
            sorted((curve for run in runs for curve in run.curves), key=lambda run_curve: _ORDER.get(run_curve.what, 9))
        ),
        stalls=tuple(run_stall for run in runs for run_stall in run.stalls),
        graphs=tuple(run_graph for run in runs for run_graph in run.graphs),
        changes=tuple(change for run in runs for change in run.changes),
        left_out=sum(run.left_out for run in runs),
    )
