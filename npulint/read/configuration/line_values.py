"""TOML, INI and gin: one setting per line, in sections."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from npulint.core.lazy_regex import lazy_compile
from npulint.facts.model import Span
from npulint.read.configuration.leaves import Tree, typed

_SECTION = lazy_compile(r"[ \t]*\[{1,2}[ \t]*([^\]\n]*?)[ \t]*\]{1,2}[ \t]*(?:[#;].*)?")
_SETTING = lazy_compile(r"[ \t]*([^\s=:#;\[\]][^=:#;\[\]\n]*?)[ \t]*(?:=|:(?!=))[ \t]*(.*)")
_END = lazy_compile(r"[ \t]+[#;].*$|[ \t]+$")
_SECOND = lazy_compile(r"(\"(?:[^\"\\]|\\.)*\"|'[^']*')[ \t]*(?:[#;].*)?")
_OPENING, _CLOSING = "([{", ")]}"
_LINES = 200  # maximum lines of one value
_LOOKED = 50_000  # lines that unclosed brackets may scan in one text
_LONG = 4000  # characters of a list


def line_values(text: str) -> Tree:
    """The settings of a text by section; a repeated section has a number after its name."""
    root: dict[str, Tree] = {}
    here = root
    repeated: dict[str, int] = {}
    for number, line, extra in _logical(text):
        section = _SECTION.fullmatch(line)
        if section is not None:
            here = _section(root, section.group(1), repeated, Span(number, 1, number, len(line) + 1))
            continue
        setting = _SETTING.fullmatch(line)
        if setting is not None:
            written = _END.sub("", setting.group(2))
            start = setting.start(2) + 1
            span = Span(number, start, number + len(extra), (len(extra[-1]) if extra else start - 1 + len(written)) + 1)
            _put(here, _names(setting.group(1)), Tree(_value("\n".join((setting.group(2), *extra)), written), span))
    return Tree(root, Span())


def _logical(text: str) -> Iterator[tuple[int, str, list[str]]]:
    """(number, line, continuation lines inside its brackets) of every line."""
    lines = text.split("\n")
    balances = [_balance(line) for line in lines]
    left = _LOOKED  # if brackets are text, each line would scan all those below it
    at = 0
    while at < len(lines):
        line, first = lines[at], at
        at += 1
        extra: list[str] = []
        if _SECTION.fullmatch(line) is None and "=" in line:
            balance = balances[first]
            while balance > 0 and at < len(lines) and len(extra) < _LINES and left > 0:
                extra.append(lines[at])
                balance += balances[at]
                at += 1
                left -= 1
            if balance > 0:  # a bracket within text
                at, extra = first + 1, []
        yield first + 1, line, extra


def _balance(line: str) -> int:
    line = line.partition("#")[0]
    return sum(map(line.count, _OPENING)) - sum(map(line.count, _CLOSING))


def _section(root: dict[str, Tree], name: str, repeated: dict[str, int], span: Span) -> dict[str, Tree]:
    count = repeated[name] = repeated.get(name, -1) + 1
    inner: dict[str, Tree] = {}
    _put(root, [*_names(name), *([str(count)] if count else [])], Tree(inner, span))
    return inner


def _names(written: str) -> list[str]:
    if written[:1] in "\"'":
        return [written.strip("\"'")]
    return [part.strip("\"' ") for part in written.split(".")][:32]


def _put(table: dict[str, Tree], names: list[str], tree: Tree) -> None:
    for name in names[:-1]:
        held = table.get(name)
        inner: dict[str, Tree] = held.value if held is not None and isinstance(held.value, dict) else {}
        if held is None or inner is not held.value:
            table[name] = Tree(inner, tree.span)
        table = inner
    held = table.get(names[-1])
    if held is not None and isinstance(held.value, dict) and isinstance(tree.value, dict):
        tree.value.update(held.value)
    table[names[-1]] = tree


def _value(text: str, written: str) -> object:
    quoted = _SECOND.fullmatch(text)
    if quoted is not None:
        return quoted.group(1)[1:-1]
    if text[:1] in ("(", "[", "{") and len(text) <= _LONG:
        try:
            literal = ast.literal_eval(text.strip())
        except (ValueError, SyntaxError, RecursionError, MemoryError, TypeError):
            return written
        return _listed(literal, 0)
    return typed(written)


def _listed(value: object, depth: int) -> object:
    """A list as tree nodes with the place of its text."""
    if depth > 16:
        return str(value)
    if isinstance(value, list | tuple | set | frozenset):
        items = sorted(value, key=repr) if isinstance(value, set | frozenset) else value
        return [Tree(_listed(item, depth + 1), Span()) for item in items]
    if isinstance(value, dict):
        return {str(name): Tree(_listed(inner, depth + 1), Span()) for name, inner in value.items()}
    return value if value is None or isinstance(value, str | int | float) else str(value)
