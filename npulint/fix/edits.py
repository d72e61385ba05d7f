"""Which changes of many findings go together: of two that meet the graver one is made, the other waits."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise

import msgspec

from npulint.facts.model import Span
from npulint.findings import SEVERITIES, Edit, Finding, FixEdit
from npulint.fix.blanks import closed_up
from npulint.fix.model import FixRefused, Plan, Text, Wish

Uniting = Callable[[Text, Sequence[Wish]], tuple[Edit, ...]]
"""The edits that give a text all imports that it is wished for; raises `FixRefused`."""


Spot = tuple[str, str]
"""A check in a file: code and path."""


class Proposal(msgspec.Struct, frozen=True):
    """What one finding wants done at one place, worked out. `place` is where: that of the step which mends the finding
    itself."""

    finding: Finding
    applicability: str
    path: str
    place: Span
    change: FixEdit | None
    plan: Plan

    @property
    def paths(self) -> set[str]:
        """The files that it touches."""
        return {edit.path for edit in self.plan.edits} | {wish.path for wish in self.plan.imports}

    @property
    def spot(self) -> Spot:
        """Which check wants it in which file."""
        return self.finding.code, self.path

    def order(self) -> tuple[object, ...]:
        """The graver first, then as in a report."""
        return -SEVERITIES.index(self.finding.severity), self.path, self.place, self.finding.code


def coherent(edits: Iterable[Edit]) -> tuple[Edit, ...]:
    """The edits of one change, each once, those of the same place in their order. Raises `FixRefused` (``overlap``)
    when two of them want something else of the same text."""
    unique = tuple(dict.fromkeys(edits))
    ordered = sorted(unique, key=lambda edit: (edit.path, edit.span))
    for one, other in pairwise(ordered):
        quarrel = _overlap(one, other) or (_same_range(one, other) and not _insertion(one))
        if one.path == other.path and quarrel:
            raise FixRefused("overlap")
    return unique


class Round:
    """The changes that are made together. `text_of` gives the files as they are before them."""

    def __init__(self, text_of: Callable[[str], Text], uniting: Uniting) -> None:
        self._text_of = text_of
        self._uniting = uniting
        self._taken: dict[str, list[tuple[Span, int, Edit]]] = {}
        self._wishes: dict[str, dict[Wish, None]] = {}
        self._imports: dict[str, tuple[Edit, ...]] = {}
        self._count = 0
        self.accepted: list[Proposal] = []

    def add(self, proposal: Proposal) -> bool:
        """Take a change, whole or not at all: whether it meets none of those taken. Raises `FixRefused` when a file
        cannot have an import that it is wished for."""
        edits = [edit for edit in proposal.plan.edits if not self._shared(edit)]
        if any(self._met(edit) for edit in edits):
            return False
        wanted = self._united(proposal)
        if wanted is None:
            return False
        imports = {**self._imports, **wanted}
        if any(_crosses(edit, imports.get(edit.path, ())) for edit in edits):
            return False
        self._imports = imports
        for wish in proposal.plan.imports:
            self._wishes.setdefault(wish.path, {})[wish] = None
        for edit in edits:
            self._count += 1
            insort(self._taken.setdefault(edit.path, []), (edit.span, self._count, edit))
        self.accepted.append(proposal)
        return True

    def edits(self) -> dict[str, tuple[Edit, ...]]:
        """By file all that is to be done; at one place imports come first."""
        paths = sorted({*self._taken, *self._imports})
        found = {
            path: (*self._imports.get(path, ()), *(edit for _, _, edit in self._taken.get(path, ()))) for path in paths
        }
        return {path: closed_up(self._text_of(path).text, edits) for path, edits in found.items() if edits}

    def _shared(self, edit: Edit) -> bool:
        """Whether somebody else does the same. An insertion within a line is not shared: two brackets that close at
        one place are two."""
        if edit not in (other for _, _, other in self._near(edit)):
            return False
        return not _insertion(edit) or "\n" in edit.text

    def _met(self, edit: Edit) -> bool:
        return any(_overlap(other, edit) or _same_range(other, edit) for _, _, other in self._near(edit))

    def _near(self, edit: Edit) -> list[tuple[Span, int, Edit]]:
        """The taken edits that may meet this one: those taken do not overlap, so they end in the order they begin."""
        taken = self._taken.get(edit.path, [])
        start, end = _start(edit), _end(edit)
        first = bisect_left(taken, start, key=lambda one: (one[0].line, one[0].column))
        while first and _end(taken[first - 1][2]) >= start:
            first -= 1
        last = first
        while last < len(taken) and _start(taken[last][2]) <= end:
            last += 1
        return taken[first:last]

    def _united(self, proposal: Proposal) -> dict[str, tuple[Edit, ...]] | None:
        """The import edits of the files for which this change wishes something more; None when they meet what is
        taken, or the wishes of others."""
        found: dict[str, tuple[Edit, ...]] = {}
        for path in dict.fromkeys(wish.path for wish in proposal.plan.imports):
            fresh = [wish for wish in proposal.plan.imports if wish.path == path]
            known = self._wishes.get(path, {})
            if all(wish in known for wish in fresh):
                continue
            text = self._text_of(path)
            alone = self._uniting(text, fresh)
            try:
                edits = self._uniting(text, list(dict.fromkeys((*known, *fresh)))) if known else alone
            except FixRefused:
                return None
            if any(_crosses(other, edits) for _, _, other in self._taken.get(path, ())):
                return None
            found[path] = edits
        return found


def _start(edit: Edit) -> tuple[int, int]:
    return edit.span.line, edit.span.column


def _end(edit: Edit) -> tuple[int, int]:
    return edit.span.end_line, edit.span.end_column


def _insertion(edit: Edit) -> bool:
    return _start(edit) == _end(edit)


def _overlap(one: Edit, other: Edit) -> bool:
    """Whether two edits of a file want the same text; to touch is not to overlap."""
    return _start(one) < _end(other) and _start(other) < _end(one)


def _same_range(one: Edit, other: Edit) -> bool:
    return one.span == other.span


def _crosses(edit: Edit, imports: Sequence[Edit]) -> bool:
    """Whether an edit wants the text that imports change. To insert where they do is no quarrel."""
    return any(_overlap(one, edit) or (_same_range(one, edit) and not _insertion(one)) for one in imports)
