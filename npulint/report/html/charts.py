"""Charts: tables whose bars are SVG, so that the numbers are there for everybody."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import msgspec

from npulint.report.html.markup import attribute, table
from npulint.texts import count, say

SEVERITIES = ("error", "warning", "note")
STATUSES = ("failed", "unknown", "passed")


class Row(msgspec.Struct, frozen=True):
    """One bar: its name as text and as markup, and its parts by name."""

    name: str
    label: str
    parts: Mapping[str, int]


def chart(caption: str, head: str, rows: Sequence[Row], parts: Sequence[str], lang: str) -> str:
    """A table with a stacked bar for each row and a column for each of the `parts`, a severity or a status."""
    family = "severity" if parts == SEVERITIES else "status"
    names = [say(lang, f"{family}.{part}") for part in parts]
    longest = max((sum(row.parts.values()) for row in rows), default=0)
    heads = [
        head,
        f'<span class="unseen">{say(lang, "html.bar")}</span>',
        *(f'<span class="key {part}">{name}</span>' for part, name in zip(parts, names, strict=True)),
        say(lang, "html.total"),
    ]
    cells = [
        [
            row.label,
            bar(row.parts, parts, longest, told(row.name, row.parts, parts, lang)),
            *(str(row.parts.get(part, 0)) for part in parts),
            str(sum(row.parts.values())),
        ]
        for row in rows
    ]
    return table(caption, heads, cells, "chart")


def told(name: str, values: Mapping[str, int], parts: Sequence[str], lang: str) -> str:
    """A bar in words."""
    if parts == SEVERITIES:
        numbers = [count(lang, f"count.{part}", values[part]) for part in parts if values.get(part)]
        return f"{name}: {say(lang, 'list.and').join(numbers) or 0}"
    known = {status: values.get(status, 0) for status in STATUSES}
    return f"{name}: {say(lang, 'readiness.counts', **known)}"


def bar(values: Mapping[str, int], parts: Sequence[str], longest: int, label: str) -> str:
    """A stacked bar; a value of `longest` is as wide as the room there is."""
    rects = []
    begin = 0
    for part in parts:
        number = values.get(part, 0)
        if number:
            rects.append(f'<rect class="{part}" x="{_share(begin, longest)}" width="{_share(number, longest)}"/>')
        begin += number
    return f'<svg class="bar" role="img" aria-label="{attribute(label)}">{"".join(rects)}</svg>'


def _share(part: int, whole: int) -> str:
    return f"{round(100 * part / whole, 3):g}%" if whole else "0%"


def tally(words: Sequence[str]) -> dict[str, int]:
    """How often each word is there, in a fixed order."""
    return dict(sorted(Counter(words).items()))


_STRIPES = (
    ("error", '<rect width="6" height="6" class="ink"/>'),
    ("failed", '<rect width="6" height="6" class="ink"/>'),
    ("warning", '<path d="M0 6L6 0M-1 1L1 -1M5 7L7 5" class="line"/>'),
    ("unknown", '<path d="M0 6L6 0M-1 1L1 -1M5 7L7 5" class="line"/>'),
)


def patterns() -> str:
    """The stripes that tell the parts of bars apart on paper."""
    shapes = "".join(
        f'<pattern id="print-{name}" width="6" height="6" patternUnits="userSpaceOnUse">{shape}</pattern>'
        for name, shape in _STRIPES
    )
    return f'<svg class="patterns" width="0" height="0" aria-hidden="true"><defs>{shapes}</defs></svg>'
