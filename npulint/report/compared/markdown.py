"""The comparison as Markdown: the items in one table, then both sides of what differs, item by item."""

from __future__ import annotations

import posixpath
from collections.abc import Sequence
from urllib.parse import quote

from npulint.findings import ComparedItem, ComparedPair, ComparedRow, ComparedSide, Comparison, Evidence
from npulint.report.compared.rows import (
    Roots,
    alone,
    described,
    differing_first,
    of_interest,
    places_of,
    tally,
    told_answers,
    unspoken,
    way,
)
from npulint.report.markup import code, prose
from npulint.report.view import ReportView
from npulint.texts import count, say

_ADDRESS = ("https://", "http://")


def section(comparison: Comparison, view: ReportView, room: int) -> str:
    """All pairs in at most `room` bytes; the rows that have no room are counted."""
    writer = _Writer(comparison, view, room)
    parts = [part for pair in differing_first(comparison.pairs) for part in writer.pair(pair)]
    if not comparison.pairs:
        parts.append(f"## {say(view.lang, 'compare.title')}\n\n{prose(say(view.lang, 'compare.pairs.none'))}")
    parts += [prose(line) for line in alone(comparison, view.lang)]
    return "\n\n".join([*parts, *([count(view.lang, "compare.cut", writer.cut)] if writer.cut else [])])


class _Writer:
    """Counts the bytes that are left and the rows that were `cut`."""

    def __init__(self, comparison: Comparison, view: ReportView, room: int) -> None:
        self._lang = view.lang
        self._sources = view.sources.rstrip("/") if view.sources.startswith(_ADDRESS) else ""
        self._comparison = comparison
        self._roots = Roots(comparison)
        self._room = room
        self.cut = 0

    def pair(self, pair: ComparedPair) -> list[str]:
        self._roots = Roots(self._comparison, pair)
        title, between = say(self._lang, "compare.title"), f"{code(pair.reference)} → {code(pair.migrated)}"
        sides = []
        for side in ("reference", "migrated"):
            launcher = getattr(pair, f"{side}_launcher")
            started = self._roots.short(launcher, side) if launcher else ""
            told = described(getattr(pair, f"{side}_framework"), started, self._lang)
            place = say(self._lang, "problem.detail", text=say(self._lang, f"compare.heading.{side}"), detail="")
            sides.append(f"- {place.rstrip()} {code(getattr(pair, side))}{say(self._lang, 'aside', text=prose(told))}")
        head = ["\n".join([f"## {title}: {between}", "", prose(tally(pair, self._lang)), "", *sides])]
        table = self._table(("item", "result", "rows", "look"), [self._item(item) for item in pair.items])
        return [*head, *table, *(part for item in pair.items for part in self._details(item))]

    def _item(self, item: ComparedItem) -> Sequence[str]:
        status = say(self._lang, f"compare.status.{item.status}")
        marked = f"**{status}**" if item.status == "differs" else status
        look = prose(" ".join(item.look.split()), cell=True) if item.status == "unknown" else ""
        return prose(item.title, cell=True), marked, prose(told_answers(item, self._lang), cell=True), look

    def _details(self, item: ComparedItem) -> list[str]:
        """Both sides of an item that is not simply consistent."""
        rows = of_interest(item)
        places = unspoken(item) if item.status == "differs" else []
        if not rows and not places:
            return []
        parts = [f"### {prose(item.title)}"]
        if rows:
            parts += self._table(("what", "reference", "migrated"), [self._row(row) for row in rows])
        parts += ["\n".join(f"- {self._failure(one)}" for one in places)] if places else []
        return parts if len(parts) > 1 else []

    def _row(self, row: ComparedRow) -> Sequence[str]:
        what = prose(row.what, cell=True)
        if row.answer != "differs":
            what += say(self._lang, "aside", text=say(self._lang, f"compare.answer.{row.answer}"))
        return what, self._side(row.reference, "reference"), self._side(row.migrated, "migrated")

    def _side(self, side: ComparedSide | None, name: str) -> str:
        if side is None:
            return say(self._lang, "compare.absent")
        lines = [code(" ".join(side.text.split()) or "?", cell=True)]
        places = places_of(side)
        if places:
            shown = f"{self._roots.short(places[0].path, name)}:{places[0].span.line}"
            told = [
                self._link(shown, places[0].path, places[0].span.line),
                *(code(one, cell=True) for one in way(side)),
            ]
            lines.append(" → ".join(told))
        return "<br>".join(lines)

    def _failure(self, one: Evidence) -> str:
        place = self._link(f"{one.path}:{one.span.line}", one.path, one.span.line)
        return f"{place} {code(one.check)}".rstrip()

    def _link(self, shown: str, path: str, line: int) -> str:
        """The place, leading to its line where the file lies below the folder of the run."""
        plain = posixpath.normpath(path) if path else ""
        below = plain and not plain.startswith(("/", "..", "\\")) and plain[1:2] != ":"
        if not below:
            return code(shown, cell=True)
        address = quote(plain.encode("utf-8", "backslashreplace"), safe="/")
        return f"[{code(shown, cell=True)}]({self._sources + '/' if self._sources else ''}{address}#L{line})"

    def _table(self, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
        """A table of the rows that there is room for; without any, nothing."""
        titles = [say(self._lang, f"compare.heading.{word}") for word in heads]
        lines = [_line(titles), _line(["---"] * len(titles))]
        shown = []
        for row in map(_line, rows):
            self._room -= len(row.encode("utf-8", "backslashreplace")) + 1
            if self._room < 0:
                break
            shown.append(row)
        self.cut += len(rows) - len(shown)
        return ["\n".join([*lines, *shown])] if shown else []


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
