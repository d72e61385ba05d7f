"""Lines within brackets that stood below the first element, and do so again where fixes moved that."""

from __future__ import annotations

from collections.abc import Callable

from npulint.findings import Edit
from npulint.fix.python.tree import Range, Tree

_CLOSES = {"(": ")", "[": "]", "{": "}"}


def realigned(before: Tree, after: Tree, origin: Callable[[int], int]) -> list[Edit]:
    """What moves lines on that stood exactly below what follows a bracket before the fixes. `origin` tells where a
    line stood then."""
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
    """Where brackets over several lines stand that something follows in their first line, outer ones first."""
    found: list[Range] = []
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
                found.append((begin, start))
    return sorted(found)


def _shift(before: Tree, after: Tree, bracket: int, origin: int) -> int:
    """By how many columns a bracket moved, whose line ends as it did."""
    if not 0 < origin <= len(before.lines):
        return 0
    old, rest = before.lines[origin - 1], after.source[bracket : after.line_end(bracket)]
    column = bracket - after.line_start(bracket)
    return column - (len(old) - len(rest)) if old.endswith(rest) else 0


def _begins_line(tree: Tree, number: int) -> bool:
    """Whether a line has code or a comment, and begins in no string."""
    place, line = tree.starts[number - 1], tree.lines[number - 1]
    return bool(line.strip()) and not any(start < place < end for start, end in tree.lexed.strings)


def _below(tree: Tree, bracket: int, shift: int, lines: list[int]) -> bool:
    """Whether the leftmost of some lines begins where the first element did before it moved."""
    if not lines or any(tree.lines[number - 1].startswith("\t") for number in lines):
        return False
    column = tree.lexed.after(bracket + 1)[0] - tree.line_start(bracket)
    return min(len(tree.indent(tree.starts[number - 1])) for number in lines) == column - shift
