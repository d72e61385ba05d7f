"""A recorded step: a picture of its operators and of its memory, and the tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

import msgspec

from npulint.core.texts import count, say
from npulint.facts.model import Span
from npulint.judge.summaries.step_summary import CLASSES, StepPicture, StepStretch, StepSummary
from npulint.report.document.model import Cell, PlaceCell, Table
from npulint.report.html.document import markup, place
from npulint.report.html.markup import attribute, escape_html, section, table
from npulint.report.html.page import Page
from npulint.report.step import words
from npulint.report.step.tables import tables

# The picture of a recorded step as SVG: where each operator runs, in order, and the memory of the device.

_ROWS = 24
_NARROW = 0.35  # percent: what is narrower is not visible
_RUNS = ("npu", "decomposed", "cpu", "failed", "custom", "unknown")
_WIDTH, _HEIGHT = 1000, 400  # of the field; it is stretched
_GRID = 4

_Key = tuple[str, int, str]


def order(page: Page, picture: StepPicture, lines: Mapping[tuple[str, int], PlaceCell]) -> str:
    """A row for each line or function, with its operators where they come in the step; the host's waits are marks."""
    lang = page.lang
    rows: dict[_Key, list[StepStretch]] = {}
    for stretch in picture.stretches:
        rows.setdefault((stretch.path, stretch.line, stretch.function), []).append(stretch)
    kept = sorted(rows, key=lambda key: -_weight(rows[key]))[:_ROWS]
    shown = [(key, step_stretches) for key, step_stretches in rows.items() if key in kept]
    body = [_row(_head(page, key, lines), step_stretches, picture.operators, lang) for key, step_stretches in shown]
    rest = [step_stretch for key, step_stretches in rows.items() if key not in kept for step_stretch in step_stretches]
    if rest:
        body.append(_row(count(lang, "step.picture.other", len(rows) - len(kept)), rest, picture.operators, lang))
    used = {name for step_stretches in rows.values() for step_stretch in step_stretches for name in step_stretch.runs}
    axis = say(lang, "step.picture.axis", n=f"{picture.operators:,}")
    caption = f'{say(lang, "step.picture")} <span class="muted">{axis}</span>{_legend(used, lang)}'
    bar = f'<span class="unseen">{say(lang, "html.bar")}</span>'
    heads = [_column("place", lang), bar, _column("times", lang), say(lang, "step.picture.waits")]
    return table(caption, heads, body, "course")


def _weight(step_stretches: Sequence[StepStretch]) -> int:
    """How much a row matters: waits and operators that leave the NPU count most."""
    away = sum(
        number
        for step_stretch in step_stretches
        for name, number in step_stretch.runs.items()
        if name not in ("npu", "decomposed")
    )
    return sum(step_stretch.end - step_stretch.begin for step_stretch in step_stretches) + 1000 * (
        away + sum(len(step_stretch.waits) for step_stretch in step_stretches)
    )


def _column(key: str, lang: str) -> str:
    return say(lang, f"live.column.{key}")


def _legend(used: set[str], lang: str) -> str:
    keys = [f'<span class="key run-{name}">{say(lang, f"step.runs.{name}")}</span>' for name in _RUNS if name in used]
    keys.append(f'<span class="key run-wait">{say(lang, "step.runs.wait")}</span>')
    return f'<span class="legend">{" ".join(keys)}</span>'


def _head(page: Page, key: _Key, lines: Mapping[tuple[str, int], PlaceCell]) -> str:
    path, line, function = key
    if not path:
        return say(page.lang, "step.picture.outside")
    shown = place(page, lines.get((path, line), PlaceCell(path, Span.at(line) if line else Span(0, 0, 0, 0))))
    named = function and not function.startswith("<")
    return f'{shown} <span class="muted">{escape_html(function)}</span>' if named else shown


def _row(head: str, step_stretches: Sequence[StepStretch], operators: int, lang: str) -> Sequence[str]:
    runs: Counter[str] = Counter()
    for step_stretch in step_stretches:
        runs.update(step_stretch.runs)
    waits = sum(len(step_stretch.waits) for step_stretch in step_stretches)
    listed = say(lang, "list.and").join(f"{words.word('step.runs', name, lang)} {n:,}" for name, n in runs.items())
    told = {"begin": step_stretches[0].begin + 1, "end": step_stretches[-1].end, "runs": listed, "waits": waits}
    text = say(lang, "step.picture.row", **told)
    drawn = "".join(part for step_stretch in step_stretches for part in _stretch(step_stretch, operators or 1))
    strip = f'<svg class="strip" role="img" aria-label="{attribute(text)}">{drawn}</svg>'
    return head, strip, f"{sum(runs.values()):,}", f"{waits:,}" if waits else ""


