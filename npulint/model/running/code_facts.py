"""The base classes of facts from Python code: about a call, an assignment or another expression."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

from npulint.facts.attributes import Flag, attribute
from npulint.facts.model import Arguments, Fact, Span
from npulint.facts.values import PossibleValues
from npulint.model.running.npu_server import npu_server
from npulint.model.running.surroundings import step_at, surroundings_of
from npulint.model.running.training_reach import is_unused, only_evaluates
from npulint.model.values.cursors import AssignmentSite, CallSite, Scope


class CodeFact(Fact, eq=False, dict=True):
    """A fact at a place in Python code. Its attributes, which every such fact has, describe the place."""

    if TYPE_CHECKING:

        @property
        def scope(self) -> Scope: ...

    def own_attributes(self) -> list[str]:
        """See `Fact.own_attributes`."""
        common = CodeFact.attribute_names()
        return [name for name in super().own_attributes() if name not in common]

    @property
    def path(self) -> str:
        """The path of its file."""
        return self.scope.module.path

    @property
    def run_by(self) -> Scope:
        """The block that runs it: a program that reaches this block comes to the fact."""
        return self.scope

    @attribute
    def active(self) -> Flag:
        """Whether it runs unless somebody turns an option on."""
        if npu_server(self.scope.context).is_dead(self.scope, self.span.line):
            return "no"
        return surroundings_of(self.scope).active

    @attribute
    def in_input(self) -> Literal["yes", "maybe", "no"]:
        """Whether it runs in, or builds, the input pipeline."""
        return surroundings_of(self.scope).in_input

    @attribute
    def in_loop(self) -> bool:
        """Whether it stands in a loop of its function."""
        return surroundings_of(self.scope).in_loop

    @attribute
    def in_test(self) -> bool:
        """Whether it only tests: in a file of tests, or when a module that others import is started."""
        return surroundings_of(self.scope).in_test

    @attribute
    def unused(self) -> bool:
        """Whether nothing in the project uses the function or class around it."""
        return is_unused(self.scope)

    @attribute
    def evaluates(self) -> bool:
        """Whether it runs only where nothing trains: without gradients, in functions and scripts that evaluate."""
        return only_evaluates(self.scope, self.span.line)

    @attribute
    def function(self) -> str:
        """The qualified name of the function or class around it."""
        return self.scope.qualname

    @attribute
    def step(self) -> Literal["yes", "gated", "host", "no"]:
        """Whether it runs in every training step of PyTorch, in some (every n-th, on one rank), while data is prepared,
        or at another time."""
        return step_at(self.scope, self.span.line)

    @attribute
    def behind(self) -> Literal["npu", "cuda", "none"]:
        """The device that a condition around it tests for."""
        return surroundings_of(self.scope).behind

    @attribute
    def ranked(self) -> bool:
        """Whether a condition around it compares the rank of the process."""
        return surroundings_of(self.scope).ranked

    @attribute
    def under(self) -> str:
        """The canonical names of the ``with`` contexts around it, innermost first, joined by spaces."""
        return surroundings_of(self.scope).under


class CallFact(CodeFact, eq=False, dict=True):
    """A fact about a call, whose arguments checks may use as well."""

    is_call: ClassVar[bool] = True

    call: CallSite
    name: str

    @property
    def scope(self) -> Scope:
        """The block that contains the call."""
        return self.call.scope

    @property
    def span(self) -> Span:
        """Where the call stands."""
        return self.call.span

    @property
    def args(self) -> Arguments:
        """The arguments of the call."""
        return self.call


class AssignmentFact(CodeFact, eq=False, dict=True):
    """A fact about an assignment."""

    assignment: AssignmentSite
    name: str

    @property
    def scope(self) -> Scope:
        """The block that contains the assignment."""
        return self.assignment.scope

    @property
    def span(self) -> Span:
        """Where the assignment stands."""
        return self.assignment.span

    @property
    def is_editable(self) -> bool:
        """Whether the assignment is a statement, no ``setattr``."""
        return not self.assignment.is_call

    @attribute
    def value(self) -> PossibleValues:
        """The assigned expression."""
        return self.assignment.value.known


class PlaceFact(CodeFact, eq=False, dict=True):
    """A fact about any other place in Python code: an import, a name that is used, an expression."""

    scope: Scope
    span: Span
    name: str
