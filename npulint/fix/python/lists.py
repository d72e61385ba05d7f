"""Adds and removes elements of comma-separated lists (arguments, imported names) in their formatting."""

from __future__ import annotations

from collections.abc import Sequence

from npulint.fix.python.lexing import Lexed
from npulint.fix.python.tree import Range, Tree
from npulint.judge.findings import Edit

_LIMIT = 120  # maximum line length


class ListElements:
    """The elements of a list, with parentheses, between `begin` and `end` (inside the brackets)."""

    def __init__(self, tree: Tree, tokens: Lexed, elements: Sequence[Range], begin: int, end: int) -> None:
        self._tree = tree
        self._tokens = tokens
        self._elements = elements
        self._begin = begin
        self._end = end

    def changed(self, dropped: set[int], added: Sequence[str]) -> list[Edit]:
        """The edits that remove the elements with these indices and append others."""
        kept = [number for number in range(len(self._elements)) if number not in dropped]
        if not kept:
            return self._refilled(added)
        edits: list[Edit] = []
        number = 0
        while number < len(self._elements):
            if number not in dropped:
                number += 1
                continue
            first = number
            while number in dropped:
                number += 1
            if number < len(self._elements):
                edits.append(self._without(first, number))
            else:
                edits.append(self._without_last(first))
        return edits + (self._appended(kept[-1], added, bool(dropped)) if added else [])

    def _refilled(self, added: Sequence[str]) -> list[Edit]:
        if not self._elements:
            start = self._begin if not self._tokens.comment_in(self._begin, self._end) else self._end
            return [self._tree.edit(start, start, ", ".join(added))] if added else []
        start, end = self._elements[0][0], self._behind(len(self._elements) - 1)
        line_end = self._tree.line_end(end) if self._alone(0, len(self._elements) - 1) else end
        commented = self._tokens.comment_in(self._begin, start) or self._tokens.comment_in(line_end, self._end)
        if not added and not commented:
            start, end = self._begin, self._end
        return [self._tree.edit(start, end, ", ".join(added))]

    def _comma(self, number: int) -> Range:
        """The comma after an element; (-1, -1) if none."""
        token = self._tokens.after(self._elements[number][1])
        return token if self._tokens.text(token) == "," and token[1] <= self._end else (-1, -1)

    def _behind(self, number: int) -> int:
        """The end of an element including its comma."""
        comma = self._comma(number)
        return comma[1] if comma[0] >= 0 else self._elements[number][1]

    def _alone(self, first: int, last: int) -> bool:
        """Whether elements occupy whole lines."""
        if not self._tree.leads(self._elements[first][0]):
            return False
        following = self._tokens.after(self._behind(last))
        return following[0] < 0 or self._tree.line_of(following[0]) > self._tree.line_of(self._behind(last))

    def _without(self, first: int, following: int) -> Edit:
        """The edit that removes elements before others."""
        start, end = self._elements[first][0], self._elements[following][0]
        if self._alone(first, following - 1):
            return self._lines(start, self._behind(following - 1))
        if self._tokens.comment_in(start, end):
            end = self._behind(following - 1)
        return self._tree.edit(start, end, "")

    def _without_last(self, first: int) -> Edit:
        """The edit that removes trailing elements, with their lines or the comma before them."""
        last = len(self._elements) - 1
        if self._alone(first, last):
            if self._comma(last)[0] >= 0:
                return self._lines(self._elements[first][0], self._behind(last))
            following = self._tokens.after(self._elements[last][1])
            if self._tree.leads(following[0]):
                if self._tokens.comment_in(self._elements[first - 1][1], self._elements[first][0]):
                    return self._lines(self._elements[first][0], self._elements[last][1])
                return self._tree.edit(self._elements[first - 1][1], self._line_end(self._elements[last][1]), "")
        start, end = self._elements[first - 1][1], self._elements[last][1]
        if self._tokens.comment_in(start, end):
            start = self._behind(first - 1)
            if self._tokens.comment_in(start, self._elements[first][0]):
                start = self._elements[first][0]
            end = self._behind(last)
        return self._tree.edit(start, end, "")

    def _line_end(self, place: int) -> int:
        return min(self._tree.line_end(place), self._end)

    def _lines(self, start: int, end: int) -> Edit:
        return self._tree.edit(self._tree.line_start(start), self._tree.line_end(end) + 1, "")

    def _appended(self, last: int, added: Sequence[str], dropped: bool) -> list[Edit]:
        """The edits that append elements after the last remaining one."""
        start, end = self._elements[last]
        comma = (-1, -1) if dropped else self._comma(last)
        text = ", ".join(added)
        following = self._tokens.after(max(end, comma[1]))
        broken = following[0] >= 0 and self._tree.line_of(following[0]) > self._tree.line_of(end)
        if not self._in_lines() or dropped or not (broken or following[0] == self._end):
            return [self._tree.edit(end, end, self._continued(start, end, text))]
        lines = [f"\n{self._tree.indent(start)}{written}" for written in added]
        if comma[0] < 0:
            line_end = self._tree.line_end(end)
            if not broken or not self._tokens.comment_in(end, line_end):
                return [self._tree.edit(end, end, "".join(f",{line}" for line in lines))]
            return [self._tree.edit(end, end, ","), self._tree.edit(line_end, line_end, ",".join(lines))]
        line_end = self._tree.line_end(comma[1]) if broken else comma[1]
        return [self._tree.edit(line_end, line_end, "".join(f"{line}," for line in lines))]

    def _in_lines(self) -> bool:
        """Whether each element has its own line; the first may follow the bracket."""
        starts = [start for start, _ in self._elements]
        return all(map(self._tree.leads, starts[1:] or starts))

    def _width(self, end: int) -> int:
        """The width of the code in the line of an offset."""
        start, stop = self._tree.line_start(end), self._tree.line_end(end)
        comment = next((begin for begin, _ in self._tree.lexed.comments if start <= begin < stop), stop)
        return len(self._tree.source[start:comment].rstrip())

    def _continued(self, start: int, end: int, text: str) -> str:
        """The text appended to a line, or on a new line below the first element if it would be too long; comments do
        not count."""
        width = self._width(end)
        if not _LIMIT - len(text) - 2 < width <= _LIMIT or not self._elements or self._begin < 0:
            return f", {text}"
        first = self._elements[0][0]
        indent = self._tree.source[self._tree.line_start(first) : first]
        if len(indent) + len(text) > _LIMIT:
            return f", {text}"
        blanks = "".join(char if char in "\t\f" else " " for char in indent)
        return f",\n{blanks}{text}"
