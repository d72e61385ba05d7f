"""Differences for the arguments of unmatched steps that belong to another part of the training config:
``drop_last=True`` of a distributed loader, ``clip_grad=1.0`` of a removed call."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from npulint.commands.compare.side import Side
from npulint.commands.training_config.steps.formatting import shown
from npulint.commands.training_config.steps.model import Argument, CodeStep
from npulint.facts.comparison.difference import Difference, SideValue, of_one

_ROLES = frozenset(("drop_remainder", "clipping", "loss_scale"))
_OFF = (None, False, 0, -1)


def of_roles(unmatched: Sequence[tuple[Side, Sequence[CodeStep]]]) -> Iterator[Difference]:
    """The arguments of unmatched steps that belong to a different part than the step and have no counterpart in the
    function."""
    for side, steps in unmatched:
        for step in steps:
            other = side.counterpart(step.home)
            if other is None or step.evaluates or not step.counts:
                continue
            theirs = [*side.other.homes.get(other, ())]
            for argument in step.arguments:
                separate = _has_own_role(argument, step) and not any(_has(their, argument.role) for their in theirs)
                if separate and not any(one.part == argument.role for one in steps):
                    yield _difference(side, step, argument)


def _has_own_role(argument: Argument, step: CodeStep) -> bool:
    off = argument.expr.is_literal and argument.expr.literal in _OFF
    return argument.role in _ROLES and argument.role != step.part and not off


def _has(step: CodeStep, role: str) -> bool:
    return step.part == role or any(
        _has_own_role(argument, step) for argument in step.arguments if argument.role == role
    )


def _difference(side: Side, step: CodeStep, argument: Argument) -> Difference:
    value = SideValue(shown(argument.expr), step.scope.path, argument.span or step.span)
    sure = side.running.may(step)
    return of_one(argument.role, side.change, step.shown, argument.name, value, certain=sure, function=step.function)
