"""Charts as tables with SVG bars, so that the numbers are accessible."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from npulint.core.texts import count, say
from npulint.report.document.model import Cell, CodeCell, Label, StackedBar, Table

SEVERITIES = ("error", "warning", "note")
STATUSES = ("failed", "unknown", "passed")


def chart(
    caption: str, head: str, rows: Sequence[tuple[str | CodeCell, Counter[str]]], parts: Sequence[str], lang: str
) -> Table:
    """A table with a stacked bar per row and a column per part (a severity or a status)."""
    family = "severity" if parts == SEVERITIES else "status"
    longest = max((counts.total() for _, counts in rows), default=0)
    heads: list[Cell] = [head, Label(say(lang, "html.bar"), "unseen")]
    heads += [Label(say(lang, f"{family}.{part}"), f"key {part}") for part in parts]
    cells: list[list[Cell]] = []
    for name, counts in rows:
        text = f"{name if isinstance(name, str) else name.text}: {_numbers(counts, parts, lang)}"
        numbers = [str(counts[part]) for part in parts]
        cells.append([name, bar(counts, parts, longest, text), *numbers, str(counts.total())])
    return Table(caption, [*heads, say(lang, "html.total")], cells, "chart", titled=True)


def bar(values: Counter[str], parts: Sequence[str], longest: int, label: str) -> StackedBar:
    """A stacked bar; a value of `longest` is the full width."""
    return StackedBar([(part, values[part]) for part in parts], longest, label)


def _numbers(counts: Counter[str], parts: Sequence[str], lang: str) -> str:
    if parts == STATUSES:
        return say(lang, "readiness.counts", **{status: counts[status] for status in STATUSES})
    numbers = [count(lang, f"count.{part}", counts[part]) for part in parts if counts[part]]
    return say(lang, "list.and").join(numbers) or "0"


_STRIPES = (
    ("error", '<rect width="6" height="6" class="ink"/>'),
    ("failed", '<rect width="6" height="6" class="ink"/>'),
    ("warning", '<path d="M0 6L6 0M-1 1L1 -1M5 7L7 5" class="line"/>'),
    ("unknown", '<path d="M0 6L6 0M-1 1L1 -1M5 7L7 5" class="line"/>'),
)


def patterns() -> str:
    """SVG patterns that distinguish the parts of bars in print."""
    shapes = "".join(
        f'<pattern id="print-{name}" width="6" height="6" patternUnits="userSpaceOnUse">{shape}</pattern>'
        for name, shape in _STRIPES
    )
    return f'<svg class="patterns" width="0" height="0" aria-hidden="true"><defs>{shapes}</defs></svg>'
