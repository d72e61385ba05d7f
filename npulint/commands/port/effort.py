"""The effort of a port that is planned: what it edits and what it leaves."""

from __future__ import annotations

from npulint.commands.port.model import PortPlan
from npulint.judge.effort import Effort
from npulint.judge.effort.estimate import Place, counted


def effort_of(plan: PortPlan) -> Effort:
    """The effort from the edits and open findings of a plan, which a check can only foresee."""
    edits: dict[Place, bool] = {}
    for step in plan.steps:
        for item in step.items:
            for place in item.places:
                edits[place] = edits.get(place, True) and item.safe
    return counted(
        edits.items(), {(open_finding.finding.path, open_finding.finding.code) for open_finding in plan.left}
    )
