"""Detects fixes that were applied and are proposed again at the same place, so that the passes would not converge."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from npulint.fix.edits import CheckInFile, Proposal
from npulint.fix.fix_pass import PassResult, RefusedFix
from npulint.fix.fix_workspace import FixWorkspace
from npulint.fix.verify import carried, stretches
from npulint.judge.findings import FixEdit

Verbs = tuple[tuple[str, tuple[tuple[str, str], ...]], ...]
"""The verbs and arguments of a fix, without places."""


class AppliedFix(msgspec.Struct, frozen=True):
    """An applied fix: check and steps, its current place, and how many equal proposals remained there."""

    check_in_file: CheckInFile
    steps: Verbs
    start: int
    end: int
    left: int

    def recurs(self, proposed: Sequence[Proposal | RefusedFix], workspace: FixWorkspace) -> bool:
        """Whether an equal fix is proposed there again, even if refused."""
        return _count(self.check_in_file, self.steps, self.start, self.end, proposed, workspace) > self.left


def applied_fixes(done: PassResult, denied: Sequence[RefusedFix], workspace: FixWorkspace) -> list[AppliedFix]:
    """The fixes applied in a pass, to be checked after the next one; `denied` were refused before it."""
    fixes = []
    changed = {path: stretches(workspace.document(path).text.text, edits) for path, edits in done.edits.items()}
    for proposal in done.effective:
        if proposal.change is None or proposal.path not in changed:
            continue
        start, end = workspace.document(proposal.path).stretch(proposal.place)
        steps = _steps(proposal.change)
        left = _count(proposal.check_in_file, steps, start, end, [*done.waiting, *done.denied, *denied], workspace)
        fixes.append(AppliedFix(proposal.check_in_file, steps, *carried(changed[proposal.path], start, end), left))
    return fixes


def _count(
    check_in_file: CheckInFile,
    steps: Verbs,
    start: int,
    end: int,
    proposed: Sequence[Proposal | RefusedFix],
    workspace: FixWorkspace,
) -> int:
    """The number of proposals with the same check and steps in a range."""
    equal = [
        proposal
        for proposal in proposed
        if proposal.check_in_file == check_in_file and proposal.change is not None and _steps(proposal.change) == steps
    ]
    places = [workspace.document(proposal.path).stretch(proposal.place) for proposal in equal]
    return sum(start <= first and last <= end for first, last in places)


def _steps(change: FixEdit) -> Verbs:
    """The steps of a fix without their places."""
    return tuple((step.verb, tuple(sorted(step.words.items()))) for step in change.steps)
