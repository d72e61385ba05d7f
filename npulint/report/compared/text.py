"""The comparison on a terminal: the first pairs of programs in full, one line for each further pair."""

from __future__ import annotations

from collections.abc import Sequence

from npulint.core.texts import count, say
from npulint.judge.findings import ComparedPair, Comparison
from npulint.report.compared.change_text import blocks as change_blocks
from npulint.report.compared.document import checklists
from npulint.report.compared.rows import SIDES, ShortSidePaths, alone, differing_first, of_runs_alone, tally
from npulint.report.compared.runs_text import blocks as run_blocks
from npulint.report.document.text import ARROW, WIDTH, Checklists, Line, fold, row_lines, widths
from npulint.report.terminal import Paint
from npulint.report.view import ReportView

_PAIRS = 3  # shown in full
_LISTED = 10  # further ones listed


def blocks(comparison: Comparison, view: ReportView) -> list[list[str]]:
    """Blocks of lines: one per pair of programs, one for what could not be compared."""
    runs = run_blocks(comparison, comparison.runs, view) if comparison.runs is not None else []
    if comparison.change is not None:
        return [*change_blocks(comparison, comparison.change, view), *runs]
    if of_runs_alone(comparison):
        return runs
    shown = None if view.verbose else _PAIRS
    writer = Checklists(view)
    chosen = checklists(comparison, view.lang, shown, brief=not view.verbose, weak=view.verbose or view.all_differences)
    pairs = [writer.lines(checklist) for checklist in chosen]
    rest = alone(comparison, view.lang)
    if not comparison.pairs:
        rest.insert(0, say(view.lang, "compare.pairs.none"))
    width = view.width or 0
    lines = [part for line in rest for part in (fold(line, width) if width else [line])]
    return [*pairs, _more(comparison, differing_first(comparison.pairs)[len(pairs) :], view), lines, *runs]


def _more(comparison: Comparison, pairs: Sequence[ComparedPair], view: ReportView) -> list[str]:
    """One line per further pair, and the number of those not listed."""
    if not pairs:
        return []
    roots, width = ShortSidePaths(comparison), view.width or WIDTH
    named = [[roots.short(getattr(pair, side), side) for side in SIDES] for pair in pairs[:_LISTED]]
    rows = [
        [
            [Line(reference if reference == migrated else f"{reference} {ARROW} {migrated}")],
            [Line(tally(pair, view.lang), "dim")],
        ]
        for (reference, migrated), pair in zip(named, pairs, strict=False)
    ]
    columns = widths(rows, width - 2)
    lines = [f"  {line}" for row in rows for line in row_lines(row, columns, Paint(view.color))]
    return [*fold(count(view.lang, "compare.pairs.more", len(pairs)), width), *lines]
