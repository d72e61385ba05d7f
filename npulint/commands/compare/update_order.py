"""Compares the order of what a training step does: clearing gradients, backward pass, clipping, optimizer, schedule."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from npulint.commands.compare.step_pairs import Pairing
from npulint.commands.training_config.steps.model import CodeStep, Home
from npulint.facts.comparison.difference import Difference, SideValue, of_one
from npulint.model.values.cursors import Scope

_PARTS = frozenset(("update", "clipping", "schedule"))
_BACKWARD = "backward"
_ACTIONS = frozenset((_BACKWARD, "zero_grad", "step", "step_update", "unscale_"))

Event = tuple[CodeStep, CodeStep]
"""An action of a training step, in the reference and in the migrated program."""


def of_update_order(pairing: Pairing) -> Iterator[Difference]:
    """A difference for the first action of each function that comes at another place among the others, and for those
    that are repeated in another loop: once in each step instead of once in each epoch."""
    alone = {_kind(step) for step in (*pairing.removed, *pairing.added) if _is_action(step)}
    for home, events in _events(pairing).items():
        yield from _cleared(events, [step for step in pairing.added if step.home == home[1]])
        if any(_kind(step) in alone for event in events for step in event):
            continue  # one of several was paired
        yield from _in_other_loops(events)
        moved = _moved(events)
        if moved is not None:
            yield _reordered(*moved)


def _events(pairing: Pairing) -> dict[tuple[Home, Home], list[Event]]:
    events: dict[tuple[Home, Home], list[Event]] = defaultdict(list)
    for left, right in (*pairing.pairs, *pairing.swapped):
        if _is_action(left) and _is_action(right):
            events[left.home, right.home].append((left, right))
    return events


def _is_action(step: CodeStep) -> bool:
    if step.kind != "call" or step.part not in _PARTS or step.evaluates:
        return False
    return step.part == "clipping" or _last(step) in _ACTIONS


def _kind(step: CodeStep) -> tuple[Home, str]:
    return step.home, _last(step)


def _last(step: CodeStep) -> str:
    return step.name.rpartition(".")[2]


def _cleared(events: Sequence[Event], added: Sequence[CodeStep]) -> Iterator[Difference]:
    """The gradients are now cleared between the backward pass and the step of the optimizer too."""
    passes = [right for left, right in events if _is_backward(left)]
    steps = [right for left, right in events if _last(left) == "step" and left.part == "update"]
    for step in added:
        if _last(step) != "zero_grad" or not _is_action(step):
            continue
        before = [backward for backward in passes if _loop(backward) is _loop(step) and backward.order < step.order]
        after = [update for update in steps if _loop(update) is _loop(step) and update.order > step.order]
        if before and after:
            side = SideValue(step.shown, step.scope.path, step.span)
            yield of_one("update", "added", step.shown, "", side, function=step.function)


def _moved(events: Sequence[Event]) -> Event | None:
    """The first action of the loop around the backward pass that another one now precedes. A loop has no beginning, so
    that clearing the gradients first or last is the same."""
    first = min((event for event in events if _is_backward(event[0])), key=lambda event: event[0].order, default=None)
    if first is None:
        return None
    loops = _loop(first[0]), _loop(first[1])
    inside = [event for event in events if _loop(event[0]) is loops[0] and _loop(event[1]) is loops[1]]
    ours, theirs = (_turned(inside, first, side) for side in (0, 1))
    return next((event for event, other in zip(ours, theirs, strict=True) if event is not other), None)


def _turned(events: Sequence[Event], first: Event, side: int) -> list[Event]:
    """The actions in the order of one side, beginning with the first backward pass."""
    ordered = sorted(events, key=lambda event: event[side].order)
    at = next(number for number, event in enumerate(ordered) if event is first)
    return ordered if _loop(first[side]) is None else [*ordered[at:], *ordered[:at]]


def _in_other_loops(events: Sequence[Event]) -> Iterator[Difference]:
    """The actions that, unlike the backward pass, are now inside or outside of a further loop."""
    passes = [event for event in events if _is_backward(event[0])]
    if len(passes) != 1:
        return
    usual = _shift(passes[0])
    yield from (_reordered(*event) for event in events if _shift(event) != usual)


def _shift(event: Event) -> int:
    return event[1].scope.loops - event[0].scope.loops


def _is_backward(step: CodeStep) -> bool:
    return _last(step) == _BACKWARD


def _loop(step: CodeStep) -> Scope | None:
    """The innermost loop around a step within its function."""
    for scope in step.scope.ancestors:
        if scope.kind in ("function", "class", "lambda"):
            return None
        if scope.kind == "loop":
            return scope
    return None


def _reordered(left: CodeStep, right: CodeStep) -> Difference:
    sides = [SideValue(step.shown, step.scope.path, step.span) for step in (left, right)]
    return Difference(left.part, "reordered", left.shown, "", sides[0], sides[1], function=right.function)
