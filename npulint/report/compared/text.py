"""The comparison on a terminal: the items of each pair of programs, and below them both sides of what differs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from npulint.findings import ComparedItem, ComparedPair, ComparedRow, ComparedSide, Comparison, Evidence
from npulint.report.compared.rows import (
    SIDES,
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
from npulint.report.compared.table import ARROW, TableLine, drawn, fold, laid, widths
from npulint.report.terminal import Paint, cells, escape_control_chars, leading
from npulint.report.view import ReportView
from npulint.texts import count, say

_PAIRS = 3  # that are told in full
_LISTED = 10  # further ones that are named
_ROWS = 10  # of an item
_PLACES = 5  # of an item that no row tells
_WIDTH = 100  # cells when nobody tells the width
_NARROW = 64  # cells below which the sides stand below each other
_TALL = 4  # lines of one value
_INDENT = 4
_NUMBERS = 14  # cells that the numbers of an item have at least
_STATUS = {"consistent": "green", "differs": "red", "unknown": "yellow"}
_ORDER = {"differs": 0, "unknown": 1, "consistent": 2}
_ANSWER = {"differs": "red", "note": "cyan", "unknown": "yellow", "same": "dim"}


def blocks(comparison: Comparison, view: ReportView) -> list[list[str]]:
    """Blocks of lines: one for each pair of programs, one for what could not be compared."""
    pairs = differing_first(comparison.pairs)
    shown = pairs if view.verbose else pairs[:_PAIRS]
    seen: set[ComparedRow] = set()
    told = [_Writer(comparison, pair, view, seen).pair() for pair in shown]
    rest = alone(comparison, view.lang)
    if not comparison.pairs:
        rest.insert(0, say(view.lang, "compare.pairs.none"))
    width = view.width or 0
    lines = [part for line in rest for part in (fold(line, width) if width else [line])]
    return [*told, _more(comparison, pairs[len(shown) :], view), lines]


def _more(comparison: Comparison, pairs: Sequence[ComparedPair], view: ReportView) -> list[str]:
    """A line for each of the next pairs, and how many there are."""
    if not pairs:
        return []
    roots, width = Roots(comparison), view.width or _WIDTH
    named = [[roots.short(getattr(pair, side), side) for side in SIDES] for pair in pairs[:_LISTED]]
    rows = [
        [[TableLine(one if one == other else f"{one} {ARROW} {other}")], [TableLine(tally(pair, view.lang), "dim")]]
        for (one, other), pair in zip(named, pairs, strict=False)
    ]
    columns = widths(rows, width - 2)
    lines = [f"  {line}" for row in rows for line in laid(row, columns, Paint(view.color))]
    return [*fold(count(view.lang, "compare.pairs.more", len(pairs)), width), *lines]


class _Writer:
    """Writes one pair. Rows that are `seen` already are only counted: programs share files."""

    def __init__(self, comparison: Comparison, pair: ComparedPair, view: ReportView, seen: set[ComparedRow]) -> None:
        self._pair = pair
        self._seen = frozenset(seen)
        seen.update(row for item in pair.items for row in item.rows if row.answer != "same")
        self._view = view
        self._lang = view.lang
        self._paint = Paint(view.color)
        self._roots = Roots(comparison, pair)
        self._width = view.width or _WIDTH

    def pair(self) -> list[str]:
        """Both programs, the items, both sides of what is not simply the same, and what is left out."""
        pair = self._pair
        title, told = say(self._lang, "compare.title"), say(self._lang, "aside", text=tally(pair, self._lang))
        head = [self._paint("bold", title) + told]
        if cells(title + told) > self._width:
            head = [
                self._paint("bold", title),
                *(f"  {part}" for part in fold(tally(pair, self._lang), self._width - 2)),
            ]
        lines = [*head, *self._programs(pair), "", *self._items(pair.items), *self._details(pair.items)]
        same = sum(item.same for item in pair.items)
        if same and not self._view.verbose:
            hint = count(self._lang, "compare.rows.same.hint", same)
            lines += ["", *(self._paint("dim", f"  {line}") for line in fold(hint, self._width - 2))]
        return lines

    def _say(self, key: str) -> str:
        return say(self._lang, f"compare.{key}")

    def _programs(self, pair: ComparedPair) -> list[str]:
        rows = []
        for side in ("reference", "migrated"):
            launcher = getattr(pair, f"{side}_launcher")
            told = described(
                getattr(pair, f"{side}_framework"), self._roots.short(launcher, side) if launcher else "", self._lang
            )
            entry = leading(getattr(pair, side))
            rows.append([[TableLine(self._say(side))], [TableLine(entry, "bold")], [TableLine(told, "dim")]])
        columns = widths(rows, self._width - 2)
        return [f"  {line}" for row in rows for line in laid(row, columns, self._paint)]

    def _items(self, items: Sequence[ComparedItem]) -> list[str]:
        """A line for each item: its status, its title, and how often which answer was given."""
        rows = [
            [
                [TableLine(self._say(f"status.{item.status}"), _STATUS.get(item.status, ""))],
                [TableLine(escape_control_chars(item.title))],
                [TableLine(told_answers(item, self._lang), "dim")],
            ]
            for item in items
        ]
        columns = self._item_columns(rows) if rows else []
        return [f"  {line}" for row in rows for line in laid(row, columns, self._paint)]

    def _item_columns(self, rows: Sequence[Sequence[Sequence[TableLine]]]) -> list[int]:
        """Titles are broken after the numbers are."""
        status, title, told = (max(cells(row[column][0].text) for row in rows) for column in range(3))
        room = self._width - status - 6
        title = min(title, max(room - told, room - _NUMBERS))
        return [status, title, max(1, min(told, room - title))]

    def _details(self, items: Sequence[ComparedItem]) -> list[str]:
        """What there is to say below each item, the columns the same for all of them."""
        chosen = [(item, [self._row(row) for row in self._chosen(item)]) for item in items]
        chosen.sort(key=lambda one: (not one[1], _ORDER.get(one[0].status, 0)))  # heads of columns stand above rows
        rows = [row for _, found in chosen for row in found]
        beside = self._width >= _NARROW
        heads = [
            [TableLine(say(self._lang, f"compare.heading.{word}"), "dim")] for word in ("what", "reference", "migrated")
        ]
        columns = widths([heads, *rows], self._width - _INDENT)
        lines = []
        for item, found in chosen:
            told = [*self._look(item), *self._places(item)]
            for row in found:
                told += laid(row, columns, self._paint, _TALL) if beside else self._stacked(row)
            told += self._rest(item, len(found))
            if told:
                lines += ["", *self._heading(item), *(" " * _INDENT + line for line in told)]
        head = [" " * _INDENT + line for line in laid(heads, columns, self._paint)] if beside and rows else []
        return ["", *head, *lines[1:]] if head else lines

    def _heading(self, item: ComparedItem) -> list[str]:
        title = escape_control_chars(item.title)
        if item.status != "differs":
            title += say(self._lang, "aside", text=self._say(f"status.{item.status}"))
        return [f"  {self._paint('bold', line)}" for line in fold(title, self._width - 2)]

    def _chosen(self, item: ComparedItem) -> list[ComparedRow]:
        """The rows that are shown. What cannot be told is asked for where nothing else is known."""
        found = of_interest(item)
        if self._view.verbose:
            return [*found, *(row for row in item.rows if row.answer == "same")]
        fresh = [row for row in found if row not in self._seen]
        return [row for row in fresh if row.answer != "unknown" or item.status == "unknown"][:_ROWS]

    def _rest(self, item: ComparedItem, shown: int) -> list[str]:
        """How many rows are told above, and how many are left out."""
        found = of_interest(item)
        above = 0 if self._view.verbose else sum(row in self._seen for row in found)
        numbers = (("above", above), ("more", len(found) - shown - above))
        return [self._paint("dim", count(self._lang, f"compare.rows.{word}", n)) for word, n in numbers if n > 0]

    def _look(self, item: ComparedItem) -> list[str]:
        if item.status != "unknown" or not item.look:
            return []
        text = escape_control_chars(" ".join(item.look.split()))
        return [self._paint("dim", line) for line in fold(text, self._width - _INDENT)]

    def _stacked(self, row: Sequence[Sequence[TableLine]]) -> list[str]:
        """A row on a narrow terminal: its sides below each other."""
        names = [TableLine(self._say(side), "dim") for side in ("reference", "migrated")]
        first = max(cells(name.text) for name in names)
        room = max(10, self._width - _INDENT - first - 4)
        what, *sides = row
        lines = [
            drawn(TableLine(part, one.color), self._paint)
            for one in what
            for part in fold(one.text, self._width - _INDENT)
        ]
        for name, side in zip(names, sides, strict=True):
            lines += [f"  {line}" for line in laid([[name], side], [first, room], self._paint, _TALL)]
        return lines

    def _row(self, row: ComparedRow) -> list[list[TableLine]]:
        color = _ANSWER.get(row.answer, "")
        what = escape_control_chars(row.what)
        if row.answer != "differs":
            what += say(self._lang, "aside", text=self._say(f"answer.{row.answer}"))
        sides = ((row.reference, "reference"), (row.migrated, "migrated"))
        return [
            [TableLine(what, "" if row.answer == "differs" else color)],
            *(self._side(one, name, color) for one, name in sides),
        ]

    def _side(self, side: ComparedSide | None, name: str, color: str) -> list[TableLine]:
        """The value, where it is written, and the names that it has on its way."""
        if side is None:
            return [TableLine(self._say("absent"), "dim")]
        lines = [
            TableLine(escape_control_chars(" ".join(side.text.split())) or "?", color if name == "migrated" else "")
        ]
        places = places_of(side)
        told = [f"{self._roots.short(one.path, name)}:{one.span.line}" for one in places[:1]]
        names = [escape_control_chars(one) for one in way(side)]
        if told:
            lines.append(TableLine(f" {ARROW} ".join([*told, *names]), "dim", self._address(places[0].path)))
        return lines

    def _places(self, item: ComparedItem) -> list[str]:
        """The places that make an item differ and that no row tells."""
        places = unspoken(item) if item.status == "differs" else []
        shown = places if self._view.verbose else places[:_PLACES]
        lines = [self._place(one) for one in shown]
        if len(places) > len(shown):
            lines.append(count(self._lang, "related.more", len(places) - len(shown)))
        return lines

    def _place(self, one: Evidence) -> str:
        place = TableLine(f"{leading(one.path)}:{one.span.line}", "dim", self._address(one.path))
        return f"{drawn(place, self._paint)}  {self._paint('dim', escape_control_chars(one.check))}".rstrip()

    def _address(self, path: str) -> str:
        if not self._view.links:
            return ""
        try:
            return Path(path).absolute().as_uri()
        except (OSError, ValueError):
            return ""
