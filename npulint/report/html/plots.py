"""Curves as SVG with a labelled grid, and the same numbers as a table."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence

import msgspec

from npulint.core.texts import count, say
from npulint.facts.model import Span
from npulint.judge.summaries.run_summary import RunCurve, RunSummary
from npulint.report.document.model import Facts, Folded, PlaceCell
from npulint.report.html.document import markup, place
from npulint.report.html.markup import attribute, escape_html, section, table
from npulint.report.html.page import Page
from npulint.report.runs import document, words
from npulint.report.runs import words as phrases

_STEPS = 4  # of the grid
_DECADES = 1000  # ratio of maximum to minimum from which the axis is logarithmic
_NICE = (1.0, 2.0, 2.5, 5.0, 10.0)
_WIDTH, _HEIGHT = 1000, 400  # of the field; it is stretched


class Axis(msgspec.Struct, frozen=True):
    """The vertical axis from `low` to `high`, in transformed units, with grid labels from top to bottom; `kind` is
    linear, log2 or log10."""

    kind: str
    low: float
    high: float
    labels: tuple[str, ...]

    def height(self, value: float) -> float:
        """The value in transformed units."""
        if self.kind == "linear":
            return value
        return (math.log2 if self.kind == "log2" else math.log10)(value) if value > 0 else self.low

    def down(self, value: float) -> float:
        """The distance of a value from the upper edge, as a fraction of the plot (0 to 1)."""
        part = (self.high - self.height(value)) / (self.high - self.low)
        return min(max(part, 0.0), 1.0)


def axis(curve: RunCurve) -> Axis:
    """A suitable axis for the values of a curve."""
    points = [point for point in curve.points if point is not None] or [0.0]
    low, high = min(points), max(points)
    if curve.what == "similarity":
        step = _nice((1.0 - min(low, 0.97)) / _STEPS)
        return _lines("linear", 1.0 - _STEPS * step, step, lambda tick: f"{tick:.6g}")
    if curve.what == "loss_scale" and high > 0:
        return _powers([point for point in points if point > 0], "log2", math.log2, _of_two)
    if low > 0 and high >= _DECADES * low:
        return _powers(points, "log10", math.log10, lambda exponent: f"{10.0**exponent:g}")
    step = _nice((high - low) / _STEPS) if high > low else _nice(abs(high) / _STEPS or 0.25)
    low = math.floor(low / step) * step
    while low + _STEPS * step < high - step * 1e-9:
        step = _nice(step * 1.01)
        low = math.floor(min(points) / step) * step
    return _lines("linear", low, step, lambda tick: f"{tick:.6g}")


def _powers(points: Sequence[float], kind: str, of: Callable[[float], float], label: Callable[[float], str]) -> Axis:
    low, high = math.floor(of(min(points))), math.ceil(of(max(points)))
    return _lines(kind, low, max(math.ceil((high - low) / _STEPS), 1), label)


def _lines(kind: str, low: float, step: float, label: Callable[[float], str]) -> Axis:
    heights = [low + step * index for index in range(_STEPS, -1, -1)]
    labels = [label(0.0 if abs(height) < step * 1e-9 else height) for height in heights]
    return Axis(kind, low, low + _STEPS * step, tuple(labels))


def _of_two(power: float) -> str:
    return f"{2**power:g}" if -4 <= power < 10 else f"2<sup>{power:g}</sup>".replace("-", "−")


def _nice(step: float) -> float:
    """The next larger round step."""
    size = 10.0 ** math.floor(math.log10(step))
    return next(size * factor for factor in _NICE if size * factor >= step * (1 - 1e-9))


def plot(curve: RunCurve, name: str, place: str, lang: str) -> str:
    """The HTML of a curve with its title; `name` prefixes the ids, `place` is HTML for its origin."""
    scale, title, course = axis(curve), phrases.title(curve, lang), phrases.course(curve, lang)
    drawn = count(lang, "runs.drawn", len(curve.points), what=title, course=course)
    note = say(lang, "aside", text=say(lang, "runs.axis.log")) if scale.kind != "linear" else ""
    below = say(lang, f"runs.axis.{_order(curve)}")
    return (
        f'<figure class="plot {curve.what}"><figcaption><b>{escape_html(title)}</b>{escape_html(note)}'
        f'<span class="muted">{escape_html(course)}</span></figcaption>\n<div class="axes">'
        f'<div class="ys" aria-hidden="true">{"".join(f"<span>{label}</span>" for label in scale.labels)}</div>\n'
        f'<svg class="field" role="img" aria-labelledby="{name}-t {name}-d">'
        f'<title id="{name}-t">{escape_html(title)}</title><desc id="{name}-d">{escape_html(drawn)}</desc>'
        f"{''.join(_field(curve, scale, lang))}</svg>\n"
        f'<div class="xs" aria-hidden="true"><span>1</span><span>{below}</span><span>{curve.count:,}</span></div>'
        "</div>\n"
        f'<p class="at">{place}</p>\n{_values(curve, title, lang)}</figure>'
    )


def _order(curve: RunCurve) -> str:
    return "outputs" if curve.what == "similarity" else "band" if phrases.is_band(curve) else "values"


def _field(curve: RunCurve, scale: Axis, lang: str) -> Iterator[str]:
    compared, limit = curve.what == "similarity", scale.down(phrases.THRESHOLD)
    if compared:
        yield f'<rect class="under" x="0" y="{_percent(limit)}" width="100%" height="{_percent(1 - limit)}"/>'
    for index in range(_STEPS + 1):
        at = _percent(index / _STEPS)
        yield f'<line class="grid" x1="0" x2="100%" y1="{at}" y2="{at}"/>'
    line, area = _band(curve.points, scale) if phrases.is_band(curve) else _paths(curve, scale)
    yield f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" preserveAspectRatio="none" width="100%" height="100%">'
    yield f'<path class="area" d="{area}"/><path class="curve" d="{line}" vector-effect="non-scaling-stroke"/></svg>'
    if compared:
        at = _percent(limit)
        yield f'<line class="limit" x1="0" x2="100%" y1="{at}" y2="{at}"/>'
        yield f'<text class="limit" x="0" y="{at}" dx="6" dy="14">{say(lang, "runs.threshold")}</text>'
    yield from _dots(curve, scale)


def _band(points: Sequence[float | None], scale: Axis) -> tuple[str, str]:
    """SVG paths of the middle line and of the area from minimum to maximum, each over three points."""
    present = [point for point in points if point is not None]
    last = max(len(present) - 1, 1)
    near = [present[max(index - 1, 0) : index + 2] for index in range(len(present))]
    x = [f"{index / last * _WIDTH:.4g}" for index in range(len(present))]
    low, high, middle = (
        [f"{at} {scale.down(point) * _HEIGHT:.4g}" for at, point in zip(x, some, strict=True)]
        for some in (map(min, near), map(max, near), phrases.middle(present))
    )
    return f"M{'L'.join(middle)}", f"M{'L'.join([*high, *reversed(low)])}Z"


def _dots(curve: RunCurve, scale: Axis) -> Iterator[str]:
    """Dots for deviating outputs and isolated points."""
    last = max(len(curve.points) - 1, 1)
    for index, point in enumerate(curve.points):
        if point is None:
            continue
        off = curve.what == "similarity" and point < phrases.THRESHOLD
        alone = all(
            near is None for near in (*curve.points[max(index - 1, 0) : index], *curve.points[index + 1 : index + 2])
        )
        if off or alone:
            kind = "off" if off else "alone"
            yield f'<circle class="{kind}" cx="{_percent(index / last)}" cy="{_percent(scale.down(point))}" r="3"/>'


def _paths(curve: RunCurve, scale: Axis) -> tuple[str, str]:
    """SVG paths of the line and the area below; a loss scale is drawn as steps."""
    last = max(len(curve.points) - 1, 1)
    line, area, run = [], [], list[tuple[str, str]]()
    for index, point in enumerate((*curve.points, None)):
        if point is not None:
            run.append((f"{index / last * _WIDTH:.4g}", f"{scale.down(point) * _HEIGHT:.4g}"))
            continue
        if run:
            drawn = f"M{run[0][0]} {run[0][1]}"
            drawn += "".join(f"H{x}V{y}" if curve.what == "loss_scale" else f"L{x} {y}" for x, y in run[1:])
            line.append(drawn)
            area.append(f"{drawn}V{_HEIGHT}H{run[0][0]}Z")
        run = []
    return "".join(line), "".join(area)


def _values(curve: RunCurve, title: str, lang: str) -> str:
    heads = [say(lang, "runs.head.part"), say(lang, "runs.head.value")]
    rows = [[str(index), escape_html(phrases.figure(curve, point))] for index, point in enumerate(curve.points, 1)]
    said = say(lang, "runs.all-values")
    caption = f'<span class="unseen">{escape_html(title)}</span>'
    scrolled = f'<div class="scroll" tabindex="0" role="region" aria-label="{attribute(title)}">'
    listed = f"{scrolled}{table(caption, heads, rows, 'counts')}</div>"
    return f'<details class="values"><summary>{said}</summary>{listed}</details>'


def _percent(part: float) -> str:
    return f"{round(100 * part, 2):g}%"


# Training runs: artifacts, time breakdown, curves.

_TABLES, _PLOTS, _FILES = 6, 12, 5


def runs(page: Page) -> str:
    """The section about training runs; empty if none."""
    run = words.merged_runs(page.result.runs)
    return section("runs", say(page.lang, "runs.title"), _run(page, run)) if run.files else ""


def _run(page: Page, run: RunSummary) -> str:
    lang = page.lang
    short = [msgspec.structs.replace(file, path=page.paths(file.path)) for file in run.files]
    tables = [time for time in run.times if time.what == "operators"]
    left = run.left_out + max(len(tables) - _TABLES, 0) + max(len(run.curves) - _PLOTS, 0)
    files = document.files(run.files, lang)
    drawn = "".join(f'<div class="panel">{panel}</div>' for panel in _panels(page, run))
    parts = [
        markup(page, Facts(words.file_notes(short, lang, _FILES))),
        f'<div class="panels pictures">{drawn}</div>' if drawn else "",
        f'<p class="cut">{count(lang, "runs.left-out", left)}</p>' if left else "",
        markup(page, Folded(files.title, [files])),
    ]
    return "\n".join(filter(None, parts))


def _panels(page: Page, run: RunSummary) -> list[str]:
    lang, panels = page.lang, []
    for what in ("step", "iteration"):
        parts = [time for time in run.times if time.what == what]
        panels += [markup(page, document.parts(parts, what, lang))] if parts else []
    for times in [time for time in run.times if time.what == "operators"][:_TABLES]:
        panels.append(
            markup(page, document.operators(times, lang)) + _below(page, PlaceCell(times.path, Span(times.line)))
        )
    panels += [markup(page, document.changes(run.changes, lang))] if run.changes else []
    for index, curve in enumerate(run.curves[:_PLOTS], 1):
        panels.append(plot(curve, f"curve-{index}", place(page, PlaceCell(curve.path, Span(curve.line))), lang))
    panels += [markup(page, document.stalls(run.stalls, lang))] if run.stalls else []
    if run.graphs:
        files = [PlaceCell(path) for path in dict.fromkeys(graph.path for graph in run.graphs)]
        panels.append(markup(page, document.graphs(run.graphs, lang)) + _below(page, *files))
    return panels


def _below(page: Page, *places: PlaceCell) -> str:
    return f'<p class="at">{"<br>".join(place(page, place_cell) for place_cell in places)}</p>'
