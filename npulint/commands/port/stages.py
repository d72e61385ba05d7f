"""Divides the changes of a port into steps: changed lines belong to the first step that has a part in them, so that
files are complete after every step."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from difflib import SequenceMatcher

import msgspec

from npulint.commands.port.model import PlannedEdit
from npulint.data.port_styles import STEPS, topics
from npulint.discover.kinds import kinds_of
from npulint.fix.model import FixRefused
from npulint.fix.source import SourceDocument
from npulint.judge.fix_results import FileChange, Fixed, Touched

# The step that a fix belongs to.

_OF_FILE = {"shell": "launch", "dependency": "environment", "dockerfile": "environment"}
_OTHERWISE = "libraries"


def step_of(fixed: Fixed) -> str:
    """The step of a fix: that of the file for launchers and requirements, else that of its topic."""
    for kind in kinds_of(fixed.path.rpartition("/")[2]):
        if kind in _OF_FILE:
            return _OF_FILE[kind]
    row = topics().get(fixed.finding.topic) if fixed.finding is not None else None
    return _OTHERWISE if row is None else row.step


# Divides a block of changed lines into the smallest changes: a line with the one that it has become.

Range = tuple[int, int]

_MAX_ALIGNED_LINES = 40  # lines of a block that is divided; the work grows with the square
_ALIKE = 0.5


def aligned(old: Sequence[bytes], new: Sequence[bytes]) -> list[tuple[Range, Range]]:
    """The ranges of lines before and after that belong together, in order; together they cover both blocks."""
    if not old or not new or len(old) > _MAX_ALIGNED_LINES or len(new) > _MAX_ALIGNED_LINES:
        return [((0, len(old)), (0, len(new)))]
    pairs = _pairs(old, new)
    ranges: list[tuple[Range, Range]] = []
    first = begin = 0
    for here, there in [*pairs, (len(old), len(new))]:
        if here > first or there > begin:
            ranges.append(((first, here), (begin, there)))
        if here < len(old):
            ranges.append(((here, here + 1), (there, there + 1)))
        first, begin = here + 1, there + 1
    return ranges


def _pairs(old: Sequence[bytes], new: Sequence[bytes]) -> list[tuple[int, int]]:
    """The pairs of similar lines, in the same order on both sides, whose similarity is the greatest in sum."""
    best = [[0.0] * (len(new) + 1) for _ in range(len(old) + 1)]
    alike = [[_likeness(line, other) for other in new] for line in old]
    for i in reversed(range(len(old))):
        for j in reversed(range(len(new))):
            best[i][j] = max(best[i + 1][j], best[i][j + 1], alike[i][j] + best[i + 1][j + 1] if alike[i][j] else 0)
    pairs = []
    i = j = 0
    while i < len(old) and j < len(new):
        if alike[i][j] and best[i][j] == alike[i][j] + best[i + 1][j + 1]:
            pairs.append((i, j))
            i, j = i + 1, j + 1
        elif best[i][j] == best[i + 1][j]:
            i += 1
        else:
            j += 1
    return pairs


def _likeness(old: bytes, new: bytes) -> float:
    """How alike two lines are, from 0; 0 below the limit."""
    before, after = (line.strip().decode("latin-1") for line in (old, new))
    compared = SequenceMatcher(None, before, after, autojunk=False)
    if compared.real_quick_ratio() < _ALIKE or compared.quick_ratio() < _ALIKE:
        return 0.0
    ratio = compared.ratio()
    return ratio if ratio >= _ALIKE else 0.0


_LONG = 2000  # lines; in longer files what repeats itself often is not matched, which would take minutes


class Stretch(msgspec.Struct, frozen=True):
    """Changed lines of a file: their ranges (from 0) before and after, and the step."""

    before: Range
    after: Range
    step: str


class StagedFile:
    """A changed file, divided into steps; `fixed` are the fixes that change it."""

    def __init__(self, change: FileChange, fixed: Sequence[Fixed]) -> None:
        self._change = change
        self._fixed = fixed
        self._old, self._new = change.before.split(b"\n"), change.after.split(b"\n")
        self._stretches = self._divided()

    def changes(self) -> dict[str, FileChange]:
        """The changes of each step, in order; each begins with the result of the one before."""
        changes = {}
        change = self._change
        before, new = change.before, change.new
        for step in STEPS:
            after = self._after(step)
            if after != before:
                changes[step] = FileChange(change.path, before, after, new, change.location, change.root)
                before, new = after, False
        return changes

    def edits(self) -> list[PlannedEdit]:
        """The changed lines, for people."""
        old, new = (_shown(self._change, data) for data in (self._change.before, self._change.after))
        return [
            PlannedEdit(
                self._change.path,
                stretch.before[0] + 1,
                tuple(old[slice(*stretch.before)]),
                tuple(new[slice(*stretch.after)]),
            )
            for stretch in self._stretches
        ]

    def _divided(self) -> list[Stretch]:
        compared = SequenceMatcher(None, self._old, self._new, autojunk=len(self._new) > _LONG)
        stretches = []
        for tag, first, last, begin, end in compared.get_opcodes():
            if tag == "equal":
                continue
            for before, after in aligned(self._old[first:last], self._new[begin:end]):
                lines, place = (first + before[0], first + before[1]), (begin + after[0], begin + after[1])
                stretches.append(Stretch(lines, place, self._step(lines, b"\n".join(self._new[slice(*place)]))))
        return stretches

    def _step(self, lines: Range, new: bytes) -> str:
        """The first step with a part in a stretch of lines; the first of the file, for what cleaning up has changed."""
        first, last = lines[0] + 1, max(lines[1], lines[0] + 1)
        text = new.decode("utf-8", "replace")
        here = [fix for fix in self._fixed if any(self._is_in(part, first, last, text) for part in fix.touched)]
        return min((step_of(fix) for fix in here or self._fixed), key=STEPS.index, default=STEPS[0])

    def _is_in(self, part: Touched, first: int, last: int, text: str) -> bool:
        if part.path != self._change.path:
            return False
        if part.statement:
            return "import" in text and part.statement.split()[-1] in text
        return part.first <= last and first <= part.last

    def _after(self, step: str) -> bytes:
        """The bytes after a step; those after the last step if what is between is no valid Python."""
        done = [stretch for stretch in self._stretches if STEPS.index(stretch.step) <= STEPS.index(step)]
        if len(done) in (0, len(self._stretches)):
            return self._change.after if done else self._change.before
        pieces: list[bytes] = []
        place = 0
        for stretch in done:
            pieces += self._old[place : stretch.before[0]] + self._new[slice(*stretch.after)]
            place = stretch.before[1]
        data = b"\n".join([*pieces, *self._old[place:]])
        is_code = self._change.path.endswith(".py") and _parses(self._change.after)
        return data if not is_code or _parses(data) else self._change.after


def _shown(change: FileChange, data: bytes) -> list[str]:
    """The lines of a file as text."""
    lines = data.split(b"\n")
    kind = next(iter(kinds_of(change.path.rpartition("/")[2])), "other")
    try:
        shown = SourceDocument(change.path, kind, data).text.text.split("\n")
    except FixRefused:
        shown = []
    return shown if len(shown) == len(lines) else [line.decode("utf-8", "replace") for line in lines]


def _parses(data: bytes) -> bool:
    try:
        ast.parse(data)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True
