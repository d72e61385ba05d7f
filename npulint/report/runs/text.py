"""The text report of training runs: artifacts, time breakdown, curves."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TypeVar

from npulint.core.texts import count, say
from npulint.judge.catalogue.forms import time
from npulint.judge.summaries.run_summary import RunChange, RunCurve, RunGraph, RunStall, RunSummary, RunTimes
from npulint.report.runs import words
from npulint.report.terminal import Paint, cells, cut, escape_control_chars, leading, wrap
from npulint.report.view import ReportView

# Bars and curves from block characters in terminal cells; ASCII if `plain`.

_EIGHTHS = " ▏▎▍▌▋▊▉"
_LEVELS = "▁▂▃▄▅▆▇█"
_PLAIN_LEVELS = "_.-~=+*#"
_FILLS, _PLAIN_FILLS = "█▒·░", "#+.:"


def bar(share: float, width: int, plain: bool) -> str:
    """A bar of `share` (0 to 1) in `width` cells, padded with blanks."""
    share = min(max(share, 0.0), 1.0)
    if plain:
        return ("#" * round(share * width)).ljust(width)
    full, rest = divmod(round(share * width * 8), 8)
    text = "█" * full + (_EIGHTHS[rest] if rest else "")
    return (text or ("▏" if share else "")).ljust(width)


def fill(index: int, plain: bool) -> str:
    """The fill character of the part with this index."""
    return (_PLAIN_FILLS if plain else _FILLS)[index % 4]


def stacked(shares: Sequence[float], width: int, plain: bool) -> str:
    """A stacked bar of shares (0 to 1 each); every part that is not 0 gets at least one cell."""
    total = max(sum(shares), 1.0)
    widths = [max(round(share / total * width), 1) if share > 0 else 0 for share in shares]
    while sum(widths) > width and max(widths) > 1:
        widths[widths.index(max(widths))] -= 1
    return "".join(fill(index, plain) * number for index, number in enumerate(widths))


def spark(values: Sequence[float | None], width: int, plain: bool) -> str:
    """A sparkline of at most `width` cells: per interval the value farthest from the overall middle; gaps are
    blanks."""
    present = [value for value in values if value is not None]
    if not present or width < 1:
        return ""
    middle = (min(present) + max(present)) / 2
    row: list[float | None] = []
    for stretch in _stretches(values, min(width, len(values))):
        there = [value for value in stretch if value is not None]
        row.append(max(there, key=lambda value: abs(value - middle), default=None))
    return _drawn(row, _PLAIN_LEVELS if plain else _LEVELS)


def _drawn(values: Sequence[float | None], levels: str) -> str:
    present = [value for value in values if value is not None]
    low, span = min(present), max(present) - min(present)
    line = ""
    for value in values:
        step = int((value - low) / span * len(levels)) if value is not None and span else len(levels) // 2
        line += " " if value is None else levels[min(step, len(levels) - 1)]
    return line


def powers(values: Sequence[float | None]) -> list[float | None]:
    """The base-2 logarithms of the points of a curve."""
    return [None if value is None or value <= 0 else math.log2(value) for value in values]


def padded(text: str, width: int) -> str:
    """`text` in exactly `width` cells, padded or cut with an ellipsis."""
    if cells(text) > width:
        text = cut(text, max(width - 2, 1)) + ".."
    return text + " " * max(width - cells(text), 0)


def _stretches(values: Sequence[float | None], number: int) -> Iterator[Sequence[float | None]]:
    for index in range(number):
        yield values[index * len(values) // number : (index + 1) * len(values) // number]


_WIDTH = 100  # cells if the terminal width is unknown
_NARROW, _WIDEST = 40, 120
_NAME = 24
_BAR = 24
_SPARK, _LEAST = 60, 16  # cells of a curve; with fewer it gets its own line
_TYPES = 5
_SHOWN = 2  # tables of steps, stalls, files with a remark
_CURVES = ("loss_scale", "loss", "similarity")
_CHANGED = 8  # operators
_Listed = TypeVar("_Listed", RunStall, RunGraph, RunTimes, RunCurve, RunChange)
_PLAIN = str.maketrans({"→": ">", "×": "x", "µ": "u", "…": "."})


def block(runs: Sequence[RunSummary], view: ReportView) -> list[str]:
    """The lines of all runs; empty if none."""
    content = list(_Writer(view).lines(words.merged_runs(runs)))
    return [Paint(view.color)("bold", say(view.lang, "runs.title")), *content] if content else []


class _Writer:
    def __init__(self, view: ReportView) -> None:
        self._lang, self._plain = view.lang, view.plain
        self._paint = Paint(view.color)
        self._width = min(max(view.width or _WIDTH, _NARROW), _WIDEST)
        self._rest = 0

    def lines(self, run: RunSummary) -> Iterator[str]:
        """The lines of one run."""
        self._rest = run.left_out
        for label, text in words.file_notes(run.files, self._lang, _SHOWN):
            yield from self._labelled(label, text)
        yield from self._operators([run_times for run_times in run.times if run_times.what == "operators"])
        for what in ("step", "iteration"):
            yield from self._parts([run_times for run_times in run.times if run_times.what == what])
        yield from self._changes(run.changes)
        for what in _CURVES:
            yield from self._curve([curve for curve in run.curves if curve.what == what])
        for stall in self._first(run.stalls, _SHOWN):
            label = say(self._lang, "aside", text=stall.label or say(self._lang, "runs.stamps"))
            yield from self._labelled(say(self._lang, "runs.short.stall"), words.stall(stall, self._lang) + label)
        for graph in self._first(sorted(run.graphs, key=lambda run_graph: -run_graph.first_ms), 1):
            label = say(self._lang, "runs.short.graph", name=graph.graph)
            yield from self._labelled(label, words.graph(graph, self._lang))
        if self._rest:
            yield self._line(f"  {count(self._lang, 'runs.rest', self._rest)}")

    def _first(self, run_stalls: Sequence[_Listed], shown: int) -> Sequence[_Listed]:
        """The first ones; the others are counted."""
        self._rest += max(len(run_stalls) - shown, 0)
        return run_stalls[:shown]

    def _operators(self, tables: Sequence[RunTimes]) -> Iterator[str]:
        """The table with the most time and its most expensive types."""
        for times in self._first(sorted(tables, key=lambda run_times: -run_times.us), 1):
            yield from self._headed(times)
            shown = [(escape_control_chars(part.name), part.us, part.share) for part in times.parts[:_TYPES]]
            name = min(max((cells(text) for text, _, _ in shown), default=0), _NAME)
            room = max(min(_BAR, self._width - name - 26), 4)
            most = max((share for _, _, share in shown), default=0.0) or 1.0
            for text, us, share in shown:
                drawn = self._paint("blue", bar(share / most, room, self._plain))
                yield self._line(f"    {padded(text, name)}  {drawn}  {self._figures(share, us)}")
            rest = self._others(times, shown)
            if rest:
                yield self._line(f"    {padded(rest[0], name + room + 2)}  {self._figures(rest[2], rest[1])}")

    def _figures(self, share: float, us: float) -> str:
        return f"{words.percent(share, self._lang):>6}  {time(us):>7}"

    def _others(self, times: RunTimes, shown: Sequence[tuple[str, float, float]]) -> tuple[str, float, float] | None:
        """The omitted types together: label, µs and share; None if there are none."""
        others = times.more + len(times.parts) - len(shown)
        us, share = sum(part[1] for part in shown), sum(part[2] for part in shown)
        name = count(self._lang, "runs.others", others)
        return (name, max(times.us - us, 0.0), max(100 - share, 0.0)) if others else None

    def _parts(self, tables: Sequence[RunTimes]) -> Iterator[str]:
        for times in self._first(sorted(tables, key=lambda run_times: -run_times.us), _SHOWN):
            yield from self._headed(times)
            yield f"    {stacked([part.share / 100 for part in times.parts], min(60, self._width - 6), self._plain)}"
            named = [
                f"{fill(index, self._plain)} {words.part(times, run_part, self._lang)} "
                f"{words.percent(run_part.share, self._lang)}"
                for index, run_part in enumerate(times.parts)
            ]
            yield from (f"    {line}" for line in wrap("   ".join(named), self._width - 4))

    def _changes(self, changes: Sequence[RunChange]) -> Iterator[str]:
        """Times beside those of another profile: the parts of a step, and the operators that differ most."""
        if not changes:
            return
        per = say(self._lang, f"runs.changes.{changes[-1].per}")
        yield self._line(f"  {say(self._lang, 'runs.about', path=say(self._lang, 'runs.changes'), text=per)}")
        steps = [change for change in changes if change.what == "step"]
        operators = [change for change in changes if change.what == "operator"]
        shown = [*steps, *self._first(operators, _CHANGED)]
        names = [escape_control_chars(words.change_name(run_change, self._lang)) for run_change in shown]
        room = min(max(map(cells, names)), _NAME)
        for name, run_change in zip(names, shown, strict=True):
            times = say(self._lang, "runs.before", before=time(run_change.before_us), us=time(run_change.us))
            moved = (
                f"  {run_change.before_core} → {run_change.core}"
                if run_change.before_core and run_change.core not in ("", run_change.before_core)
                else ""
            )
            yield self._line(
                f"    {padded(name, room)}  {times:>19}  {words.changed(run_change, self._lang):>9}{moved}"
            )

    def _headed(self, times: RunTimes) -> Iterator[str]:
        name, place = say(self._lang, f"runs.{times.what}"), leading(times.path)
        text = say(self._lang, "runs.about", path=name, text=words.whole(times, self._lang))
        if cells(text) + cells(place) + 4 <= self._width:
            yield self._line(f"  {text}  {self._paint('dim', place)}")
            return
        yield from self._wrapped(text, 2, 4)
        yield f"    {self._paint('dim', place)}"

    def _curve(self, curves: Sequence[RunCurve]) -> Iterator[str]:
        for run_curve in self._first(sorted(curves, key=_foremost), 1):
            label, course = say(self._lang, f"runs.short.{run_curve.what}"), words.course(run_curve, self._lang)
            room = min(self._width - cells(label) - cells(course) - 6, _SPARK)
            fits = room >= _LEAST
            drawn = spark(_heights(run_curve), room if fits else min(_SPARK, self._width - 4), self._plain)
            yield from () if fits else self._labelled(label, course)
            yield self._line(f"  {label}  {drawn}  {course}" if fits else f"    {drawn}")

    def _labelled(self, label: str, text: str) -> Iterator[str]:
        yield from self._wrapped(f"{label}  {text}", 2, 4)

    def _wrapped(self, text: str, first: int, later: int) -> Iterator[str]:
        lines = wrap(escape_control_chars(text), self._width - later)
        yield self._line(" " * first + lines[0])
        yield from (self._line(" " * later + line) for line in lines[1:])

    def _line(self, line: str) -> str:
        return line.translate(_PLAIN).rstrip() if self._plain else line.rstrip()


def _foremost(curve: RunCurve) -> tuple[float, int]:
    """Sort key of curves: of similarities, the lowest minimum first, else the most values first."""
    compared = curve.what == "similarity" and curve.minimum is not None
    return (curve.minimum or 0.0) if compared else 1.0, -curve.count


def _heights(curve: RunCurve) -> Sequence[float | None]:
    if curve.what == "loss_scale":
        return powers(curve.points)
    return words.middle(curve.points) if words.is_band(curve) else curve.points
