"""Training runs: artifacts, time breakdown, curves."""

from __future__ import annotations

import msgspec

from npulint.core.texts import count, say
from npulint.facts.model import Span
from npulint.judge.summaries.run_summary import RunSummary
from npulint.report.document.model import Facts, Folded, PlaceCell
from npulint.report.html.document import markup, place
from npulint.report.html.markup import section
from npulint.report.html.page import Page
from npulint.report.html.plots import plot
from npulint.report.runs import document, words

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
