"""Compares the order of what a training step does: clear the gradients, backward pass, clipping, optimizer, schedule."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from npulint.assemble.cursors import Scope
from npulint.compare.difference import Difference, SideValue
from npulint.compare.step_pairs import Pairing
from npulint.training_config.steps.model import CodeStep, Home

_PARTS = frozenset(("update", "clipping", "schedule"))
_BACKWARD = "backward"
_ACTIONS = frozenset((_BACKWARD, "zero_grad", "step", "step_update", "unscale_"))

Event = tuple[CodeStep, CodeStep]
"""An action of a training step, in the reference and in the migrated program."""


def of_update_order(pairing: Pairing) -> Iterator[Difference]:
    """A difference for the first action of each function that comes at another place among the others, and for those
    that are repeated in another loop: once in each step instead of once in each epoch."""
    for events in _events(pairing).values():
        yield from _in_other_loops(events)
        moved = _moved(events)
        if moved is not None:
            yield _reordered(*moved)


def _events(pairing: Pairing) -> dict[tuple[Home, Home], list[Event]]:
    found: dict[tuple[Home, Home], list[Event]] = defaultdict(list)
    for left, right in (*pairing.pairs, *pairing.swapped):
        if _is_action(left) and _is_action(right):
            found[left.home, right.home].append((left, right))
    return found


def _is_action(step: CodeStep) -> bool:
    if step.kind != "call" or step.part not in _PARTS or step.evaluates:
        return False
    return step.part == "clipping" or step.name.rpartition(".")[2] in _ACTIONS


def _moved(events: Sequence[Event]) -> Event | None:
    """The first action of the loop around the backward pass that another one now precedes. A loop has no beginning, so
    that clearing the gradients first or last is the same."""
    first = min((one for one in events if _is_backward(one[0])), key=lambda one: one[0].order, default=None)
    if first is None:
        return None
    loops = _loop(first[0]), _loop(first[1])
    inside = [one for one in events if _loop(one[0]) is loops[0] and _loop(one[1]) is loops[1]]
    ours, theirs = (_turned(inside, first, side) for side in (0, 1))
    return next((one for one, other in zip(ours, theirs, strict=True) if one is not other), None)


def _turned(events: Sequence[Event], first: Event, side: int) -> list[Event]:
    """The actions in the order of one side, beginning with the first backward pass."""
    ordered = sorted(events, key=lambda one: one[side].order)
    at = next(number for number, one in enumerate(ordered) if one is first)
    return ordered if _loop(first[side]) is None else [*ordered[at:], *ordered[:at]]


def _in_other_loops(events: Sequence[Event]) -> Iterator[Difference]:
    if len({(_depth(left), _depth(right)) for left, right in events}) > 1:
        shift = min(_depth(right) - _depth(left) for left, right in events if not _is_backward(left))
        backward = [_depth(right) - _depth(left) for left, right in events if _is_backward(left)]
        usual = backward[0] if backward else shift
        for left, right in events:
            if _depth(right) - _depth(left) != usual:
                yield _reordered(left, right)


def _is_backward(step: CodeStep) -> bool:
    return step.name.rpartition(".")[2] == _BACKWARD


def _loops(step: CodeStep) -> list[Scope]:
    """The loops around a step within its function, innermost first."""
    found = []
    for scope in (step.scope, *step.scope.ancestors):
        if scope.kind in ("function", "class"):
            break
        if scope.kind == "loop":
            found.append(scope)
    return found


def _loop(step: CodeStep) -> Scope | None:
    return next(iter(_loops(step)), None)


def _depth(step: CodeStep) -> int:
    return len(_loops(step))


def _reordered(left: CodeStep, right: CodeStep) -> Difference:
    sides = [SideValue(step.shown, step.scope.path, step.span) for step in (left, right)]
    return Difference(left.part, "reordered", left.shown, "", sides[0], sides[1], function=right.function)
