"""Differences for the arguments of unmatched steps that belong to another part of the training config:
``drop_last=True`` of a distributed loader, ``clip_grad=1.0`` of a removed call."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from npulint.compare.difference import Difference, SideValue
from npulint.compare.side import Side
from npulint.compare.steps import function_of
from npulint.facts.code import Const
from npulint.training_config.steps.formatting import shown
from npulint.training_config.steps.model import Argument, CodeStep

_ROLES = frozenset(("drop_remainder", "clipping", "loss_scale"))
_OFF = (None, False, 0, -1)


def of_roles(unmatched: Sequence[tuple[Side, Sequence[CodeStep]]]) -> Iterator[Difference]:
    """The arguments of unmatched steps that belong to a different part than the step and have no counterpart in the
    function."""
    for side, steps in unmatched:
        for step in steps:
            other = side.counterpart((step.module.path, step.home))
            if other is None or step.evaluates or not step.counts:
                continue
            theirs = [*side.other.homes.get(other, ())]
            for argument in step.arguments:
                separate = _has_own_role(argument, step) and not any(_has(one, argument.role) for one in theirs)
                if separate and not any(one.part == argument.role for one in steps):
                    yield _difference(side, step, argument)


def _has_own_role(argument: Argument, step: CodeStep) -> bool:
    off = isinstance(argument.value, Const) and argument.value.value in _OFF
    return argument.role in _ROLES and argument.role != step.part and not off


def _has(step: CodeStep, role: str) -> bool:
    return step.part == role or any(_has_own_role(one, step) for one in step.arguments if one.role == role)


def _difference(side: Side, step: CodeStep, argument: Argument) -> Difference:
    mark = SideValue(shown(step.module, argument.value), step.module.path, argument.span or step.span)
    return Difference(
        part=argument.role,
        change=side.change,
        what=step.shown,
        argument=argument.name,
        reference=mark if side.change == "removed" else None,
        migrated=mark if side.change == "added" else None,
        certain=side.running.may(step),
        function=function_of(step),
    )
