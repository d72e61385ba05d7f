"""What all ``cuda`` facts have in common."""

from __future__ import annotations

from typing import ClassVar

from npulint.assemble.code_facts import PlaceFact
from npulint.assemble.code_places import expressions, imports_package
from npulint.assemble.cursors import AssignmentSite, CallSite, Scope
from npulint.assemble.recognizers.torch import device_names
from npulint.assemble.recognizers.torch.device_moves import Move, chooses_itself, keeps_table, knows_npu
from npulint.facts.attributes import attribute
from npulint.facts.model import Span
from npulint.facts.values import PossibleValues


class CudaUse(PlaceFact, eq=False, dict=True):
    """A place where code uses CUDA or asks for it. `call` or `assignment` is what it stands in."""

    is_call: ClassVar[bool] = True

    call: CallSite | None = None
    assignment: AssignmentSite | None = None

    @property
    def args(self) -> CallSite | None:
        """The arguments of the call."""
        return self.call

    @attribute
    def value(self) -> PossibleValues | None:
        """What is assigned."""
        return None if self.assignment is None else self.assignment.value.known

    @attribute
    def script(self) -> bool:
        """Whether its file is one to start: nothing imports it, or it does its work below ``__main__``."""
        return device_names.script(self.scope)

    @attribute
    def torch(self) -> bool:
        """Whether its file imports torch itself."""
        return imports_package(self.scope, "torch")

    @attribute
    def move(self) -> Move:
        """How a fix moves it to the NPU: ``name`` where another name does, ``text`` where another text does, ``none``
        where that is not enough."""
        if self.in_test or (self.is_choice and chooses_itself(self.scope)):
            return "none"
        if self.may_be_key and keeps_table(self.scope):
            return "none"
        if self.behind == "cuda" and (knows_npu(self.scope) or keeps_table(self.scope)):
            return "none"
        return self.own_move

    @property
    def is_choice(self) -> bool:
        """Whether it says which device is chosen: it stays as it is in a file that knows several apart."""
        return False

    @property
    def may_be_key(self) -> bool:
        """Whether what it says does not go to torch at once: other code may look it up."""
        return False

    @property
    def own_move(self) -> Move:
        """How it is moved where nothing else in its file speaks against it."""
        return "none"


def is_guarded(scope: Scope, span: Span) -> bool:
    """Whether code is tried, is what a conditional expression gives on CUDA, or is an own ``cuda`` method."""
    tried = any(around.kind in ("try", "except") for around in scope.ancestors)
    if tried or scope.qualname.rpartition(".")[2] == "cuda":
        return True
    here = (span.line, span.column)
    chosen = (place.span for place in expressions(scope, "choice"))
    return any((one.line, one.column) <= here < (one.end_line, one.end_column) for one in chosen)


def end_of(span: Span, text: str) -> Span:
    """The place of `text` at the end of a call over several lines."""
    return Span(span.end_line, max(1, span.end_column - len(text)), span.end_line, span.end_column)
