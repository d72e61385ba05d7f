"""Verifies that an edited file is unchanged apart from its edits, and still valid."""

from __future__ import annotations

import ast
import json
import re
import warnings
from bisect import bisect_left
from collections.abc import Sequence
from itertools import accumulate

from npulint.fix.model import Text
from npulint.judge.findings import Edit

# Parses Python, including code from before 3.7 with arguments named ``async``.

_ASYNC = re.compile(r"\basync(?=\s*=[^=])")
_STAND_IN = "ASYNC"  # of the same length, so that columns stay


def syntax(source: str) -> ast.Module:
    """The syntax tree of a source; raises what `ast.parse` raises."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return ast.parse(source)
        except SyntaxError:
            if "async" not in source or _STAND_IN in source:
                raise
            tree = ast.parse(_ASYNC.sub(_STAND_IN, source))
    for node in ast.walk(tree):
        if isinstance(node, ast.keyword) and node.arg == _STAND_IN:
            node.arg = "async"
        elif isinstance(node, ast.Name) and node.id == _STAND_IN:
            raise SyntaxError("async is a name")
    return tree


Stretch = tuple[int, int, int, int]
"""An edited range: start and end offsets before and after."""


def objection(before: Text, after: str, edits: Sequence[Edit]) -> str:
    """The reason to refuse an edited file; empty if it is fine. `edits` turn `before` into `after`."""
    if before.kind == "python":
        return _python(before.text, after, edits)
    if before.kind == "shell":
        return _shell(before.text, after, edits)
    if before.kind in ("mixlist", "notebook"):
        return "" if _is_json(after) or not (before.new or _is_json(before.text)) else "broken-json"
    if before.kind == "configuration":
        deletes = any(not edit.text for edit in edits)
        return "" if _same_keys(_keys(before.path, before.text), _keys(before.path, after), deletes) else "broken"
    return ""


def _keys(path: str, text: str) -> list[str]:
    """The keys of a configuration, in order; empty if it cannot be read."""
    from npulint.read.configuration import configuration_leaves

    return [fact.name for fact in configuration_leaves(text, path)]


def _same_keys(before: list[str], after: list[str], deletes: bool) -> bool:
    """Whether a configuration has the keys that it had, in their order; if edits are deletions, without some of
    them."""
    if not deletes:
        return before == after
    gone = set(before) - set(after)
    emptied = {key for key in after if key not in before and any(removed.startswith(f"{key}.") for removed in gone)}
    return [key for key in before if key not in gone] == [key for key in after if key not in emptied]


def stretches(text: str, edits: Sequence[Edit]) -> list[Stretch]:
    """The ranges changed by edits, in order."""
    starts = [0, *accumulate(len(line) + 1 for line in text.split("\n"))]
    changed, moved = [], 0
    for edit in sorted(edits, key=lambda edit: edit.span):
        start = starts[edit.span.line - 1] + edit.span.column - 1
        end = starts[edit.span.end_line - 1] + edit.span.end_column - 1
        changed.append((start, end, start + moved, start + moved + len(edit.text)))
        moved += len(edit.text) - (end - start)
    return changed


def carried(changed: Sequence[Stretch], start: int, end: int) -> tuple[int, int]:
    """The range of old offsets after edits, including insertions at its ends."""
    none = (0, 0, 0, 0)
    before = next((stretch for stretch in reversed(changed) if stretch[1] < start), none)
    at = next((stretch for stretch in changed if stretch[1] >= start), none)
    last = next((stretch for stretch in reversed(changed) if stretch[0] <= end), none)
    begin = at[2] if at is not none and at[0] <= start else start + before[3] - before[1]
    return begin, last[3] + max(0, end - last[1])


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _parsed(text: str) -> ast.Module | None:
    """The syntax tree; None for invalid Python. Raises `RecursionError` or `MemoryError`."""
    try:
        return syntax(text)
    except (SyntaxError, ValueError):
        return None


def _python(before: str, after: str, edits: Sequence[Edit]) -> str:
    try:
        old, new = _parsed(before), _parsed(after)
    except (RecursionError, MemoryError):
        return "too-deep"
    if old is None:
        return ""
    if new is None or (_gives_twice(new) and not _gives_twice(old)):
        return "broken"
    changed = stretches(before, edits)
    there = {start: (end, node) for start, end, node in _statements(new, after)}
    moved = _Moved(changed)
    for start, end, node in _statements(old, before):
        if moved.touched(start, end, after):
            continue
        counterpart = there.get(moved.place(start))
        if counterpart is None or counterpart[0] != moved.place(end, end=True) or not same(node, counterpart[1]):
            return "changed-elsewhere"
    return ""


def _gives_twice(tree: ast.Module) -> bool:
    """Whether a call repeats a keyword argument, which `ast.parse` accepts and the compiler rejects."""
    calls = (node for node in ast.walk(tree) if isinstance(node, ast.Call) and len(node.keywords) > 1)
    return any(len(keywords) > len(set(keywords)) for keywords in ([k.arg for k in c.keywords if k.arg] for c in calls))


def _statements(tree: ast.Module, text: str) -> list[tuple[int, int, ast.stmt]]:
    """Start, end and node of the statements of a module, decorators included."""
    lines = text.split("\n")
    starts = [0, *accumulate(len(line) + 1 for line in lines)]

    def offset(line: int, column: int) -> int:
        content = lines[line - 1]
        if not content.isascii():
            column = len(content.encode("utf-8", "surrogatepass")[:column].decode("utf-8", "surrogatepass"))
        return starts[line - 1] + column

    statements = []
    for node in tree.body:
        heads: list[ast.stmt | ast.expr] = [node, *getattr(node, "decorator_list", ())]
        first = min(heads, key=lambda head: head.lineno)
        column = 0 if first is not node else node.col_offset  # a decorator begins with ``@``
        end = offset(node.end_lineno or node.lineno, node.end_col_offset or 0)
        statements.append((offset(first.lineno, column), end, node))
    return statements


class _Moved:
    """Maps old offsets to new ones."""

    def __init__(self, changed: Sequence[Stretch]) -> None:
        self._changed = changed
        self._ends = [end for _, end, _, _ in changed]

    def place(self, offset: int, end: bool = False) -> int:
        """The new offset of a place outside of edits, after insertions there unless it is an `end`."""
        last = bisect_left(self._ends, offset if end else offset + 1)
        if not last:
            return offset
        _, old_end, _, new_end = self._changed[last - 1]
        return new_end + offset - old_end

    def touched(self, start: int, end: int, after: str) -> bool:
        """Whether an edit changes a statement; whole lines before or after it do not, unless they are
        indented."""
        at = bisect_left(self._ends, start)
        while at < len(self._changed) and self._changed[at][0] <= end:
            old_start, old_end, new_start, new_end = self._changed[at]
            text = after[new_start:new_end]
            above = old_end <= start and (text or after[max(0, new_start - 1) : new_start] or "\n").endswith("\n")
            below = old_start >= end and text.startswith("\n") and not text.lstrip("\n").startswith((" ", "\t"))
            if not above and not below:
                return True
            at += 1
        return False


def same(node: ast.AST, other: ast.AST) -> bool:
    """Whether two syntax trees are equal apart from places; like comparing dumps, without recursion."""
    waiting: list[tuple[object, object]] = [(node, other)]
    while waiting:
        left, right = waiting.pop()
        if type(left) is not type(right):
            return False
        if isinstance(left, ast.AST):
            for field in left._fields:
                waiting.append((getattr(left, field, None), getattr(right, field, None)))
        elif isinstance(left, list) and isinstance(right, list):
            if len(left) != len(right):
                return False
            waiting += zip(left, right, strict=True)
        elif left != right and repr(left) != repr(right):  # NaN is not equal to itself
            return False
    return True


def _shell(before: str, after: str, edits: Sequence[Edit]) -> str:
    changed = stretches(before, edits)
    old = _words(before, [(start, end) for start, end, _, _ in changed])
    new = _words(after, [(start, end) for _, _, start, end in changed])
    return "" if old == new else "changed-elsewhere"


def _words(script: str, edited: Sequence[tuple[int, int]]) -> list[str]:
    """The words and operators on lines without edits."""
    from npulint.read.shell.lex import Lexer
    from npulint.read.shell.tokens import ShellOperator, Word

    lines = [
        (script.rfind("\n", 0, start) + 1, end if (at := script.find("\n", end)) < 0 else at) for start, end in edited
    ]
    words, place = [], 0
    for token in Lexer(script, remember=False).tokens():
        if not isinstance(token, (Word, ShellOperator)):  # skip tokens that are neither words nor operators
            continue
        end = token.end if isinstance(token, Word) else token.start + len(token.text)
        while place < len(lines) and lines[place][1] < token.start:
            place += 1
        if place == len(lines) or end <= lines[place][0]:
            words.append(script[token.start : end])
    return words
