"""Attributes that describe the place of every fact from Python code."""

from __future__ import annotations

from functools import cached_property
from typing import Literal

from npulint.facts.attributes import Flag
from npulint.model.running.guards import active, guarded_by, is_trial
from npulint.model.running.input_reachability import pipeline_of
from npulint.model.running.ranks import on_some_ranks
from npulint.model.running.training import Step, training_of
from npulint.model.running.training_conditions import is_over_in_training
from npulint.model.values.cursors import Scope
from npulint.model.values.script_role import is_test_file


class Surroundings:
    """The attributes of one block, each computed once; create with `surroundings_of`."""

    def __init__(self, scope: Scope) -> None:
        self._scope = scope

    @cached_property
    def active(self) -> Flag:
        """Whether it runs unless somebody turns an option on."""
        return active(self._scope)

    @cached_property
    def in_input(self) -> Literal["yes", "maybe", "no"]:
        """Whether it runs in, or builds, the input pipeline."""
        return pipeline_of(self._scope.context).in_input(self._scope)

    @cached_property
    def in_loop(self) -> bool:
        """Whether it is in a loop of its function."""
        return self._scope.loops > 0

    @cached_property
    def in_test(self) -> bool:
        """Whether it is test code: in a test file, or only run when an imported module is started itself."""
        return is_test_file(self._scope.path) or is_trial(self._scope)

    @cached_property
    def step(self) -> Step:
        """Whether it runs in every training step of PyTorch, in some, while data is prepared, or at another time."""
        return training_of(self._scope.context).step(self._scope)

    @property
    def prepares_data(self) -> bool:
        """Whether it runs while data is prepared, on the host."""
        return self.step == "host" or self.in_input == "yes"

    @cached_property
    def behind(self) -> Literal["npu", "cuda", "none"]:
        """The device that a condition around it tests for."""
        return guarded_by(self._scope)

    @cached_property
    def ranked(self) -> bool:
        """Whether a condition around it compares the rank of the process."""
        return on_some_ranks(self._scope)

    @cached_property
    def under(self) -> str:
        """The canonical names of the ``with`` contexts around it, innermost first, joined by spaces."""
        return " ".join(scope.test.name for scope in self._scope.ancestors if scope.kind == "with")


def surroundings_of(scope: Scope) -> Surroundings:
    """The only `Surroundings` object of a block."""
    if scope.surroundings is None:
        scope.surroundings = Surroundings(scope)
    surroundings: Surroundings = scope.surroundings
    return surroundings


def step_at(scope: Scope, line: int) -> Step:
    """How often what stands at `line` of a block runs while training: not at all after an exit that is taken then, and
    in some steps after one that some steps take."""
    found = surroundings_of(scope).step
    if found in ("yes", "gated") and is_over_in_training(scope, line):
        return "no"
    return "gated" if found == "yes" and training_of(scope.context).may_be_skipped(scope, line) else found
