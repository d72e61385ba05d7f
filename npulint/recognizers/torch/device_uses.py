"""The base of all ``cuda`` facts."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import ClassVar, Literal

from npulint.facts.attributes import attribute
from npulint.facts.model import Span
from npulint.facts.values import PossibleValues
from npulint.model.running.code_facts import PlaceFact
from npulint.model.running.code_places import ExpressionPlace, expressions, imports_package
from npulint.model.running.guards import surely_runs, turned_on_by
from npulint.model.running.npu_server import npu_server
from npulint.model.running.reach import HowReached
from npulint.model.values.context import once_per_file
from npulint.model.values.cursors import AssignmentSite, CallSite, Expr, Scope
from npulint.recognizers.torch import agnostic, device_names
from npulint.recognizers.torch.device_effects import is_spared
from npulint.recognizers.torch.device_moves import Move, chooses_itself, keeps_table, knows_npu


class CudaUse(PlaceFact, eq=False, dict=True):
    """A place where code uses or tests for CUDA. `call` or `assignment` is the expression around it."""

    is_call: ClassVar[bool] = True

    call: CallSite | None = None
    assignment: AssignmentSite | None = None
    find_reach: Callable[[], HowReached] | None = None
    """Set when the programs are known."""
    in_training: bool = False
    """Whether a training program of the project loads it, other than what only another script runs when started."""

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
        """Whether its file is an entry script: nothing imports it, or it has code below ``__main__``."""
        return device_names.script(self.scope)

    @attribute
    def torch(self) -> bool:
        """Whether its file imports torch itself."""
        return imports_package(self.scope, "torch")

    @attribute
    def move(self) -> Move:
        """How a fix moves it to the NPU: ``name`` (another name), ``text`` (another text), ``default`` (a default
        device instead of a default type), or ``none`` (nothing of that is enough)."""
        if self.in_test or (self.is_choice and chooses_itself(self.scope)):
            return "none"
        if self.may_be_key and keeps_table(self.scope):
            return "none"
        if self.behind == "cuda" and (knows_npu(self.scope) or keeps_table(self.scope)):
            return "none"
        return self.own_move

    @attribute
    def matters(self) -> bool:
        """Whether a run on an NPU server may miss something because of it: not if the branches for CUDA that it stands
        in, or decides, do nothing that is needed there, or have one for the NPU next to them, nor in an assertion about
        what somebody chose."""
        if self._assertion is not None and not surely_runs(self.scope):
            return False
        return not is_spared(self.scope, self.span.line, self.question)

    @attribute
    def reached(self) -> Literal["surely", "maybe", "no"]:
        """Whether training programs that load its file reach it on an NPU server: surely, maybe (also where there is
        none) or not. Ask after what is cheaper."""
        return "maybe" if self.find_reach is None else self.find_reach()

    @attribute
    def turned_on_by(self) -> str:
        """The option that it needs to run, as it is written, where that is off by default; otherwise empty."""
        return turned_on_by(self.scope)

    @attribute
    def device_specific(self) -> bool:
        """Whether it is for CUDA on purpose, as the name of its file, folder or class says, or stands where the project
        chooses the device for the rest of its code."""
        return agnostic.is_device_specific(self.scope)

    @attribute
    def instead(self) -> str:
        """What does the same on any accelerator: a member of the project's own helper, or of torch.accelerator if the
        project's release of PyTorch has it; `none` if nothing does."""
        return self._instead.text

    @attribute
    def instead_by(self) -> agnostic.By:
        """Whose it is: the project's own helper's, or PyTorch's."""
        return self._instead.by

    @attribute
    def instead_import(self) -> str:
        """The statement that imports the helper."""
        return self._instead.statement

    @attribute
    def interchangeable(self) -> bool:
        """Whether what does the same takes its place as it is."""
        return self._instead.same

    @cached_property
    def _instead(self) -> agnostic.Instead:
        if self.name.startswith("torch.cuda."):
            return agnostic.instead_of(self.name, self.scope.context, self.call)
        return agnostic.device_instead(self.scope.context)

    @attribute
    def fatal(self) -> bool:
        """Whether it stands in an assertion that fails on an NPU server; not where a function that nothing calls by its
        name, but may choose, asserts what it takes."""
        test = self._assertion
        if test is None or (self._is_chosen and self._is_about_parameter(test)):
            return False
        return npu_server(self.scope.context).truth(test) is False

    @property
    def _is_chosen(self) -> bool:
        function = self.scope.function
        return function is not None and not function.is_method and not function.callers

    def _is_about_parameter(self, test: Expr) -> bool:
        taken = self.scope.module.params.get(self.scope.routine.block, frozenset())
        return any(part.dotted.partition(".")[0] in taken for part in test.mentioned)

    @property
    def _assertion(self) -> Expr | None:
        here = (self.span.line, self.span.column)
        around = (
            assertion
            for assertion in _assertions(self.scope)
            if assertion.span.line <= here[0] <= assertion.span.end_line
        )
        expression_places = (
            expression_place
            for expression_place in around
            if (expression_place.span.line, expression_place.span.column) <= here
        )
        return next(
            (
                expression_place.expression
                for expression_place in expression_places
                if here < (expression_place.span.end_line, expression_place.span.end_column)
            ),
            None,
        )

    @property
    def question(self) -> Expr | None:
        """The expression that asks whether there is CUDA; None for everything else."""
        return None

    @property
    def is_choice(self) -> bool:
        """Whether it determines the chosen device, which stays unchanged in a file that distinguishes several
        devices."""
        return False

    @property
    def may_be_key(self) -> bool:
        """Whether its value is not passed to PyTorch directly, so that other code may look it up."""
        return False

    @property
    def own_move(self) -> Move:
        """How it is moved unless other code in its file prevents that."""
        return "none"


@once_per_file
def _assertions(module: Scope) -> list[ExpressionPlace]:
    """The assertions of a file that test for CUDA."""
    return list(expressions(module, "assert"))


def is_guarded(scope: Scope, span: Span) -> bool:
    """Whether code is in a try, in the CUDA branch of a conditional expression, or in a project's ``cuda`` method."""
    tried = any(around.kind in ("try", "except") for around in scope.ancestors)
    if tried or scope.qualname.rpartition(".")[2] == "cuda":
        return True
    here = (span.line, span.column)
    chosen = (place.span for place in expressions(scope, "choice"))
    return any((choice.line, choice.column) <= here < (choice.end_line, choice.end_column) for choice in chosen)


def end_of(span: Span, text: str) -> Span:
    """The place of `text` at the end of a call that spans several lines."""
    return Span(span.end_line, max(1, span.end_column - len(text)), span.end_line, span.end_column)
