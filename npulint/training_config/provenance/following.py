"""Protocols between the tracer and its parts."""

from __future__ import annotations

from typing import Protocol

from npulint.assemble.bindings import Bindings, Bound
from npulint.assemble.context import Context
from npulint.assemble.module import Module
from npulint.assemble.names import Names
from npulint.facts.code import Value
from npulint.training_config.provenance.launch_values import Start
from npulint.training_config.provenance.passing import Passed, Passing
from npulint.training_config.provenance.place import At
from npulint.training_config.provenance.plain import Found


class Deciding(Protocol):
    """Decides which code runs (`npulint.training_config.provenance.conditions`)."""

    def hold(self, at: At, block: int, around: frozenset[int] = frozenset(), home: Module | None = None) -> bool | None:
        """Whether the conditions around a block hold; None when undetermined."""

    def reached(self, module: Module, block: int) -> bool:
        """Whether the program may reach a block at all."""


class Assigning(Protocol):
    """Evaluates assignments to names (`npulint.training_config.provenance.assignments`)."""

    def of(self, binds: list[Bound], at: At) -> tuple[list[Found], bool]:
        """The possible values of some assignments, and whether one of them certainly runs."""


class Calling(Protocol):
    """Finds the callers of functions (`npulint.training_config.provenance.parameters`)."""

    def callers(self, module: Module, function: int, at: At) -> list[tuple[Passing, At]]:
        """The calls of a function that run in this start, with their places."""


class Following(Protocol):
    """Evaluates expressions under one start of a program (`npulint.training_config.provenance.tracer`)."""

    context: Context
    names: Names
    start: Start
    passed: Passed
    bindings: Bindings

    @property
    def conditions(self) -> Deciding: ...

    @property
    def assignments(self) -> Assigning: ...

    @property
    def parameters(self) -> Calling: ...

    def found(self, value: Value, at: At) -> Found:
        """The possible values of an expression at a place."""

    def variable(self, name: str) -> Found | None:
        """The value of an environment variable."""

    def member(self, holder: Value, key: str | int, at: At) -> Found | None:
        """The value of an attribute or item of an object."""
