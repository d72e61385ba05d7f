"""Combines fixes of many findings: of two conflicting ones the more severe is applied, the other waits for the next
pass."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise

import msgspec

from npulint.facts.model import Span
from npulint.fix.model import FixRefused, ImportRequest, Plan, Text
from npulint.judge.findings import SEVERITIES, Edit, Finding, FixEdit

# Blank lines around deleted lines: only those on one side are kept.


def closed_up(text: str, edits: Sequence[Edit]) -> tuple[Edit, ...]:
    """The edits of a text, where deletions of adjacent lines also delete surplus blank lines after them. (Deletions of
    single lines have been handled already.)"""
    closed = list(edits)
    lines = text.split("\n")
    for run in _runs(edits):
        last = run[-1]
        count = _surplus(lines, run[0].span.line - 1, last.span.end_line - 1)
        end = last.span.end_line + count
        free = all(edit in run or not last.span.end_line <= edit.span.line <= end for edit in edits)
        if count and free and end <= len(lines):
            span = Span(last.span.line, last.span.column, end, 1)
            closed[closed.index(last)] = Edit(last.path, span, "")
    return tuple(closed)


def _runs(edits: Iterable[Edit]) -> list[list[Edit]]:
    """Groups of adjacent whole-line deletions."""
    runs: list[list[Edit]] = []
    for edit in sorted((edit for edit in edits if _takes_lines(edit)), key=lambda edit: edit.span):
        if runs and runs[-1][-1].span.end_line == edit.span.line:
            runs[-1].append(edit)
        else:
            runs.append([edit])
    return [run for run in runs if len(run) > 1]


def _takes_lines(edit: Edit) -> bool:
    span = edit.span
    return not edit.text and span.column == span.end_column == 1 and span.end_line > span.line


def _surplus(lines: Sequence[str], first: int, last: int) -> int:
    """The number of blank lines after `last` that have counterparts before `first`."""
    above = 0
    while first - above > 0 and not lines[first - above - 1].strip():
        above += 1
    below = 0
    while below < above and last + below < len(lines) - 1 and not lines[last + below].strip():
        below += 1
    return below


ImportMerger = Callable[[Text, Sequence[ImportRequest]], tuple[Edit, ...]]
"""From a text and import requests to edits; raises `FixRefused`."""


CheckInFile = tuple[str, str]
"""A check and a file: code and path."""


class Proposal(msgspec.Struct, frozen=True):
    """The edits proposed for one finding at one place. `place` is that of the step which fixes the finding itself."""

    finding: Finding
    applicability: str
    path: str
    place: Span
    change: FixEdit | None
    plan: Plan

    @property
    def paths(self) -> set[str]:
        """The files that it changes."""
        return {edit.path for edit in self.plan.edits} | {request.path for request in self.plan.imports}

    @property
    def check_in_file(self) -> CheckInFile:
        """The code of its check and the file."""
        return self.finding.code, self.path

    def order(self) -> tuple[object, ...]:
        """The sort key: most severe first, then as in a report."""
        return -SEVERITIES.index(self.finding.severity), self.path, self.place, self.finding.code


def coherent(edits: Iterable[Edit]) -> tuple[Edit, ...]:
    """The edits of one fix, deduplicated and sorted. Raises `FixRefused` (``overlap``) when two of them conflict."""
    unique = tuple(dict.fromkeys(edits))
    ordered = sorted(unique, key=lambda edit: (edit.path, edit.span))
    for first, other in pairwise(ordered):
        conflict = _overlap(first, other) or (_same_range(first, other) and not _insertion(first))
        if first.path == other.path and conflict:
            raise FixRefused("overlap")
    return unique


class CompatibleFixes:
    """A set of compatible fixes for one pass. `text_of` returns the files before it."""

    def __init__(self, text_of: Callable[[str], Text], merge_imports: ImportMerger) -> None:
        self._text_of = text_of
        self._merge_imports = merge_imports
        self._added: dict[str, list[tuple[Span, int, Edit]]] = {}
        self._requests: dict[str, dict[ImportRequest, None]] = {}
        self._imports: dict[str, tuple[Edit, ...]] = {}
        self._count = 0
        self._statements: dict[tuple[str, str], tuple[str, Span]] = {}
        self.accepted: list[Proposal] = []

    def add(self, proposal: Proposal) -> bool:
        """Add a fix completely or not at all; returns whether it is compatible. Raises `FixRefused` when a file cannot
        get a requested import."""
        edits = [edit for edit in proposal.plan.edits if not self._shared(edit)]
        if any(self._conflicts(edit) or self._repeats(edit, proposal.finding.code) for edit in edits):
            return False
        merged = self._united(proposal)
        if merged is None:
            return False
        imports = {**self._imports, **merged}
        if any(_crosses(edit, imports.get(edit.path, ())) for edit in edits):
            return False
        self._imports = imports
        for request in proposal.plan.imports:
            self._requests.setdefault(request.path, {})[request] = None
        for edit in edits:
            self._count += 1
            insort(self._added.setdefault(edit.path, []), (edit.span, self._count, edit))
            for line in _new_lines(edit):
                self._statements.setdefault((edit.path, line), (proposal.finding.code, edit.span))
        self.accepted.append(proposal)
        return True

    def edits(self) -> dict[str, tuple[Edit, ...]]:
        """All edits by file; at the same place imports come first."""
        paths = sorted({*self._added, *self._imports})
        by_path = {
            path: (*self._imports.get(path, ()), *(edit for _, _, edit in self._added.get(path, ()))) for path in paths
        }
        return {path: closed_up(self._text_of(path).text, edits) for path, edits in by_path.items() if edits}

    def _shared(self, edit: Edit) -> bool:
        """Whether another fix has the same edit. Insertions within a line are never shared: two closing brackets at one
        place are two."""
        if edit not in (other for _, _, other in self._near(edit)):
            return False
        return not _insertion(edit) or "\n" in edit.text

    def _conflicts(self, edit: Edit) -> bool:
        return any(_overlap(other, edit) or _same_range(other, edit) for _, _, other in self._near(edit))

    def _repeats(self, edit: Edit, code: str) -> bool:
        """Whether the fix of another check inserts one of these lines at another place of the file. The next pass shows
        whether it is needed twice."""
        insertions = (self._statements.get((edit.path, line), (code, edit.span)) for line in _new_lines(edit))
        return any(other != code and place != edit.span for other, place in insertions)

    def _near(self, edit: Edit) -> list[tuple[Span, int, Edit]]:
        """The added edits that may overlap this one; they do not overlap each other, so both ends are sorted."""
        taken = self._added.get(edit.path, [])
        start, end = _start(edit), _end(edit)
        first = bisect_left(taken, start, key=lambda neighbour: (neighbour[0].line, neighbour[0].column))
        while first and _end(taken[first - 1][2]) >= start:
            first -= 1
        last = first
        while last < len(taken) and _start(taken[last][2]) <= end:
            last += 1
        return taken[first:last]

    def _united(self, proposal: Proposal) -> dict[str, tuple[Edit, ...]] | None:
        """The import edits of the files for which this fix requests more imports; None if they conflict."""
        united: dict[str, tuple[Edit, ...]] = {}
        for path in dict.fromkeys(request.path for request in proposal.plan.imports):
            fresh = [request for request in proposal.plan.imports if request.path == path]
            requested = self._requests.get(path, {})
            if all(request in requested for request in fresh):
                continue
            text = self._text_of(path)
            alone = self._merge_imports(text, fresh)
            try:
                edits = self._merge_imports(text, list(dict.fromkeys((*requested, *fresh)))) if requested else alone
            except FixRefused:
                return None
            if any(_crosses(other, edits) for _, _, other in self._added.get(path, ())):
                return None
            united[path] = edits
        return united


def _start(edit: Edit) -> tuple[int, int]:
    return edit.span.line, edit.span.column


def _end(edit: Edit) -> tuple[int, int]:
    return edit.span.end_line, edit.span.end_column


def _insertion(edit: Edit) -> bool:
    return _start(edit) == _end(edit)


def _new_lines(edit: Edit) -> list[str]:
    """The lines that an edit inserts as a whole."""
    return (
        [line for line in map(str.strip, edit.text.split("\n")) if line]
        if "\n" in edit.text and _insertion(edit)
        else []
    )


def _overlap(edit: Edit, other: Edit) -> bool:
    """Whether two edits of a file change the same text; adjacent edits do not."""
    return _start(edit) < _end(other) and _start(other) < _end(edit)


def _same_range(edit: Edit, other: Edit) -> bool:
    return edit.span == other.span


def _crosses(edit: Edit, imports: Sequence[Edit]) -> bool:
    """Whether an edit changes text that import edits change; insertions at the same place do not conflict."""
    return any(
        _overlap(import_edit, edit) or (_same_range(import_edit, edit) and not _insertion(import_edit))
        for import_edit in imports
    )
