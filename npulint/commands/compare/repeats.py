"""Removes unmatched steps that only repeat others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from npulint.commands.compare.step_pairs import Pairing
from npulint.commands.training_config.steps.model import CodeStep, Home

_MOST = 0.6  # fraction of the steps of a function


def split_off(pairing: Pairing, *known: Callable[[Home], bool]) -> frozenset[Home]:
    """Unmatched functions whose steps are mostly matched: they were extracted from a function, and a call of them
    replaces inline code. `known` says, for the reference and for the migrated program, which functions have
    counterparts."""
    found: set[Home] = set()
    for side, (has_counterpart, unmatched) in enumerate(zip(known, (pairing.removed, pairing.added), strict=True)):
        paired = Counter(pair[side].home for pair in (*pairing.pairs, *pairing.swapped))
        alone = Counter(step.home for step in unmatched)
        most = (home for home, count in paired.items() if count >= _MOST * (count + alone[home]))
        found.update(home for home in most if not has_counterpart(home))
    return frozenset(found)


def without_repeats(steps: Sequence[CodeStep]) -> list[CodeStep]:
    """The steps without ranks and sizes that are arguments of others (``shard(hvd.size(), hvd.rank())``), and without
    the applications of layers that are among them."""
    using = [step.site for step in steps if step.site is not None and step.part != "ranks"]
    arguments = {value.call for site in using for value in site.arguments}
    made = {(step.scope.path, f"{step.name}()") for step in steps if step.kind == "call"}
    rest = [step for step in steps if step.part != "ranks" or step.site is None or step.site not in arguments]
    return [step for step in rest if (step.scope.path, step.name) not in made]


def without_moved(
    gone: Sequence[CodeStep], new: Sequence[CodeStep], counterpart: Callable[[Home], Home | None]
) -> tuple[list[CodeStep], list[CodeStep]]:
    """Both lists without calls of functions and of their counterparts that only moved to another function."""
    theirs = {step.target for step in new if step.target is not None}
    moved = {
        (step.target, there)
        for step in gone
        if step.target is not None and (there := counterpart(step.target)) in theirs
    }
    left, right = {one for one, _ in moved}, {other for _, other in moved}
    return [step for step in gone if step.target not in left], [step for step in new if step.target not in right]
