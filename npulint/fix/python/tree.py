"""A source with its syntax tree: nodes by place, and places and surroundings of nodes."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cached_property, lru_cache
from typing import Any

from npulint.facts.model import Span
from npulint.fix.model import FixRefused, Text
from npulint.fix.python.lexing import Lexed, parts_of
from npulint.fix.verify import syntax
from npulint.judge.findings import Edit

Range = tuple[int, int]
"""Offsets in a text: start, and end (exclusive)."""
Holder = tuple[ast.AST, str]
"""The parent of a node, and the name of the field by which it holds the node."""


class Tree:
    """A parsed text. All places are offsets in it; use `tree_of`, which caches."""

    def __init__(self, text: Text) -> None:
        self.path = text.path
        self.source = text.text
        self.module = parsed(text.text)
        self.lines = text.text.split("\n")
        self.starts = [0]
        for line in self.lines[:-1]:
            self.starts.append(self.starts[-1] + len(line) + 1)
        self._regions: dict[Range, Lexed] = {}
        self._bytes: dict[int, bytes] = {}
        self._near: dict[ast.AST, Holder] = {}  # what `innermost` has come across

    @cached_property
    def lexed(self) -> Lexed:
        """The tokens of the text."""
        return Lexed(self.source, 0, len(self.source))

    @cached_property
    def nodes(self) -> list[tuple[int, int, ast.AST]]:
        """The nodes that have a place, with their ranges: parents before children, in text order."""
        return [(*self.range(node), node) for node in (self.module, *self._holders) if hasattr(node, "lineno")]

    @cached_property
    def _holders(self) -> dict[ast.AST, Holder]:
        """From each node but the module to what holds it; parents before children, in text order."""
        holders: dict[ast.AST, Holder] = {}
        stack: list[tuple[ast.AST, Holder | None]] = [(self.module, None)]
        while stack:
            node, holder = stack.pop()
            if holder is not None:
                holders[node] = holder
            stack += reversed(list(_held_by(node)))
        return holders

    @cached_property
    def _exact(self) -> dict[Range, list[ast.AST]]:
        exact: dict[Range, list[ast.AST]] = {}
        for start, end, node in self.nodes:
            exact.setdefault((start, end), []).append(node)
        return exact

    # -- places ---------------------------------------------------------------------------------

    def _offset(self, line: int, column: int) -> int:
        text = self.lines[line - 1] if 0 < line <= len(self.lines) else ""
        if not text.isascii():
            encoded = self._bytes.get(line)
            if encoded is None:
                encoded = self._bytes[line] = text.encode("utf-8", "replace")
            column = len(encoded[:column].decode("utf-8", "ignore"))
        return self.starts[min(line, len(self.starts)) - 1] + column

    def range(self, node: Any) -> Range:
        """The range of a node, without parentheses around it."""
        return self._offset(node.lineno, node.col_offset), self._offset(node.end_lineno, node.end_col_offset)

    def text(self, node: ast.AST) -> str:
        """The source of a node."""
        start, end = self.range(node)
        return self.source[start:end]

    def line_of(self, place: int) -> int:
        """The line number of an offset, from 1."""
        from bisect import bisect_right

        return bisect_right(self.starts, place)

    def line_start(self, place: int) -> int:
        """The start offset of the line of an offset."""
        return self.starts[self.line_of(place) - 1]

    def line_end(self, place: int) -> int:
        """The end offset of the line of an offset, without line end."""
        line = self.line_of(place)
        return self.starts[line - 1] + len(self.lines[line - 1])

    def indent(self, place: int) -> str:
        """The indentation of the line of an offset."""
        line = self.lines[self.line_of(place) - 1]
        return line[: len(line) - len(line.lstrip(" \t\f"))]

    def leads(self, place: int) -> bool:
        """Whether only blanks precede an offset in its line."""
        return not self.source[self.line_start(place) : place].strip(" \t\f")

    def edit(self, start: int, end: int, text: str) -> Edit:
        """The edit that replaces the range by `text`."""
        first, last = self.line_of(start), self.line_of(end)
        span = Span(first, start - self.starts[first - 1] + 1, last, end - self.starts[last - 1] + 1)
        return Edit(self.path, span, text)

    def apart(self, start: int, end: int, text: str) -> str:
        """`text` for a range, with blanks where it would merge with a neighbouring word: ``if(x)``."""
        if text and start and _is_word(self.source[start - 1]) and (_is_word(text[0]) or text[0] in "'\""):
            text = f" {text}"
        if text and _is_word(text[-1]) and _is_word(self.source[end : end + 1]):
            text = f"{text} "
        return text

    @cached_property
    def quotes(self) -> list[tuple[int, int, str]]:
        """The single-line string literals with their quotes."""
        literals = ((start, end, parts_of(self.source, start)[1]) for start, end in self.lexed.strings)
        return [(start, end, quote) for start, end, quote in literals if len(quote) == 1]

    # -- nodes ----------------------------------------------------------------------------------

    def parent(self, node: ast.AST) -> ast.AST:
        """The parent of a node; the module is its own."""
        return self._holder(node)[0]

    def field(self, node: ast.AST) -> str:
        """The name of the field by which the parent holds this node."""
        return self._holder(node)[1]

    def _holder(self, node: ast.AST) -> Holder:
        return self._near.get(node) or self._holders.get(node, (node, ""))

    def innermost(self, start: int, end: int) -> ast.AST:
        """The smallest node that covers a range, of equal ones the outermost; raises `FixRefused` without one. It looks
        at the nodes around the range only, so that a text of which one place is of interest is not walked."""
        best: tuple[int, ast.AST] | None = None
        stack: list[ast.AST] = [self.module]
        while stack:
            for node, holder in _held_by(stack.pop()):
                self._near[node] = holder
                if not hasattr(node, "lineno"):
                    stack.append(node)
                    continue
                begin, stop = self.range(node)
                covers = begin <= start and end <= stop
                if covers and (best is None or stop - begin < best[0]):
                    best = (stop - begin, node)
                if covers or getattr(node, "decorator_list", None):  # decorators stand before what they decorate
                    stack.append(node)
        if best is None:
            raise FixRefused("place")
        return best[1]

    def statement(self, node: ast.AST) -> ast.stmt:
        """The statement that a node belongs to."""
        while not isinstance(node, ast.stmt):
            if node is self.module:
                raise FixRefused("place")
            node = self.parent(node)
        return node

    def block(self, statement: ast.stmt) -> list[ast.stmt]:
        """The statements of the block that contains one."""
        parent, field = self._holder(statement)
        block: list[ast.stmt] = getattr(parent, field)
        return block

    def exactly_at(self, span: Span) -> ast.AST:
        """The node at exactly this place, one that begins there and spans lines, or a multi-line call that ends there;
        raises `FixRefused` for any other."""
        start, end = self.offsets(span)
        is_exact = self._exact.get((start, end)) is not None or (end - start == 1 and self._begun(start) is not None)
        return self.at(span) if is_exact or self._ends_call(start, end) else _no_place()

    def _ends_call(self, start: int, end: int) -> bool:
        """Whether a place is the end of a multi-line call, where facts about its last part are placed."""
        node = self._covering(start, end)
        begin, stop = self.range(node) if hasattr(node, "lineno") else (start, start)
        return isinstance(node, ast.Call) and stop == end and self.line_of(begin) != self.line_of(end)

    def at(self, span: Span) -> ast.AST:
        """The node for a fact at this place: the node exactly there (the outermost of several, except statements), the
        statement of a line, or the innermost node that covers it."""
        start, end = self.offsets(span)
        if start == end:
            return self._of_line(span)
        exact = self._exact.get((start, end))
        if exact is not None:
            return next((node for node in exact if not isinstance(node, ast.Expr | ast.pattern)), exact[0])
        if end - start == 1:
            return self._begun(start) or self._of_line(span)
        return self._covering(start, end)

    def offsets(self, span: Span) -> Range:
        """A span as offsets; raises `FixRefused` if the text has no such place."""
        if not 0 < span.line <= span.end_line <= len(self.lines):
            raise FixRefused("place")
        start = self.starts[span.line - 1] + span.column - 1
        end = self.starts[span.end_line - 1] + span.end_column - 1
        if not start <= end <= len(self.source):
            raise FixRefused("place")
        return start, end

    def _of_line(self, span: Span) -> ast.AST:
        statements = [node for _, _, node in self.nodes if isinstance(node, ast.stmt) and node.lineno == span.line]
        if len(statements) > 1 and any(other in self.block(statements[0]) for other in statements[1:]):
            raise FixRefused("ambiguous")
        return statements[0] if statements else self._covering(*self.offsets(span))

    def _begun(self, start: int) -> ast.AST | None:
        """The multi-line node that begins at an offset; facts cover only its first character."""
        for begin, end, node in self.nodes:
            if begin == start and self.line_of(end) != self.line_of(start):
                if isinstance(node, ast.Import | ast.ImportFrom):
                    return node
                if isinstance(node, ast.Attribute) and is_dotted(node):
                    return node
        return None

    def _covering(self, start: int, end: int) -> ast.AST:
        best: tuple[int, ast.AST] | None = None
        for begin, stop, node in self.nodes:
            if begin <= start and end <= stop and (best is None or stop - begin <= best[0]):
                best = (stop - begin, node)
        if best is None:
            raise FixRefused("place")
        return best[1]

    # -- tokens ---------------------------------------------------------------------------------

    def tokens(self, node: ast.AST) -> Lexed:
        """The tokens around a node. Raises `FixRefused` (``f-string``) where a node in an f-string cannot be located,
        because Python versions report different places."""
        return self._in_field(node) if self._is_formatted(node) else self.lexed

    def tokens_of(self, node: ast.AST) -> Lexed:
        """The tokens of a node, without those around it unless `tokens` has them; raises what that raises."""
        if self._is_formatted(node):
            return self._in_field(node)
        return self.lexed if "lexed" in self.__dict__ else Lexed(self.source, *self.range(node))

    def _is_formatted(self, node: ast.AST) -> bool:
        """Whether a node is part of an f-string."""
        while not isinstance(node, ast.stmt | ast.Module):
            node = self.parent(node)
            if isinstance(node, _FORMATTED):
                return True
        return False

    def _in_field(self, node: ast.AST) -> Lexed:
        start, end = self.range(node)
        field = self.field_at(start, end)
        shown = field is not None and self.source[field[0] : field[1]].rstrip().endswith("=")  # with its own source
        if field is None or shown or not _same(self.source[start:end], node):
            raise FixRefused("f-string")
        if field not in self._regions:
            self._regions[field] = Lexed(self.source, *field)
        return self._regions[field]

    def field_at(self, start: int, end: int) -> Range | None:
        """The innermost f-string expression that contains a range."""
        fields = [field for field in self.lexed.fields if field[0] <= start and end <= field[1]]
        return min(fields, key=lambda field: field[1] - field[0], default=None)

    def outer(self, node: ast.AST) -> Range:
        """The range of a node including parentheses that do not belong to a call or class."""
        start, end = self.range(node)
        tokens = self.tokens(node)
        parent = self.parent(node)
        limit = -1
        if isinstance(parent, ast.keyword):
            limit = self.range(parent)[0]
        elif isinstance(parent, ast.Call) and node is not parent.func:
            limit = self.opening(parent)
        elif isinstance(parent, ast.ClassDef):
            return start, end
        while True:
            before, after = tokens.before(start), tokens.after(end)
            if tokens.text(before) != "(" or tokens.text(after) != ")" or before[0] <= limit:
                return start, end
            start, end = before[0], after[1]

    def opening(self, call: ast.Call) -> int:
        """The offset of the opening parenthesis of a call."""
        tokens = self.tokens(call)
        end = self.range(call.func)[1]
        while True:
            token = tokens.after(end)
            if tokens.text(token) == "(":
                return token[0]
            if tokens.text(token) != ")":
                raise FixRefused("place")
            end = token[1]

    @property
    def unit(self) -> str:
        """The indentation unit of the text."""
        for _, _, node in self.nodes:
            body = getattr(node, "body", None)
            if isinstance(node, ast.stmt) and body and self.leads(self.range(body[0])[0]):
                outer, inner = self.indent(self.range(node)[0]), self.indent(self.range(body[0])[0])
                if inner.startswith(outer) and inner != outer:
                    return inner[len(outer) :]
        return "    "


_SHARED = (ast.expr_context, ast.operator, ast.unaryop, ast.boolop, ast.cmpop)  # shared by many nodes
_FORMATTED = tuple(getattr(ast, name) for name in ("JoinedStr", "TemplateStr") if hasattr(ast, name))


def _held_by(node: ast.AST) -> Iterator[tuple[ast.AST, Holder]]:
    """The children of a node in text order, with what holds them."""
    for field, value in ast.iter_fields(node):
        holder = (node, field)
        for child in value if isinstance(value, list) else (value,):
            if isinstance(child, ast.AST) and not isinstance(child, _SHARED):
                yield child, holder


def parsed(source: str) -> ast.Module:
    """The syntax tree of a source; raises `FixRefused` if it is not Python 3 or nested too deeply."""
    try:
        return syntax(source)
    except SyntaxError as error:
        raise FixRefused("too-deep" if "too many" in (error.msg or "") else "not-python") from None
    except (RecursionError, MemoryError):
        raise FixRefused("too-deep") from None
    except ValueError:
        raise FixRefused("not-python") from None


@lru_cache(maxsize=8)
def tree_of(text: Text) -> Tree:
    """The tree of a text; the last few are cached."""
    return Tree(text)


def _no_place() -> ast.AST:
    raise FixRefused("place")


def _is_word(char: str) -> bool:
    return char.isalnum() or char == "_"


def is_dotted(node: ast.AST) -> bool:
    """Whether an expression is a name or an attribute of one."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name)


def _same(written: str, node: ast.AST) -> bool:
    """Whether `written` is the source of an expression."""
    try:
        expression = ast.parse(f"({written}\n)", mode="eval").body
        return ast.dump(expression) == ast.dump(node)
    except (SyntaxError, ValueError):
        return False
    except (RecursionError, MemoryError):
        raise FixRefused("too-deep") from None
