"""Trees of values with places, and their leaves."""

from __future__ import annotations

import re

import msgspec

from npulint.core.lazy_regex import lazy_compile
from npulint.facts.model import Span
from npulint.read.json_tree import JsonNode, Lines, parse_json

MAX_DEPTH = 64
"""Maximum nesting of a configuration."""

_MOST = 50_000  # values of one file, with aliases expanded

_INT = lazy_compile(r"[-+]?(?:0[xX][0-9a-fA-F_]{1,16}|0[bB][01_]{1,64}|0|[1-9][0-9_]{0,40})")
_OCTAL = lazy_compile(r"[-+]?0[0-7_]{1,20}")
_FLOAT = lazy_compile(r"[-+]?(?:[0-9][0-9_]{0,80}\.?[0-9_]{0,80}|\.[0-9][0-9_]{0,80})(?:[eE][-+]?[0-9]{1,8})?")
_INFINITE = lazy_compile(r"([-+]?)\.?inf(?:inity)?", re.IGNORECASE)
_WORDS: dict[str, bool | None] = {
    **dict.fromkeys(("", "~", "null", "none"), None),
    **dict.fromkeys(("true", "yes", "on"), True),
    **dict.fromkeys(("false", "no", "off"), False),
}


class UnreadableError(Exception):
    """Invalid syntax. `reason` is that of a `npulint.facts.model.Problem`."""

    def __init__(self, reason: str, detail: str, span: Span) -> None:
        self.reason = reason
        self.detail = detail
        self.span = span
        super().__init__(f"{span.line}:{span.column}: {detail}")


class TooMuchError(Exception):
    """More values than a configuration has: the file is data."""


class Tree(msgspec.Struct, frozen=True):
    """A value: a scalar, a list, or a mapping with text keys. Aliases share a tree."""

    value: object
    span: Span


class Leaf(msgspec.Struct, frozen=True):
    """A scalar, or a list without mappings as a tuple, with its keys; list items have their index from 0 as key."""

    key: tuple[str, ...]
    value: object
    span: Span


def typed(text: str) -> str | int | float | bool | None:
    """The value of an unquoted word: ``1e-3`` is a number, though YAML 1.1 reads it as text; dates stay text."""
    lowered = text.lower()
    if lowered in _WORDS:
        return _WORDS[lowered]
    if lowered[0] not in "0123456789+-.i":
        return text
    if _INT.fullmatch(text):
        return int(text.replace("_", ""), 0)
    if _OCTAL.fullmatch(text):
        return int(text.replace("_", ""), 8)
    infinite = _INFINITE.fullmatch(text)
    if infinite is not None:
        return float(f"{infinite.group(1)}inf")
    if _FLOAT.fullmatch(text):
        try:
            return float(text.replace("_", ""))
        except ValueError:
            return text
    return text


def leaves(root: Tree) -> list[Leaf]:
    """The leaves of a tree in order; raises `TooMuchError`."""
    leafs: list[Leaf] = []
    budget = _Budget()
    stack: list[tuple[tuple[str, ...], Tree]] = [((), root)]
    while stack:
        key, tree = stack.pop()
        budget.spend(1)
        if len(key) > MAX_DEPTH:
            raise TooMuchError(f"> {MAX_DEPTH} levels")
        value = tree.value
        if isinstance(value, dict):
            stack += [((*key, name), inner) for name, inner in reversed(value.items())]
        elif isinstance(value, list):
            plain = _plain(tree, budget, 0)
            if plain is not None:
                leafs.append(Leaf(key, plain, tree.span))
            else:
                stack += [((*key, str(number)), inner) for number, inner in reversed(list(enumerate(value)))]
        else:
            leafs.append(Leaf(key, value, tree.span))
    return [leaf for leaf in leafs if leaf.key]


class _Budget:
    def __init__(self) -> None:
        self._left = _MOST

    def spend(self, count: int) -> None:
        self._left -= count
        if self._left < 0:
            raise TooMuchError(f"> {_MOST} values")


