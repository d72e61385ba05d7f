"""The content of comparison reports, independent of the format."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from npulint.core.texts import count, known, say
from npulint.facts.comparison.difference import EFFECTS, WEAK, rank
from npulint.judge.findings import ComparedItem, ComparedPair, ComparedRow, ComparedSide, Comparison, Evidence
from npulint.report.compared.rows import ANSWERS, SIDES, ShortSidePaths, differing_first, places_of, tally
from npulint.report.document.model import (
    Checklist,
    ChecklistEntry,
    DifferenceRow,
    PlaceCell,
    ProgramEntry,
    Status,
    ValueCell,
)
from npulint.report.terminal import escape_control_chars

_ROWS = 10  # of an item in a brief report
_ALSO = 2  # further places of a row
_STATIONS = 6  # names through which a value is passed


def checklists(
    comparison: Comparison,
    lang: str,
    pairs: int | None = None,
    *,
    brief: bool = False,
    weak: bool = True,
    rows: int | None = None,
) -> Iterator[Checklist]:
    """Checklists of the first `pairs` pairs of programs with the first `rows` rows (None: all). A `brief` report shows
    the first rows of each item, without rows of earlier pairs (programs share files), and counts the others. `weak`
    includes differences with little effect on the loss."""
    builder = _Builder(comparison, lang, brief, weak, rows)
    return map(builder.checklist, differing_first(comparison.pairs)[:pairs])


class _Builder:
    """Builds checklists one by one: `seen` are the rows of earlier pairs, `left` is the remaining number of rows."""

    def __init__(self, comparison: Comparison, lang: str, brief: bool, weak: bool, left: int | None) -> None:
        self._comparison = comparison
        self._roots = ShortSidePaths(comparison)
        self._lang = lang
        self._brief = brief
        self._weak = weak
        self._left = left
        self._seen: set[ComparedRow] = set()

    def checklist(self, pair: ComparedPair) -> Checklist:
        self._roots = ShortSidePaths(self._comparison, pair)
        programs = [self._program(pair, side) for side in SIDES]
        items = [self._item(item) for item in pair.items]
        hidden = sum(map(self._is_hidden, {row for item in pair.items for row in item.rows}))
        if self._brief:
            self._seen.update(row for item in pair.items for row in item.rows if row.answer != "same")
        return Checklist(
            say(self._lang, "compare.title"),
            tally(pair, self._lang),
            programs,
            items,
            say(self._lang, f"compare.why.{pair.why}") if pair.why else "",
            count(self._lang, "compare.rows.hidden", hidden) if hidden else "",
        )

    def _is_hidden(self, row: ComparedRow) -> bool:
        """Whether a row is left out because its difference has little effect on the loss."""
        aside = row.effect in WEAK or (row.effect == "measured" and row.answer == "note")
        return not self._weak and row.answer != "same" and aside

    def _program(self, pair: ComparedPair, side: str) -> ProgramEntry:
        launcher = getattr(pair, f"{side}_launcher")
        started = self._roots.short(launcher, side) if launcher else ""
        traits = _described(getattr(pair, f"{side}_framework"), started, self._lang)
        return ProgramEntry(side, getattr(pair, side), traits)

    def _item(self, item: ComparedItem) -> ChecklistEntry:
        rows, notes = self._chosen(item) if self._brief else (self._of_interest(item), ())
        same = [] if self._brief else [row for row in item.rows if row.answer == "same"]
        failures = _unspoken(item) if item.status == "differs" else []
        return ChecklistEntry(
            item.item,
            item.title,
            Status(item.status, say(self._lang, f"compare.status.{item.status}")),
            _numbers(item, self._lang),
            " ".join(item.look.split()) if item.status == "unknown" else "",
            [PlaceCell(failure.path, failure.span, check=failure.check, code=failure.code) for failure in failures],
            self._differences(rows),
            self._differences(same),
            notes,
            item.same,
            min((rank(row.effect) for row in rows if row.answer == "differs"), default=len(EFFECTS)),
        )

    def _of_interest(self, item: ComparedItem) -> list[ComparedRow]:
        """The rows to show: those that differ, then notes, then the undetermined ones, each by their effect."""
        order = {word: place for place, word in enumerate(ANSWERS)}
        rows = (row for row in item.rows if row.answer != "same" and not self._is_hidden(row))
        return sorted(rows, key=lambda row: (order.get(row.answer, 0), rank(row.effect)))

    def _chosen(self, item: ComparedItem) -> tuple[Sequence[ComparedRow], Sequence[str]]:
        """The rows to show, and notes on how many are left out. Unknown rows are shown only when all rows are."""
        compared_rows, seen = self._of_interest(item), self._seen
        fresh = [
            row for row in compared_rows if row not in seen and (row.answer != "unknown" or item.status == "unknown")
        ]
        above = sum(row in seen for row in compared_rows)
        numbers = (("above", above), ("more", len(compared_rows) - len(fresh[:_ROWS]) - above))
        return fresh[:_ROWS], [count(self._lang, f"compare.rows.{word}", n) for word, n in numbers if n > 0]

    def _differences(self, rows: Sequence[ComparedRow]) -> Sequence[DifferenceRow]:
        kept = rows[: self._left]
        self._left = None if self._left is None else self._left - len(kept)
        return [
            DifferenceRow(
                row.what,
                row.answer,
                self._value(row.reference, "reference", row.code),
                self._value(row.migrated, "migrated", row.code),
                say(self._lang, f"compare.effect.{row.effect}") if row.effect and row.answer != "same" else "",
                self._also(row),
            )
            for row in kept
        ]

    def _also(self, row: ComparedRow) -> str:
        """Where else the same difference is."""
        both = row.also if row.answer != "same" else ()
        sides = [compared_side for left, right in both if (compared_side := right or left) is not None]
        if not sides:
            return ""
        places = [escape_control_chars(f"{self._short(side)}:{side.span.line}") for side in sides[:_ALSO]]
        more = [count(self._lang, "compare.also.more", len(sides) - _ALSO)] if len(sides) > _ALSO else []
        return say(self._lang, "compare.also", list=say(self._lang, "list.and").join([*places, *more]))

    def _short(self, side: ComparedSide) -> str:
        return next((short for name in SIDES if (short := self._roots.short(side.path, name)) != side.path), side.path)

    def _value(self, side: ComparedSide | None, name: str, code: str) -> ValueCell | None:
        if side is None:
            return None
        place = next(
            (
                PlaceCell(related.path, related.span, self._roots.short(related.path, name), code=code)
                for related in places_of(side)
            ),
            None,
        )
        return ValueCell(" ".join(side.text.split()) or "?", place, way(side))


def _numbers(item: ComparedItem, lang: str) -> str:
    """``2 differ, 1 note, 14 same``; empty when nothing was compared."""
    answers = Counter(row.answer for row in item.rows)
    answers["same"] = max(answers["same"], item.same)
    return say(lang, "list.and").join(
        count(lang, f"compare.rows.{word}", answers[word]) for word in ANSWERS if answers[word]
    )


def _unspoken(item: ComparedItem) -> list[Evidence]:
    """The places that make an item differ without being in any of its rows."""
    named = {
        (place.path, place.span.line)
        for row in item.rows
        if row.answer != "same"
        for side in (row.reference, row.migrated, row.near)
        if side is not None
        for place in places_of(side)
    }
    return [failure for failure in item.failures if (failure.path, failure.span.line) not in named]


def way(side: ComparedSide) -> list[str]:
    """The names through which a value is passed, without its own: ``--lr``, ``args.lr``."""
    names = [place.message for place in places_of(side)[1:] if place.message]
    stations = [name for index, name in enumerate(names) if index == 0 or names[index - 1] != name]
    return stations if len(stations) <= _STATIONS else [*stations[: _STATIONS - 2], "...", stations[-1]]


def _described(framework: str, launcher: str, lang: str) -> str:
    """The framework and the launcher of a program."""
    words = []
    if framework not in ("", "none", "unknown"):
        key = f"framework.{framework}"
        words.append(say(lang, key) if known(key) else escape_control_chars(framework))
    started = (
        say(lang, "compare.started", path=escape_control_chars(launcher))
        if launcher
        else say(lang, "compare.started.alone")
    )
    return say(lang, "list.and").join([*words, started])
