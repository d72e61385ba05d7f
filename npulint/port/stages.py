"""Divides the changes of a port into steps: each stretch of changed lines belongs to the first step that has a part in
it, so that files are complete after every step."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher

import msgspec

from npulint.data.port_styles import STEPS
from npulint.discover.kinds import kinds_of
from npulint.fix.model import FileChange, Fixed
from npulint.fix.source import SourceDocument
from npulint.port.alignment import aligned
from npulint.port.model import PlannedEdit
from npulint.port.topics import step_of

_LONG = 2000  # lines; in longer files what repeats itself often is not matched, which would take minutes


class Stretch(msgspec.Struct, frozen=True):
    """Changed lines of a file: ranges of lines (from 0) before and after, and the step."""

    before: tuple[int, int]
    after: tuple[int, int]
    step: str


def stretches_of(change: FileChange, fixed: Sequence[Fixed]) -> list[Stretch]:
    """The changed lines of a file with their steps; `fixed` are the fixes that change it."""
    old, new = _lines(change.before), _lines(change.after)
    compared = SequenceMatcher(None, old, new, autojunk=len(new) > _LONG)
    found = []
    for tag, first, last, begin, end in compared.get_opcodes():
        if tag == "equal":
            continue
        for before, after in aligned(old[first:last], new[begin:end]):
            lines = (first + before[0], first + before[1])
            place = (begin + after[0], begin + after[1])
            step = _step(change.path, lines, b"".join(new[slice(*place)]), fixed)
            found.append(Stretch(lines, place, step))
    return found


def staged(changes: Sequence[FileChange], fixed: Sequence[Fixed]) -> dict[str, tuple[FileChange, ...]]:
    """The changes of each step, in order; each begins with the result of the one before."""
    steps: dict[str, list[FileChange]] = {step: [] for step in STEPS}
    for change in changes:
        own = [one for one in fixed if change.path in one.paths]
        stretches = stretches_of(change, own)
        known, new = change.before, change.new
        for step in STEPS:
            after = _after(change, stretches, step)
            if after != known:
                steps[step].append(FileChange(change.path, known, after, new, change.location, change.root))
                known, new = after, False
    return {step: tuple(some) for step, some in steps.items()}


def edits_of(change: FileChange, fixed: Sequence[Fixed]) -> dict[str, list[PlannedEdit]]:
    """The edits of a file by step, for people; undecodable files have none."""
    old, new = _shown(change, change.before), _shown(change, change.after)
    found: dict[str, list[PlannedEdit]] = {}
    for one in stretches_of(change, fixed):
        before, after = old[slice(*one.before)], new[slice(*one.after)]
        found.setdefault(one.step, []).append(PlannedEdit(change.path, one.before[0] + 1, tuple(before), tuple(after)))
    return found


def _shown(change: FileChange, data: bytes) -> list[str]:
    kind = next(iter(kinds_of(change.path.rpartition("/")[2])), "other")
    return SourceDocument(change.path, kind, data, change.new).text.text.split("\n") if data else []


def _lines(data: bytes) -> list[bytes]:
    return data.splitlines(keepends=True) if b"\r" in data.replace(b"\r\n", b"") else data.split(b"\n")


def _step(path: str, lines: tuple[int, int], new: bytes, fixed: Sequence[Fixed]) -> str:
    """The first step with a part in a stretch of lines; that of the file, for what cleaning up has changed."""
    first, last = lines[0] + 1, max(lines[1], lines[0] + 1)
    text = new.decode("utf-8", "replace")
    there = [one for one in fixed if any(_is_in(path, part, first, last, text) for part in one.touched)]
    return min((step_of(one) for one in there or fixed), key=STEPS.index, default=STEPS[0])


def _is_in(path: str, part: object, first: int, last: int, text: str) -> bool:
    from npulint.fix.model import Touched

    assert isinstance(part, Touched)
    if part.path != path:
        return False
    if part.statement:
        return "import" in text and part.statement.split()[-1] in text
    return part.first <= last and first <= part.last


def _after(change: FileChange, stretches: Sequence[Stretch], step: str) -> bytes:
    """The bytes after a step; those after the last one if what is between them is no valid Python."""
    rank = STEPS.index(step)
    done = [one for one in stretches if STEPS.index(one.step) <= rank]
    if not done:
        return change.before
    if len(done) == len(stretches):
        return change.after
    crs = b"\r" in change.before.replace(b"\r\n", b"") or b"\r" in change.after.replace(b"\r\n", b"")
    if crs:
        return change.after
    old, new = _lines(change.before), _lines(change.after)
    pieces: list[bytes] = []
    place = 0
    for one in done:
        pieces += old[place : one.before[0]] + new[slice(*one.after)]
        place = one.before[1]
    data = b"\n".join([*pieces, *old[place:]])
    return data if not change.path.endswith(".py") or _parses(data) or not _parses(change.after) else change.after


def _parses(data: bytes) -> bool:
    try:
        ast.parse(data)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def by_path(fixed: Sequence[Fixed]) -> Mapping[str, list[Fixed]]:
    """The fixes by the files that they change."""
    found: dict[str, list[Fixed]] = {}
    for one in fixed:
        for path in one.paths:
            found.setdefault(path, []).append(one)
    return found
