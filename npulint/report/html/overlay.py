"""Two curves in one picture, with a line where they part."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from npulint.core.texts import say
from npulint.judge.findings import Comparison
from npulint.judge.summaries.run_comparison import ComparedCurve, RunComparison
from npulint.judge.summaries.run_summary import RunCurve
from npulint.report.compared import runs as document
from npulint.report.html.document import markup
from npulint.report.html.markup import escape_html, inline_markdown
from npulint.report.html.page import Page
from npulint.report.html.plots import Axis, axis

_WIDTH, _HEIGHT = 1000, 400  # of the field; it is stretched
_LINES = 4  # of the grid
Points = Sequence[tuple[float, float | None]]


def compared_runs(page: Page, comparison: Comparison, runs: RunComparison) -> str:
    """The quantities as a table, the pictures, and what they show."""
    lang = page.lang
    sides = "".join(
        f"<div><dt>{say(lang, f'pair.head.{side}')}</dt><dd>{escape_html(path)}</dd></div>"
        for side, path in (("reference", runs.reference), ("migrated", runs.migrated))
    )
    pictures = "".join(
        f'<div class="panel">{_figure(curve, f"pair-{number}", lang)}</div>'
        for number, curve in enumerate(runs.curves, 1)
        if len(curve.points) > 1 and len(curve.migrated_points) > 1
    )
    return "\n".join(
        (
            f'<h3>{say(lang, "pair.title")}</h3>\n<dl class="both">{sides}</dl>',
            f"<p>{escape_html(document.headline(runs, lang))}</p>",
            markup(page, document.table(runs, lang)) if runs.curves else "",
            f'<div class="panels pictures">{pictures}</div>' if pictures else "",
            *_symptoms(comparison, runs, lang),
        )
    )


def _symptoms(comparison: Comparison, runs: RunComparison, lang: str) -> Iterator[str]:
    for symptom in document.symptoms(comparison, runs, lang):
        listed = "".join(
            f"<li>{inline_markdown(document.paragraph(cause, lang).text)}</li>" for cause in symptom.causes
        )
        intro = escape_html(say(lang, "heading", text=symptom.intro))
        yield f'<div class="symptom"><h4>{escape_html(symptom.text)}</h4><p>{intro}</p><ul>{listed}</ul></div>'


def _figure(curve: ComparedCurve, name: str, lang: str) -> str:
    """A picture with a legend; `name` prefixes the ids."""
    both = (*curve.points, *curve.migrated_points)
    scale = axis(RunCurve(curve.path, 0, curve.quantity, curve.label, curve.count, tuple(value for _, value in both)))
    title, result = document.quantity(curve, lang), document.result(curve, lang)
    drawn = say(lang, "pair.drawn", quantity=title, result=result)
    keys = "".join(
        f'<span class="side-{side}">{say(lang, f"pair.head.{side}")}</span>' for side in ("reference", "migrated")
    )
    low, high = _ends(curve)
    below = f"<span>{low:,.10g}</span><span>{say(lang, f'pair.axis.{curve.axis}')}</span><span>{high:,.10g}</span>"
    log = say(lang, "aside", text=say(lang, "runs.axis.log")) if scale.kind != "linear" else ""
    return (
        f'<figure class="plot twin"><figcaption><b>{escape_html(title)}</b>{escape_html(log)}'
        f'<span class="muted">{escape_html(result)}</span><span class="legend">{keys}</span></figcaption>\n'
        f'<div class="axes"><div class="ys" aria-hidden="true">'
        f"{''.join(f'<span>{label}</span>' for label in scale.labels)}</div>\n"
        f'<svg class="field" role="img" aria-labelledby="{name}-t {name}-d"><title id="{name}-t">{escape_html(title)}'
        f'</title><desc id="{name}-d">{escape_html(drawn)}</desc>{"".join(_field(curve, scale, lang))}</svg>\n'
        f'<div class="xs" aria-hidden="true">{below}</div></div></figure>'
    )


def _field(curve: ComparedCurve, scale: Axis, lang: str) -> Iterator[str]:
    low, high = _ends(curve)
    for index in range(_LINES + 1):
        at = f"{100 * index / _LINES:g}%"
        yield f'<line class="grid" x1="0" x2="100%" y1="{at}" y2="{at}"/>'
    yield f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" preserveAspectRatio="none" width="100%" height="100%">'
    for side, points in (("reference", curve.points), ("migrated", curve.migrated_points)):
        path = _path(points, scale, low, high)
        yield f'<path class="curve {side}" d="{path}" vector-effect="non-scaling-stroke"/>'
    yield "</svg>"
    if curve.at is not None and curve.differs:
        x = f"{100 * (curve.at - low) / ((high - low) or 1):.4g}%"
        text = escape_html(document.place(curve, curve.at, lang))
        yield f'<line class="limit" x1="{x}" x2="{x}" y1="0" y2="100%"/>'
        yield f'<text class="limit" x="{x}" y="0" dx="6" dy="14">{text}</text>'


def _path(points: Points, scale: Axis, low: float, high: float) -> str:
    """The line of a curve, interrupted where it has no number."""
    drawn, pen = [], "M"
    for at, value in points:
        if value is None:
            pen = "M"
            continue
        x, y = (at - low) / ((high - low) or 1) * _WIDTH, scale.down(value) * _HEIGHT
        drawn.append(f"{pen}{x:.4g} {y:.4g}")
        pen = "L"
    return "".join(drawn)


def _ends(curve: ComparedCurve) -> tuple[float, float]:
    places = [at for at, _ in (*curve.points, *curve.migrated_points)]
    return min(places), max(places)
