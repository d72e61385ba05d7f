"""The rows of a comparison of steps, against what the comparison of the code says of their lines."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Final

import msgspec

from npulint.commands.compare.code_changes.found_changes import Change, Compared
from npulint.facts.comparison.difference import Difference, SideValue

_LONG: Final = 50  # lines of a place
_CALCULATED: Final = frozenset(
    """arithmetic operation loss schedule learning_rate update average layer transform regularisation dropout
    weight_decay""".split()
)
"""Parts of which it is known whether trees of code mean the same."""

Lines = tuple[str, int, int]
"""A path with the first and the last line of a place."""


class ToldRows:
    """The rows that name differences, by the lines that they are about."""

    def __init__(self, rows: Iterable[Difference]) -> None:
        self._rows: dict[int, Difference] = dict(enumerate(rows))
        self._lines: dict[tuple[str, int], list[int]] = defaultdict(list)
        for at, row in self._rows.items():
            if row.change != "none" and row.part != "ranks":  # what is done with a number of devices is told itself
                for path, first, last in _places(row):
                    for line in range(first, min(last, first + _LONG) + 1):
                        self._lines[path, line].append(at)

    @property
    def rows(self) -> list[Difference]:
        """All rows that are left."""
        return list(self._rows.values())

    def drop_equal(self, path: str, other: str, compared: Compared) -> None:
        """Leave out the rows about lines that do the same on both sides: they are written in another way."""
        equal = {
            (place, line)
            for place, lines in zip((path, other), compared.same, strict=True)
            for first, last in lines
            for line in range(first, last + 1)
        }
        for change in compared.changes:
            for place, first, last in _lines_of(change):
                equal -= {(place, line) for line in range(first, last + 1)}
        for at in {at for line in equal for at in self._lines.get(line, ())}:
            row = self._rows.get(at)
            if row is not None and _is_of_code(row, compared.whole) and set(_own_lines(row)) <= equal:
                del self._rows[at]

    def covers(self, change: Change) -> bool:
        """Whether a row tells a change. Where the code makes the change certain and none of its rows is, one of them
        is made so."""
        found = [
            at
            for path, first, last in _lines_of(change)
            for line in range(first, last + 1)
            for at in self._lines.get((path, line), ())
            if at in self._rows
        ]
        rows = [self._rows[at] for at in found]
        if change.certain and not any(row.certain and row.change != "unknown" for row in rows):
            for at, row in zip(found, rows, strict=True):
                if row.change != "unknown" and not row.effect and not row.adapter and not _measures(row):
                    self._rows[at] = msgspec.structs.replace(row, certain=True)
                    break
        return bool(found)


def _measures(row: Difference) -> bool:
    """Whether a row is about an evaluation, which changes nothing that is trained."""
    return row.evaluates or row.part == "evaluation"


def _is_of_code(row: Difference, whole: bool) -> bool:
    """Whether a row is about how something is calculated, not about a value that comes from elsewhere."""
    sides = [side for side in (row.reference, row.migrated) if side is not None]
    if row.part not in _CALCULATED or row.adapter or row.change == "none" or any(side.provenance for side in sides):
        return False
    if row.change == "reordered":
        return whole
    return not (row.certain and row.argument)  # the values of an argument that is known to differ are known


def _own_lines(row: Difference) -> Iterator[tuple[str, int]]:
    for path, first, last in _places(row):
        yield from ((path, line) for line in (first, last))


def _places(row: Difference) -> Iterator[Lines]:
    for left, right in ((row.reference, row.migrated), *row.also):
        for side in (left, right):
            if side is not None:
                yield from _places_of(side)


def _places_of(side: SideValue) -> Iterator[Lines]:
    yield side.path, side.span.line, side.span.end_line
    yield from ((step.path, step.span.line, step.span.end_line) for step in side.provenance)


def _lines_of(change: Change) -> Iterator[Lines]:
    """The lines of the differing code."""
    for home, statement, tree in (
        (change.home, change.left, change.left_tree),
        (change.other, change.right, change.right_tree),
    ):
        if statement is None or tree is None:
            continue
        node = tree.node
        if isinstance(node, ast.expr) and tree is not statement.tree:
            yield home[0], node.lineno, node.end_lineno or node.lineno
        else:
            yield home[0], *statement.lines