def _stretch(step_stretch: StepStretch, operators: int) -> Iterator[str]:
    begin = float(step_stretch.begin)
    scale = (step_stretch.end - step_stretch.begin) / (sum(step_stretch.runs.values()) or 1)
    for name in sorted(step_stretch.runs, key=lambda name: _RUNS.index(name) if name in _RUNS else len(_RUNS)):
        width = step_stretch.runs[name] * scale
        drawn = max(100 * width / operators, _NARROW)
        kind = name if name in _RUNS else "unknown"
        yield f'<rect class="run-{kind}" x="{100 * begin / operators:.4g}%" width="{drawn:.3g}%"/>'
        begin += width
    for number in step_stretch.waits:
        x = f"{100 * (number + 0.5) / operators:.4g}%"
        yield f'<line class="wait" x1="{x}" x2="{x}" y1="0" y2="100%"/><circle class="wait" cx="{x}" cy="3" r="3"/>'


def memory_curve(picture: StepPicture, lang: str) -> str:
    """The memory by class, stacked, over the same operators."""
    most = max((sum(held) for _, held in picture.memory), default=0) or 1
    title = say(lang, "step.picture.memory", peak=words.size(most))
    labels = [words.size(most * (_GRID - index) // _GRID) for index in range(_GRID + 1)]
    keys = " ".join(f'<span class="key mem-{name}">{say(lang, f"step.memory.{name}")}</span>' for name in CLASSES)
    grid = "".join(
        f'<line class="grid" x1="0" x2="100%" y1="{100 * index / _GRID:g}%" y2="{100 * index / _GRID:g}%"/>'
        for index in range(_GRID + 1)
    )
    return (
        f'<figure class="plot memory"><figcaption><b>{escape_html(title)}</b><span class="legend">{keys}</span>'
        '</figcaption>\n<div class="axes">'
        f'<div class="ys" aria-hidden="true">{"".join(f"<span>{label}</span>" for label in labels)}</div>\n'
        f'<svg class="field" role="img" aria-label="{attribute(title)}">{grid}'
        f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" preserveAspectRatio="none" width="100%" height="100%">'
        f"{''.join(_areas(picture, most))}</svg></svg>\n"
        f'<div class="xs" aria-hidden="true"><span>1</span><span>{_column("operator", lang)}</span>'
        f"<span>{picture.operators:,}</span></div></div></figure>"
    )


def _areas(picture: StepPicture, most: int) -> Iterator[str]:
    """From the highest stack to the lowest, each from its sum down to zero."""
    operators = max(picture.operators, 1)
    for index in range(len(CLASSES) - 1, -1, -1):
        steps = [
            (f"{min(at / operators, 1) * _WIDTH:.4g}", f"{(1 - sum(held[: index + 1]) / most) * _HEIGHT:.4g}")
            for at, held in picture.memory
        ]
        line = f"M{steps[0][0]} {_HEIGHT}V{steps[0][1]}" + "".join(f"H{x}V{y}" for x, y in steps[1:])
        yield f'<path class="mem-{CLASSES[index]}" d="{line}H{_WIDTH}V{_HEIGHT}Z"/>'


_Lines = dict[tuple[str, int], PlaceCell]


def step(page: Page, step_summary: StepSummary) -> str:
    """The section about the recorded step."""
    lang, lines = page.lang, findings_by_line(page)
    drawn = []
    if step_summary.picture is not None:
        drawn = [order(page, step_summary.picture, lines)]
        if step_summary.picture.memory:
            drawn.append(memory_curve(step_summary.picture, lang))
    panels = "".join(f'<div class="panel">{drawing}</div>' for drawing in drawn)
    parts = [
        f'<div class="panels stepped">{panels}</div>' if panels else "",
        *(f'<div class="panel tabled">{_table(page, table, lines)}</div>' for table in tables(step_summary, lang)),
        *(f"<p>{escape_html(say(lang, 'live.note', text=note))}</p>" for note in step_summary.notes),
        f"<p>{escape_html(step_summary.ended)}</p>" if step_summary.ended else "",
    ]
    return section("step", say(lang, "step.title"), "\n".join(filter(None, parts)))


def findings_by_line(page: Page) -> _Lines:
    """The places of displayed findings by line, so that other places there can be linked to them."""
    line: _Lines = {}
    for _, finding in page.numbered():
        line.setdefault((finding.path, finding.span.line), PlaceCell(finding.path, finding.span, code=finding.code))
    return line


def _table(page: Page, table: Table, lines: _Lines) -> str:
    rows = [[_linked(cell, lines) for cell in row] for row in table.rows]
    if not rows:
        note = f' <span class="muted">{escape_html(table.note)}</span>' if table.note else ""
        return f"<p>{escape_html(table.title)}{note}</p>"
    return markup(page, msgspec.structs.replace(table, rows=rows))


def _linked(cell: Cell, lines: _Lines) -> Cell:
    if isinstance(cell, PlaceCell):
        return lines.get((cell.path, cell.span.line), cell)
    if isinstance(cell, Sequence) and not isinstance(cell, str):
        return [
            lines.get((place_cell.path, place_cell.span.line), place_cell)
            if isinstance(place_cell, PlaceCell)
            else place_cell
            for place_cell in cell
        ]
    return cell
