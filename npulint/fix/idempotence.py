"""Changes that were made and are wanted again at the same place: the check does not come to rest."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from npulint.findings import FixEdit
from npulint.fix.edits import Proposal, Spot
from npulint.fix.fix_pass import Denied, Done
from npulint.fix.fix_workspace import FixWorkspace
from npulint.fix.verify import carried, stretches

Verbs = tuple[tuple[str, tuple[tuple[str, str], ...]], ...]
"""What the steps of a change do, wherever."""


class AppliedFix(msgspec.Struct, frozen=True):
    """A change that was made: what it was, where its place is since then, and how many like it were left over there."""

    spot: Spot
    steps: Verbs
    start: int
    end: int
    left: int

    def recurs(self, wanted: Sequence[Proposal | Denied], desk: FixWorkspace) -> bool:
        """Whether the same is wanted there again, be it that nothing more can be done."""
        return _count(self.spot, self.steps, self.start, self.end, wanted, desk) > self.left


def marked(done: Done, denied: Sequence[Denied], desk: FixWorkspace) -> list[AppliedFix]:
    """The changes that a round made, for the next to look at; others were `denied` before it."""
    found = []
    changed = {path: stretches(desk.document(path).text.text, edits) for path, edits in done.edits.items()}
    for one in done.effective:
        if one.change is None or one.path not in changed:
            continue
        start, end = desk.document(one.path).stretch(one.place)
        steps = _steps(one.change)
        left = _count(one.spot, steps, start, end, [*done.waiting, *done.denied, *denied], desk)
        found.append(AppliedFix(one.spot, steps, *carried(changed[one.path], start, end), left))
    return found


def _count(
    spot: Spot,
    steps: Verbs,
    start: int,
    end: int,
    wanted: Sequence[Proposal | Denied],
    desk: FixWorkspace,
) -> int:
    """How many of the changes do the same within a stretch."""
    alike = [one for one in wanted if one.spot == spot and one.change is not None and _steps(one.change) == steps]
    places = [desk.document(one.path).stretch(one.place) for one in alike]
    return sum(start <= first and last <= end for first, last in places)


def _steps(change: FixEdit) -> Verbs:
    """What a change does, wherever."""
    return tuple((step.verb, tuple(sorted(step.words.items()))) for step in change.steps)
