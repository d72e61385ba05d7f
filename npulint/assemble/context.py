"""What recognisers need: the project with its names, values, guards and reach, and how to make a fact."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import msgspec

from npulint.assemble.flow import Flow, argument
from npulint.assemble.guards import Guards
from npulint.assemble.input_reachability import Reach
from npulint.assemble.launches.options import Options
from npulint.assemble.module import Module
from npulint.assemble.names import Names
from npulint.assemble.project import Project
from npulint.assemble.training import Training
from npulint.facts.code import Assignment, Call, Op, TorchExpression, Value
from npulint.facts.model import Fact, GenericFact, Span
from npulint.facts.values import PossibleValues
from npulint.lazy_regex import lazy_compile

_TEST_FILE = lazy_compile(r"(?:^|/)(?:tests?|testing|unittests?)/|(?:^|/)(?:test_[^/]+|[^/]+_test)\.py$")

_T = TypeVar("_T")


class Context:
    """One project under recognition. `torch` is the release of PyTorch that it is for; empty when not known."""

    def __init__(self, project: Project, torch: str = "") -> None:
        self.project = project
        for module in project.modules.values():
            module.forget_cursors()
        self.torch = torch
        self.names = Names(project)
        self.options = Options(self.names)
        self.flow = Flow(self.names, self.options)
        self.guards = Guards(self.flow)
        self.reach = Reach(self.flow)
        self.training = Training(self.flow)
        self.walks: dict[object, set[object]] = {}  # see `npulint.assemble.walker`
        self._places: dict[tuple[str, int], Place] = {}
        self._worked_out: dict[object, Any] = {}

    def memoize(self, key: object, work: Callable[[], _T]) -> _T:
        """The result of `work`, done once for a key: what many facts ask must not be looked for anew."""
        if key not in self._worked_out:
            self._worked_out[key] = work()
        result: _T = self._worked_out[key]
        return result

    def call_fact(self, kind: str, name: str, module: Module, index: int, **attrs: Any) -> Fact:
        """A fact about call number `index`, with its arguments and its surroundings."""
        call = module.code.calls[index]
        span = Span(call.line, call.column, call.end_line, call.end_column)
        return GenericFact(
            kind, name, module.path, span, attrs, CallArguments(self, module, call), self.around(module, call.block)
        )

    def bind_fact(self, kind: str, name: str, module: Module, bind: Assignment, **attrs: Any) -> Fact:
        """A fact about an assignment; its attribute `value` is what is assigned."""
        attrs.setdefault("value", lambda: self.flow.known(module, bind.value, bind.block, bind.line))
        span = Span(bind.line, bind.column, bind.end_line, bind.end_column)
        return GenericFact(kind, name, module.path, span, attrs, None, self.around(module, bind.block))

    def note_fact(self, kind: str, name: str, module: Module, note: TorchExpression, **attrs: Any) -> Fact:
        """A fact about a noted expression."""
        span = Span(note.line, note.column, note.end_line, note.end_column)
        return GenericFact(kind, name, module.path, span, attrs, None, self.around(module, note.block))

    def around(self, module: Module, block: int) -> Place:
        """The surroundings of code in `block`."""
        key = (module.path, block)
        place = self._places.get(key)
        if place is None:
            place = self._places[key] = Place(self, module, block)
        return place

    def loops(self, module: Module, block: int) -> int:
        """How many loops surround `block` within its function."""
        count = 0
        while block > 0 and module.blocks[block].kind not in ("function", "lambda"):
            count += module.blocks[block].kind == "loop"
            block = module.blocks[block].parent
        return count

    def loop_of(self, module: Module, block: int) -> int:
        """The nearest loop around `block` within its function, or -1."""
        return module.loop_of(block)

    def gated(self, module: Module, block: int) -> bool:
        """Whether code in `block` runs only in some rounds of its loop: below a condition, in a branch."""
        loop = self.loop_of(module, block)
        inner = module.ancestors(block)
        before = inner[: inner.index(loop)] if loop >= 0 else []
        return any(module.blocks[b].kind in ("if", "else", "except") for b in before)

    def under(self, module: Module, block: int) -> str:
        """The canonical names of the ``with`` contexts around `block`, innermost first, joined by spaces."""
        names = []
        for ancestor in module.ancestors(block):
            record = module.blocks[ancestor]
            if record.kind == "with":
                names.append(self.names.of_value(module, record.test, record.parent, record.line))
        return " ".join(names)

    def known(self, module: Module, value: Value, call: Call | Assignment) -> PossibleValues:
        """The value of an operand of a call or assignment."""
        return self.flow.known(module, value, call.block, call.line)


class Place:
    """A block of code as the surroundings of the facts in it; answers are worked out once."""

    __slots__ = ("_answers", "block", "context", "module")

    def __init__(self, context: Context, module: Module, block: int) -> None:
        self.context = context
        self.module = module
        self.block = block
        self._answers: dict[str, str | None] = {}

    def get(self, attribute: str) -> str | None:
        """See `npulint.facts.model.Surroundings`."""
        if attribute not in self._answers:
            self._answers[attribute] = self._work_out(attribute)
        return self._answers[attribute]

    def _work_out(self, attribute: str) -> str | None:
        context, module, block = self.context, self.module, self.block
        if attribute == "active":
            return context.guards.active(module, block)
        if attribute == "in_input":
            return context.reach.in_input(module, block)
        if attribute == "in_loop":
            return "yes" if context.loops(module, block) else "no"
        if attribute == "in_test":
            return "yes" if _TEST_FILE.search(module.path) or context.guards.is_trial(module, block) else "no"
        if attribute == "function":
            return module.qualname(block)
        if attribute == "step":
            return context.training.step(module, block)
        if attribute == "behind":
            return context.guards.guarded_by(module, block)
        if attribute == "ranked":
            from npulint.assemble.cursors import scope_at  # which know this module
            from npulint.assemble.ranks import on_some_ranks

            return "yes" if on_some_ranks(scope_at(context, module, block)) else "no"
        return context.under(module, block) if attribute == "under" else None


class CallArguments(msgspec.Struct, frozen=True, eq=False):
    """The arguments of one call, evaluated on demand."""

    context: Context
    module: Module
    call: Call

    def argument_value(self, name: str, position: int) -> PossibleValues | None:
        """See `npulint.facts.model.Arguments`."""
        value = argument(self.call, name, position)
        return None if value is None else self.context.known(self.module, value, self.call)

    @property
    def starred(self) -> bool:
        """See `npulint.facts.model.Arguments`."""
        return any(isinstance(a, Op) and a.op == "star" for a in self.call.args) or any(
            k == "**" for k, _ in self.call.keywords
        )
