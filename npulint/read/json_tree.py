"""Tolerant JSON parser that records the place of every value.

The standard parser has no positions, but findings in list files need the line and column of a name."""

from __future__ import annotations

import json
import re
from bisect import bisect_right

import msgspec

from npulint.core.lazy_regex import lazy_compile
from npulint.facts.model import Span

_DEPTH = 200
_TOKEN = lazy_compile(
    r"""[ \t\r\n\ufeff]+
    | (?P<string> "[^"\\\n]*(?:\\.[^"\\\n]*)*" )
    | (?P<mark> [{}\[\],:] )
    | (?P<word> [^\s{}\[\],:"/]+ )
    | (?P<comment> //[^\n]* | /\*(?s:.*?)(?:\*/|\Z) )
    | (?P<open> "[^\n]* )
    | (?P<odd> . )""",
    re.VERBOSE,
)


class JsonNode(msgspec.Struct):
    """A value. `value` is a dict of key to (key node, value node), a list of nodes, or a scalar."""

    value: object
    start: int
    end: int


class Fault(msgspec.Struct, frozen=True):
    """A syntax error; `what` is ``syntax``, ``comment``, ``duplicate-key`` or ``too-deep``."""

    what: str
    start: int
    end: int


class Lines:
    """Converts offsets of a text to lines and columns."""

    def __init__(self, text: str) -> None:
        self._starts = [0, *(match.end() for match in re.finditer("\n", text))]

    def at(self, offset: int) -> tuple[int, int]:
        """Line and column of a character, both from 1."""
        line = bisect_right(self._starts, offset)
        return line, offset - self._starts[line - 1] + 1

    def span(self, start: int, end: int) -> Span:
        """The span of the characters from `start` up to `end`."""
        return Span(*self.at(start), *self.at(end))


class _Open(msgspec.Struct):
    """An unfinished container; `key` waits for its value, `ready` says that a value may follow."""

    node: JsonNode
    key: JsonNode | None = None
    ready: bool = True
    comma: bool = False


def parse_json(text: str) -> tuple[JsonNode | None, list[Fault]]:
    """The tree of `text`, as far as it is valid, and its faults.

    Comments and missing or doubled commas are tolerated and reported; nesting beyond 200 levels ends the parsing. Never
    raises."""
    return _Parser(text).parse()


class _Parser:
    def __init__(self, text: str) -> None:
        self._text = text
        self._faults: list[Fault] = []
        self._open: list[_Open] = []
        self._root: JsonNode | None = None

    def parse(self) -> tuple[JsonNode | None, list[Fault]]:
        for match in _TOKEN.finditer(self._text):
            kind = match.lastgroup
            if kind is None:
                continue
            if kind == "mark":
                self._mark(match.group(), match.start())
            elif kind == "string" or kind == "word":
                self._scalar(match.group(), match.start(), match.end())
            else:
                self._fault("comment" if kind == "comment" else "syntax", match.start(), match.end())
            if len(self._open) > _DEPTH:
                self._fault("too-deep", match.start(), match.end())
                break
        if self._open or self._root is None:
            self._fault("syntax", len(self._text), len(self._text))
        return self._root, self._faults

    def _fault(self, what: str, start: int, end: int) -> None:
        if len(self._faults) < 100:
            self._faults.append(Fault(what, start, end))

    def _mark(self, mark: str, at: int) -> None:
        if mark in "{[":
            node = JsonNode({} if mark == "{" else [], at, at + 1)
            self._place(node)
            self._open.append(_Open(node))
        elif mark in "}]":
            self._close(mark, at)
        elif not self._open:
            self._fault("syntax", at, at + 1)
        elif mark == ",":
            top = self._open[-1]
            if top.ready or top.key is not None:
                self._fault("syntax", at, at + 1)
            top.ready, top.comma, top.key = True, True, None
        elif self._open[-1].key is None or self._open[-1].ready:
            self._fault("syntax", at, at + 1)
        else:
            self._open[-1].ready = True

    def _close(self, mark: str, at: int) -> None:
        kind = dict if mark == "}" else list
        if not self._open or not isinstance(self._open[-1].node.value, kind):
            self._fault("syntax", at, at + 1)
            return
        top = self._open.pop()
        top.node.end = at + 1
        if top.key is not None or (top.ready and top.comma):
            self._fault("syntax", at, at + 1)

    def _scalar(self, text: str, start: int, end: int) -> None:
        try:
            value = json.loads(text, strict=False) if len(text) < 400 or text[0] == '"' else None
        except (ValueError, RecursionError):
            self._fault("syntax", start, end)
            value = text.strip("\"'")
        if isinstance(value, str) and not value.isascii():
            value = value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")  # no lone surrogates
        self._place(JsonNode(value, start, end))

    def _place(self, node: JsonNode) -> None:
        if not self._open:
            if self._root is None:
                self._root = node
            else:
                self._fault("syntax", node.start, node.end)
            return
        top = self._open[-1]
        if not top.ready:
            self._fault("syntax", node.start, node.end)
        if isinstance(top.node.value, list):
            top.node.value.append(node)
            top.ready = False
        elif top.key is None:
            if not isinstance(node.value, str):
                self._fault("syntax", node.start, node.end)
            top.key, top.ready = node, False
        elif isinstance(top.node.value, dict):
            name = str(top.key.value) if not isinstance(top.key.value, (dict, list)) else ""
            if name in top.node.value:
                self._fault("duplicate-key", top.key.start, top.key.end)
            top.node.value[name] = (top.key, node)
            top.key, top.ready = None, False
