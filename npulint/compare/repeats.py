"""Removes unmatched steps that only repeat others."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from npulint.facts.code import CallResult
from npulint.training_config.program import Home
from npulint.training_config.steps.model import CodeStep

_APPLIED = "()"


def without_repeats(steps: Sequence[CodeStep]) -> list[CodeStep]:
    """The steps without ranks and sizes that are arguments of others (``shard(hvd.size(), hvd.rank())``), and without
    the applications of layers that are among them."""
    arguments: set[tuple[str, int]] = set()
    for step in steps:
        if step.call >= 0 and step.part != "ranks":
            call = step.module.code.calls[step.call]
            values = (*call.args, *(value for _, value in call.keywords))
            arguments |= {(step.module.path, value.call) for value in values if isinstance(value, CallResult)}
    made = {(step.module.path, step.name + _APPLIED) for step in steps if step.kind == "call"}
    return [step for step in steps if not _is_argument(step, arguments) and (step.module.path, step.name) not in made]


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


def _is_argument(step: CodeStep, arguments: set[tuple[str, int]]) -> bool:
    return step.part == "ranks" and (step.module.path, step.call) in arguments
