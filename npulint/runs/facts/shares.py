"""What one table of a profile says in parts of another: calls of the host as shares of the steps beside them."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from npulint.facts.model import Fact
from npulint.runs.facts.profiles import folder_of
from npulint.runs.read.host_lines import HostWait
from npulint.runs.read.interfaces import HostActivity
from npulint.runs.read.of_computing import OfComputing
from npulint.runs.read.quantities import share
from npulint.runs.read.steps import StepBreakdown


def with_step_shares(facts: Iterable[Fact]) -> list[Fact]:
    """The facts, in their order; `run_host` and `run_wait` facts without a `share` get one, the first `per_step` as
    well, where exactly one table of steps lies in their folder. A table of calls covers all steps of its profile. Facts
    whose `share` is one of computing get `of_step`: what computing takes of the step, in percent."""
    facts = list(facts)
    steps: dict[str, list[StepBreakdown]] = {}
    for fact in facts:
        if isinstance(fact, StepBreakdown):
            steps.setdefault(folder_of(fact.path), []).append(fact)
    return [_with_share(fact, steps.get(folder_of(fact.path), [])) for fact in facts]


def _with_share(fact: Fact, steps: list[StepBreakdown]) -> Fact:
    if len(steps) != 1:
        return fact
    if isinstance(fact, OfComputing):
        return msgspec.structs.replace(fact, of_step=steps[0].computing_share)
    count = steps[0].steps
    whole = steps[0].step_us * count
    if not isinstance(fact, HostActivity | HostWait) or fact.share is not None or whole <= 0:
        return fact
    part = share(fact.total_us, whole)
    if isinstance(fact, HostWait):
        return msgspec.structs.replace(fact, share=part)
    return msgspec.structs.replace(fact, share=part, per_step=round(fact.calls / count, 1))
