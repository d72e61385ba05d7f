"""Positions of syntax nodes: the parser counts columns in bytes, findings in characters."""

from __future__ import annotations

import ast
from bisect import bisect_left

Placed = ast.stmt | ast.expr | ast.keyword | ast.alias | ast.arg | ast.excepthandler | ast.pattern
"""A syntax node with a position."""


class SourcePositions:
    """The positions in one text. Only nodes in lines with wide characters (`wide`) need conversion."""

    def __init__(self, text: str) -> None:
        self.wide = {} if text.isascii() else _wide_lines(text)
        self._continued: dict[int, list[int]] = {}

    def span(self, node: Placed) -> tuple[int, int, int, int]:
        """Line, column, end line, end column of a node, columns from 1 in characters."""
        line, column = node.lineno, node.col_offset
        end, stop = node.end_lineno or line, node.end_col_offset or column
        if line in self.wide or end in self.wide:
            column = self._characters(line, column)
            stop = self._characters(end, stop)
        return line, column + 1, end, stop + 1

    def _characters(self, line: int, offset: int) -> int:
        wide = self.wide.get(line)
        if wide is None:
            return offset
        continued = self._continued.get(line)
        if continued is None:
            encoded = wide.encode("utf-8", "replace")
            continued = self._continued[line] = [i for i, byte in enumerate(encoded) if byte & 0xC0 == 0x80]
        return offset - bisect_left(continued, offset)

    def place(self, node: Placed) -> tuple[int, int, int]:
        """Line, column and end column; a node that ends in another line has length one."""
        line, column, last, end = self.span(node)
        return line, column, end if last == line else column + 1


def _wide_lines(text: str) -> dict[int, str]:
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return {number: line for number, line in enumerate(lines, 1) if not line.isascii()}
