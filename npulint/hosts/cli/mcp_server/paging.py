"""Pages of a long answer."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from npulint.core.errors import NpulintError
from npulint.core.texts import say

MOST = 200  # entries of a page

_Unit = TypeVar("_Unit")


def page(
    units: Sequence[_Unit], render: Callable[[Sequence[_Unit]], Iterable[str]], limit: int, cursor: str, lang: str
) -> str:
    """The lines of at most `limit` units from `cursor` on (empty: the beginning), and the cursor of the next page, if
    there is one. Raises `NpulintError` for a cursor that no page has named."""
    first = int(cursor) if cursor.isascii() and cursor.isdigit() and len(cursor) < 9 else -1 if cursor else 0
    if first < 0 or (first and first >= len(units)):
        raise NpulintError(say(lang, "mcp.cursor"))
    last = min(first + max(1, min(limit, MOST)), len(units))
    lines = list(render(units[first:last]))
    if last < len(units):
        lines += ["", say(lang, "mcp.page", first=first + 1, last=last, total=len(units), next=last)]
    return "\n".join(lines)
