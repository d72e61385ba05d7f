"""Functions of one program that were made of a part of a function of the other one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from npulint.compare.step_pairs import Pairing
from npulint.training_config.program import Home
from npulint.training_config.steps.model import CodeStep

_MOST = 0.6  # share of the steps of a function


def split_off(pairing: Pairing, *known: Callable[[Home], bool]) -> frozenset[Home]:
    """Functions without counterpart of which most steps have one: to call them does what stood in place of the call.
    `known` tells for the reference, then for the migrated program, which functions have counterparts."""
    found: set[Home] = set()
    for side, (has_counterpart, lonely) in enumerate(zip(known, (pairing.removed, pairing.added), strict=True)):
        paired = Counter(_home(pair[side]) for pair in (*pairing.pairs, *pairing.swapped))
        alone = Counter(map(_home, lonely))
        most = (home for home, count in paired.items() if count >= _MOST * (count + alone[home]))
        found.update(home for home in most if not has_counterpart(home))
    return frozenset(found)


def _home(step: CodeStep) -> Home:
    return step.module.path, step.home
