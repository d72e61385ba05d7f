"""Bars and curves from block characters in terminal cells; ASCII if `plain`."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from npulint.report.terminal import cells, cut

_EIGHTHS = " ▏▎▍▌▋▊▉"
_LEVELS = "▁▂▃▄▅▆▇█"
_PLAIN_LEVELS = "_.-~=+*#"
_FILLS, _PLAIN_FILLS = "█▒·░", "#+.:"


def bar(share: float, width: int, plain: bool) -> str:
    """A bar of `share` (0 to 1) in `width` cells, padded with blanks."""
    share = min(max(share, 0.0), 1.0)
    if plain:
        return ("#" * round(share * width)).ljust(width)
    whole, rest = divmod(round(share * width * 8), 8)
    text = "█" * whole + (_EIGHTHS[rest] if rest else "")
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
    known = [value for value in values if value is not None]
    if not known or width < 1:
        return ""
    middle = (min(known) + max(known)) / 2
    row: list[float | None] = []
    for stretch in _stretches(values, min(width, len(values))):
        there = [one for one in stretch if one is not None]
        row.append(max(there, key=lambda one: abs(one - middle), default=None))
    return _drawn(row, _PLAIN_LEVELS if plain else _LEVELS)


def _drawn(values: Sequence[float | None], levels: str) -> str:
    known = [one for one in values if one is not None]
    low, span = min(known), max(known) - min(known)
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