def _plain(tree: Tree, budget: _Budget, depth: int) -> tuple[object, ...] | None:
    """A list as a tuple; None if it contains a mapping."""
    items: list[object] = []
    for item in tree.value if isinstance(tree.value, list) else ():
        budget.spend(1)
        if isinstance(item.value, dict) or depth > MAX_DEPTH:
            return None
        if isinstance(item.value, list):
            inner = _plain(item, budget, depth + 1)
            if inner is None:
                return None
            items.append(inner)
        else:
            items.append(item.value)
    return tuple(items)


# JSON with comments and syntax slips, as a tree of values.


def json_values(text: str) -> Tree:
    """The values of a JSON text, tolerating comments and extra commas. Raises `UnreadableError`."""
    root, faults = parse_json(text)
    lines = Lines(text)
    wrong = next((fault for fault in faults if fault.what == "too-deep"), None)
    if wrong is None and (root is None or not isinstance(root.value, dict | list)):
        wrong = next((fault for fault in faults if fault.what == "syntax"), None)
        if root is not None and wrong is None:
            return Tree(root.value, lines.span(root.start, root.end))
    if wrong is not None or root is None:
        reason = "too-deep" if wrong is not None and wrong.what == "too-deep" else "json"
        raise UnreadableError(reason, "", lines.span(*((wrong.start, wrong.end) if wrong else (0, 0))))
    return _tree(root, lines, 0)


def _tree(node: JsonNode, lines: Lines, depth: int) -> Tree:
    span = lines.span(node.start, node.end)
    if depth > MAX_DEPTH:
        raise UnreadableError("too-deep", f"> {MAX_DEPTH}", span)
    if isinstance(node.value, dict):
        return Tree({name: _tree(inner, lines, depth + 1) for name, (_, inner) in node.value.items()}, span)
    if isinstance(node.value, list):
        return Tree([_tree(inner, lines, depth + 1) for inner in node.value], span)
    unordered = isinstance(node.value, float) and node.value != node.value
    return Tree("NaN" if unordered else node.value, span)


# The text format of protocol buffers, used for object detection pipelines and Caffe networks.

_TOKEN = lazy_compile(
    r"(?P<blank>[\s,;]+|#[^\n]*)|(?P<mark>[{}<>\[\]:])|(?P<text>\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*')"
    r"|(?P<word>[^\s,;{}<>\[\]:\"'#]+)|(?P<odd>.)"
)


def protobuf_values(text: str) -> Tree:
    """The fields of a message; repeated fields become a list. Raises `UnreadableError`."""
    lines = Lines(text)
    root: dict[str, list[Tree]] = {}
    stack: list[tuple[dict[str, list[Tree]], str, int]] = []
    table, name, listed = root, "", False
    for match in _TOKEN.finditer(text):
        kind, token = match.lastgroup, match.group()
        span = lines.span(match.start(), match.end())
        if kind == "odd" or len(stack) > MAX_DEPTH:
            raise UnreadableError("too-deep" if stack and len(stack) > MAX_DEPTH else "syntax-error", token, span)
        if kind in ("word", "text"):
            if not name:
                name = token
                continue
            table.setdefault(name, []).append(Tree(token[1:-1] if kind == "text" else typed(token), span))
            name = name if listed else ""
        elif token in "{<" and kind == "mark":
            stack.append((table, name, match.start()))
            table, name, listed = {}, "", False
        elif token in "}>" and kind == "mark":
            if not stack or name:
                raise UnreadableError("syntax-error", token, span)
            inner, (table, name, start) = table, stack.pop()
            table.setdefault(name, []).append(Tree(_closed(inner), lines.span(start, match.end())))
            name = ""
        elif token in "[]" and kind == "mark":
            listed = token == "[" and bool(name)
            name = name if listed else ""
    if stack or name:
        raise UnreadableError("syntax-error", "", lines.span(len(text), len(text)))
    return Tree(_closed(root), Span())


def _closed(fields: dict[str, list[Tree]]) -> dict[str, Tree]:
    return {name: trees[0] if len(trees) == 1 else Tree(trees, trees[0].span) for name, trees in fields.items()}
