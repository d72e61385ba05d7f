"""Parses one expression of TorchScript code into calls, innermost first, without recursion."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import msgspec

from npulint.core.lazy_regex import lazy_compile

LITERALS = 64
"""Maximum entries of a list of numbers."""

DEPTH = 10_000
"""Maximum nesting of brackets."""

_TEXT = 256
_DIGITS = 40
_WHOLE = 2**63
_TOKEN = lazy_compile(
    r"""(?P<space>[ \t]+)
    | (?P<name>[A-Za-z_\x80-\xff][\w\x80-\xff]*(?:\.[A-Za-z_\x80-\xff][\w\x80-\xff]*)*)
    | (?P<number>\d[\w.]*(?:(?<=[eE])[+-]\d+)?)
    | (?P<method>\.[A-Za-z_\x80-\xff][\w\x80-\xff]*)
    | (?P<string>"[^"\\]*(?:\\.[^"\\]*){0,500000}"|'[^'\\]*(?:\\.[^'\\]*){0,500000}')
    | (?P<open>["'].*)
    | (?P<mark>.)""",
    re.VERBOSE,
)
_CONSTANTS = {"True": True, "False": False, "inf": "inf", "nan": "nan"}
_SAME = frozenset(("annotate", "unchecked_cast"))  # functions that return their argument
_CLOSES = {")": "(", "]": "[", "}": "{"}


class ScriptCall(msgspec.Struct):
    """A call: the dotted callee (with a leading dot for a method), its object and offset; the names of the nodes it
    takes; literal arguments by keyword or position; names of variables by position."""

    callee: str
    start: int
    receiver: str = ""
    inputs: list[str] = []
    arguments: dict[str, Any] = {}
    names: list[str] = []


class ScriptValue(msgspec.Struct):
    """The value of a part of an expression: the nodes it consists of, or a literal; `name` if it is a plain name."""

    nodes: list[str] = []
    literal: Any = None
    name: str = ""


class _Open(msgspec.Struct):
    """An open bracket: of a call, a group, a list, a subscript or a dictionary."""

    kind: str
    call: ScriptCall | None = None
    values: list[ScriptValue] = []
    before: ScriptValue | None = None
    keyword: str = ""
    position: int = 0


class ExpressionScan:
    """Parses one expression. `made` is called with every complete call and whether it is the whole expression, and
    returns the name of its node or an empty string; `node_of` maps a variable to its node."""

    def __init__(self, made: Callable[[ScriptCall, bool], str], node_of: Callable[[str], str]) -> None:
        self._made = made
        self._node_of = node_of

    def run(self, text: str, start: int) -> ScriptValue:
        """The value of the expression; `start` is its offset in the code. Raises ValueError for unbalanced brackets and
        unterminated strings."""
        self._stack: list[_Open] = [_Open("group")]
        self._current = ScriptValue()
        self._filled = False
        self._negative = False
        end = len(text)
        for match in _TOKEN.finditer(text):
            kind, token = match.lastgroup or "", match.group()
            if kind == "space":
                continue
            if kind == "open":
                raise ValueError("string without end")
            after = text[match.end() : match.end() + 1]
            if kind in ("name", "method") and after == "(":
                self._callee = ScriptCall(token, start + match.start(), self._current.name if kind == "method" else "")
                self._pending = True
            elif kind == "mark":
                self._mark(token, match.end() == end)
            else:
                self._operand(kind, token, after == "=" and text[match.end() : match.end() + 2] != "==")
        if len(self._stack) != 1:
            raise ValueError("bracket that is not closed")
        self._commit()
        return _joined(self._stack[0].values)

    _callee: ScriptCall
    _pending = False

    def _operand(self, kind: str, token: str, keyword: bool) -> None:
        top = self._stack[-1]
        if kind == "name" and keyword and top.call is not None:
            top.keyword = token
            return
        if kind == "method":
            self._current = ScriptValue(
                self._current.nodes, None, self._current.name + token if self._current.name else ""
            )
            return
        if kind == "name":
            if token in _CONSTANTS:
                value = ScriptValue([], self._signed(_CONSTANTS[token]))
            else:
                node = self._node_of(token)
                value = ScriptValue([node] if node else [], None, token)
        elif kind == "number":
            value = ScriptValue([], self._signed(_number(token)))
        else:
            value = ScriptValue([], token[1:-1][:_TEXT])
        self._current = _joined([self._current, value]) if self._filled else value
        self._filled, self._negative = True, False

    def _signed(self, literal: Any) -> Any:
        if self._negative and isinstance(literal, int | float):
            return -literal
        return f"-{literal}" if self._negative and isinstance(literal, str) else literal

    def _mark(self, token: str, last: bool) -> None:
        if token in "([{":
            self._open(token)
        elif token in ")]}":
            self._close(token, last)
        elif token == ",":
            self._commit()
        elif token == "-":
            self._negative = not self._filled

    def _open(self, token: str) -> None:
        if len(self._stack) > DEPTH:
            raise ValueError("brackets nested too deeply")
        if token == "(" and self._pending:
            opened = _Open("call", self._callee)
        elif token == "[" and self._filled:
            opened = _Open("subscript", before=self._current)
        else:
            opened = _Open({"(": "group", "[": "list", "{": "dictionary"}[token])
        self._pending = False
        if opened.kind not in ("subscript", "call") and self._filled:
            opened.before = self._current
        self._stack.append(opened)
        self._current, self._filled = ScriptValue(), False

    def _close(self, token: str, last: bool) -> None:
        top = self._stack[-1]
        expected = {"call": "(", "group": "(", "list": "[", "subscript": "[", "dictionary": "{"}[top.kind]
        if len(self._stack) == 1 or _CLOSES[token] != expected:
            raise ValueError("bracket that was not opened")
        self._commit()
        self._stack.pop()
        self._current, self._filled = self._closed(top, last), True

    def _closed(self, top: _Open, last: bool) -> ScriptValue:
        if top.kind == "subscript":
            return ScriptValue(top.before.nodes if top.before else [])
        if top.call is not None:
            node = self._made(top.call, last and len(self._stack) == 1 and not self._stack[0].values)
            if not node and top.call.callee in _SAME:
                return ScriptValue(top.call.inputs)
            return ScriptValue([node] if node else [])
        if top.kind == "list" and top.values and all(_plain(value) for value in top.values):
            return ScriptValue([], [value.literal for value in top.values[:LITERALS]])
        if top.kind == "group" and len(top.values) == 1:
            return top.values[0]
        return _joined(top.values)

    def _commit(self) -> None:
        """Add the current value to its container."""
        top = self._stack[-1]
        if self._filled:
            value = self._current
            if top.call is None:
                if len(top.values) < LITERALS or not _plain(value):
                    top.values.append(value)
            else:
                _give(top.call, value, top.keyword or str(top.position))
        top.position += 1
        top.keyword = ""
        self._current, self._filled, self._negative = ScriptValue(), False, False


def _give(call: ScriptCall, value: ScriptValue, key: str) -> None:
    call.inputs += value.nodes
    if value.literal is not None and len(call.arguments) < LITERALS:
        call.arguments[key] = value.literal
    if value.name and len(call.names) < LITERALS:
        call.names.append(value.name)


def _plain(value: ScriptValue) -> bool:
    return isinstance(value.literal, bool | int | float | str)


def _joined(values: list[ScriptValue]) -> ScriptValue:
    if len(values) == 1:
        return values[0]
    return ScriptValue([node for value in values for node in value.nodes])


def _number(token: str) -> Any:
    if len(token) > _DIGITS:
        return token[:_DIGITS]
    for kind in (int, float):
        try:
            value = kind(token)
        except ValueError:
            continue
        return value if isinstance(value, float) or value < _WHOLE else float(value)
    return token
