"""Keeps the alignment of continuation lines below the first element in brackets."""

from __future__ import annotations

from collections.abc import Callable

from npulint.fix.python.tree import Range, Tree
from npulint.judge.findings import Edit

_CLOSES = {"(": ")", "[": "]", "{": "}"}


def realigned(before: Tree, after: Tree, origin: Callable[[int], int]) -> list[Edit]:
    """The edits that move continuation lines whose first element moved. `origin` maps lines to original lines."""
    edits: list[Edit] = []
    moved: set[int] = set()
    for start, end in _brackets(after):
        line, last = after.line_of(start), after.line_of(end)
        shift = _shift(before, after, start, origin(line))
        inner = [number for number in range(line + 1, last + 1) if _begins_line(after, number)]
        if not shift or moved.intersection(inner) or not _below(after, start, shift, inner):
            continue
        moved.update(inner)
        for number in inner:
            place = after.starts[number - 1]
            edits.append(after.edit(place, place, " " * shift) if shift > 0 else after.edit(place, place - shift, ""))
    return edits


def _brackets(tree: Tree) -> list[Range]:
    """Multi-line brackets with an element in the first line, outer ones first."""
    brackets: list[Range] = []
    open_: list[int] = []
    lexed = tree.lexed
    for start, end in zip(lexed.starts, lexed.ends, strict=True):
        text = tree.source[start:end]
        if text in _CLOSES:
            open_.append(start)
        elif text in _CLOSES.values() and open_:
            begin = open_.pop()
            following = lexed.after(begin + 1)[0]
            if tree.line_of(begin) < tree.line_of(start) and tree.line_of(following) == tree.line_of(begin):
                brackets.append((begin, start))
    return sorted(brackets)


def _shift(before: Tree, after: Tree, bracket: int, origin: int) -> int:
    """The number of columns by which a bracket moved, if the rest of its line is unchanged."""
    if not 0 < origin <= len(before.lines):
        return 0
    old, rest = before.lines[origin - 1], after.source[bracket : after.line_end(bracket)]
    column = bracket - after.line_start(bracket)
    return column - (len(old) - len(rest)) if old.endswith(rest) else 0


def _begins_line(tree: Tree, number: int) -> bool:
    """Whether a line begins with code or a comment, outside of strings."""
    place, line = tree.starts[number - 1], tree.lines[number - 1]
    return bool(line.strip()) and not any(start < place < end for start, end in tree.lexed.strings)


def _below(tree: Tree, bracket: int, shift: int, lines: list[int]) -> bool:
    """Whether the leftmost of these lines begins below the first element before it moved."""
    if not lines or any(tree.lines[number - 1].startswith("\t") for number in lines):
        return False
    column = tree.lexed.after(bracket + 1)[0] - tree.line_start(bracket)
    return min(len(tree.indent(tree.starts[number - 1])) for number in lines) == column - shift
