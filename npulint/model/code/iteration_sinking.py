"""Iteration offload is configured twice, by a session option and a call, and checkpoints wait for the end of a loop: do
the numbers agree?"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Literal

from npulint.facts.attributes import Flag
from npulint.facts.model import Fact
from npulint.facts.values import PossibleValues

_CALLS = frozenset(("set_iteration_per_loop", "load_iteration_per_loop_var"))
_ANNOUNCED = frozenset(("create_iteration_per_loop_var", "SetIterationsVarHook"))

Agreement = Literal["yes", "no", "missing", "unknown"]


def sinks_iterations(call: Fact) -> bool:
    """Whether a call offloads a loop of iterations, or configures that."""
    return call.name.rpartition(".")[2] in _CALLS | _ANNOUNCED


class SinkingCalls:
    """The calls of a project that offload a loop of iterations."""

    def __init__(self, calls: Sequence[Fact]) -> None:
        self._calls = calls

    @cached_property
    def _iterations(self) -> list[object]:
        """The numbers of iterations passed to the calls; None for an unknown number."""
        passed = [
            call.args.argument_value("iterations_per_loop", 2)
            for call in self._calls
            if call.name.rpartition(".")[2] in _CALLS and call.args
        ]
        return [value.single for value in passed if value is not None]

    def agree_with(self, number: PossibleValues) -> Agreement:
        """Whether the calls get the number of iterations that an option sets."""
        if not self._calls:
            return "missing"
        if not self._iterations or None in self._iterations or number.single is None:
            return "unknown"
        return "yes" if number.single in self._iterations else "no"


def divides(iterations: PossibleValues, interval: PossibleValues | None) -> Flag:
    """Whether a checkpoint interval is a multiple of the iterations per loop."""
    steps, every = iterations.single, None if interval is None else interval.single
    if not isinstance(steps, int) or not isinstance(every, int) or steps < 1 or every < 1:
        return "unknown"
    return "no" if every % steps else "yes"
