"""Finds the syntax nodes of values that the records of a source hold, as `npulint.read.python.walk` made them."""

from __future__ import annotations

import ast
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import Final, TypeVar

from npulint.facts.code import Code, Op, SequenceDisplay, Table, Unknown, Value

# Positions of syntax nodes: the parser counts columns in bytes, findings in characters.

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


_DEEP: Final = 60
_Position = tuple[int, int, int, int]
_Key = TypeVar("_Key")
_Node = TypeVar("_Node")


def nodes_of(code: Code, tree: ast.Module, text: str) -> dict[int, ast.expr]:
    """The expression node of each value in the records of a source, by the identity of the value: arguments of calls,
    assigned and returned values, defaults and conditions, with their parts. A value that cannot be assigned to one
    node for sure is left out."""
    pairs = _Pairs(code, tree, text)
    for value, node in pairs:
        pairs.align(value, node, 0)
    return pairs.nodes


class _Pairs:
    """Values and the nodes at their positions."""

    def __init__(self, code: Code, tree: ast.Module, text: str) -> None:
        self._code, self._positions = code, SourcePositions(text)
        self._calls: dict[_Position, ast.Call] = {}
        self._assigned: dict[_Position, ast.expr] = {}
        self._returned: dict[int, ast.expr | None] = {}
        self._blocks: dict[tuple[str, int], ast.AST | None] = {}
        self.nodes: dict[int, ast.expr] = {}
        for node in ast.walk(tree):
            self._add(node)

    def _add(self, node: ast.AST) -> None:
        if isinstance(node, ast.Call):
            self._calls[self._positions.span(node)] = node
        elif isinstance(node, ast.Assign):
            for target in node.targets:
                self._add_target(target, node.value)
        elif isinstance(node, ast.AnnAssign) and node.value is not None:
            self._add_target(node.target, node.value)
        elif isinstance(node, ast.NamedExpr):
            self._assigned[self._positions.span(node)] = node.value
        elif isinstance(node, ast.Return):
            self._note(self._returned, node.lineno, node.value)
        elif isinstance(node, ast.If | ast.While):
            self._note(self._blocks, (_KINDS[type(node)], node.lineno), node)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            self._note(self._blocks, ("function", node.lineno), node)

    def _add_target(self, target: ast.expr, value: ast.expr) -> None:
        if isinstance(target, ast.Tuple | ast.List):
            if isinstance(value, ast.Tuple | ast.List | ast.Set) and len(value.elts) == len(target.elts):
                for inner, part in zip(target.elts, value.elts, strict=True):
                    self._add_target(inner, part)
        else:
            self._assigned[self._positions.span(target)] = value

    @staticmethod
    def _note(nodes: dict[_Key, _Node | None], key: _Key, node: _Node | None) -> None:
        """Keep a node that is the only one in its line."""
        nodes[key] = None if key in nodes else node

    def __iter__(self) -> Iterator[tuple[Value, ast.expr]]:
        code = self._code
        for call in code.calls:
            node = self._calls.get((call.line, call.column, call.end_line, call.end_column))
            if node is not None and len(node.args) == len(call.args) and len(node.keywords) == len(call.keywords):
                yield from zip(call.args, node.args, strict=True)
                yield from ((value, key.value) for (_, value), key in zip(call.keywords, node.keywords, strict=True))
        for bind in code.assignments:
            assigned = self._assigned.get((bind.line, bind.column, bind.end_line, bind.end_column))
            if assigned is not None:
                yield bind.value, assigned
        for return_record in code.returns:
            returned = self._returned.get(return_record.line)
            if returned is not None:
                yield return_record.value, returned
        yield from self._of_blocks()

    def _of_blocks(self) -> Iterator[tuple[Value, ast.expr]]:
        for block in self._code.blocks:
            node = self._blocks.get((block.kind, block.line))
            if isinstance(node, ast.If | ast.While):
                yield block.test, node.test
            elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                by_position = node.args.defaults
                named = [default for default in node.args.kw_defaults if node.args.kwonlyargs]
                for value, default in zip(block.defaults, [*by_position, *named], strict=False):
                    if default is not None:
                        yield value, default

    def align(self, value: Value, node: ast.expr, depth: int) -> None:
        """Note the node of a value, and those of its parts."""
        if isinstance(node, ast.FormattedValue | ast.Await):
            return self.align(value, node.value, depth)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.UAdd):
            return self.align(value, node.operand, depth)
        if not isinstance(value, Unknown):
            self.nodes[id(value)] = node
        values, parts = _parts_of(value), _parts_of_node(node)
        if len(values) == len(parts) and depth < _DEEP:
            for inner, part in zip(values, parts, strict=True):
                if inner is not None and part is not None:
                    self.align(inner, part, depth + 1)
        return None


_KINDS: Final = {ast.If: "if", ast.While: "loop"}


def _parts_of(value: Value) -> Sequence[Value | None]:
    """The operands, items or entries of a value."""
    if isinstance(value, SequenceDisplay):
        return value.items
    if isinstance(value, Table):
        return value.values
    if not isinstance(value, Op):
        return ()
    return value.operands[:1] if value.op == "." else value.operands


def _parts_of_node(node: ast.expr) -> Sequence[ast.expr | None]:
    """The same of a node, in the order in which the reader takes them."""
    if isinstance(node, ast.Tuple | ast.List | ast.Set):
        return node.elts
    if isinstance(node, ast.Dict):
        return node.values
    if isinstance(node, ast.BinOp):
        return node.left, node.right
    if isinstance(node, ast.BoolOp | ast.JoinedStr):
        return node.values
    if isinstance(node, ast.UnaryOp):
        return (node.operand,)
    if isinstance(node, ast.Compare):
        return node.left, *node.comparators
    if isinstance(node, ast.IfExp):
        return node.test, node.body, node.orelse
    if isinstance(node, ast.Subscript):
        return node.value, node.slice
    return (node.value,) if isinstance(node, ast.Attribute | ast.Starred) else ()
