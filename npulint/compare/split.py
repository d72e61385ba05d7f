"""Finds functions that were extracted from a function of the other program."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from npulint.compare.step_pairs import Pairing
from npulint.training_config.program import Home
from npulint.training_config.steps.model import CodeStep

_MOST = 0.6  # fraction of the steps of a function


def split_off(pairing: Pairing, *known: Callable[[Home], bool]) -> frozenset[Home]:
    """Unmatched functions whose steps are mostly matched: a call of them replaces inline code. `known` says, for the
    reference and for the migrated program, which functions have counterparts."""
    found: set[Home] = set()
    for side, (has_counterpart, unmatched) in enumerate(zip(known, (pairing.removed, pairing.added), strict=True)):
        paired = Counter(_home(pair[side]) for pair in (*pairing.pairs, *pairing.swapped))
        alone = Counter(map(_home, unmatched))
        most = (home for home, count in paired.items() if count >= _MOST * (count + alone[home]))
        found.update(home for home in most if not has_counterpart(home))
    return frozenset(found)


def _home(step: CodeStep) -> Home:
    return step.module.path, step.home
