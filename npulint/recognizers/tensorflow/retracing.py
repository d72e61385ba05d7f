"""Compiled functions that are traced, and compiled for the NPU, again and again: by Python numbers that change, and
where the function itself is made in a loop."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from npulint.core.lazy_regex import lazy_compile
from npulint.facts.attributes import attribute
from npulint.facts.kinds import fact_kind
from npulint.facts.model import Fact, Span
from npulint.model.running.code_facts import CallFact, PlaceFact
from npulint.model.running.compiled_calls import calls_of_result
from npulint.model.values.cursors import CallSite, Expr, Scope
from npulint.model.values.loop_values import changes
from npulint.model.values.walker import walker
from npulint.recognizers.registry import recognizes, recognizes_in_modules
from npulint.recognizers.tensorflow.functions import COMPILING, compiled

_SIGNATURE = ("input_signature", 1)
_HARMLESS = frozenset(("staticmethod", "classmethod"))
_ROUND = lazy_compile(r"epoch|step|batch|iteration|dataset|loader")
_CALLERS = 20


@fact_kind("retrace")
class Retracing(CallFact):
    """A loop calls a compiled function with a Python number that changes; the name is the callee as written."""

    _value: Expr

    @attribute
    def what(self) -> Literal["value"]:
        """What makes it compile again: a value that it gets, or that the function is created again."""
        return "value"

    @attribute
    def value(self) -> str:
        """The argument, as written; shortened if it is computed."""
        return self._value.written or "…"


@fact_kind("retrace")
class RemadeFunction(PlaceFact):
    """A compiled function is made in each iteration of a loop; the name is that of the function."""

    what: Literal["function"] = "function"
    """What makes it compile again: that the function is created again."""
    value: str = "-"
    """Nothing: no argument does."""


@recognizes_in_modules
def retraced(module: Scope) -> Iterator[Fact]:
    """The calls of decorated functions with numbers that change, and decorated functions that a loop creates again."""
    for function in module.blocks_of("function"):
        compiling = _decorator(function)
        if compiling is not None:
            yield from _called_with_numbers(function.callers, compiling)
            if function.parent is not None and _is_remade(function.parent):
                yield RemadeFunction(function.parent, Span.at(function.record.line), function.last_name)


@recognizes(*COMPILING)
def retraced_results(call: CallSite) -> Iterator[Fact]:
    """The same of functions that are passed to ``tf.function``."""
    if call.args:
        yield from _called_with_numbers(calls_of_result(call), call)
        if _is_remade(call.scope):
            yield RemadeFunction(call.scope, call.span, call.args[0].written.rpartition(".")[2] or "lambda")


def _decorator(function: Scope) -> Expr | None:
    """The decorator that compiles a function; None without one."""
    return next(
        (decorator for decorator in function.decorators if decorator.name.removesuffix("()") in COMPILING), None
    )


def _called_with_numbers(calls: list[CallSite], compiling: Expr | CallSite) -> Iterator[Retracing]:
    """The calls in eager loops that pass a number that changes to a function without an input signature."""
    made = compiling.call if isinstance(compiling, Expr) else compiling
    if made is not None and (made.argument(*_SIGNATURE) is not None or made.starred):
        return
    for call in calls:
        if compiled(call.scope) == "no" and _is_looped(call.scope):
            changing = next(filter(changes, call.arguments), None)
            if changing is not None:
                yield Retracing(call, call.written or call.last, changing)


@walker(depth=4, otherwise=bool)
def _is_looped(scope: Scope) -> bool:
    """Whether a block runs in a loop of its function or of one that calls it."""
    if scope.loop is not None:
        return True
    return scope.function is not None and any(_is_looped(call.scope) for call in scope.function.callers[:_CALLERS])


@walker(depth=4, otherwise=bool)
def _is_remade(scope: Scope) -> bool:
    """Whether what an eager block defines is created again in every round of a loop over epochs or batches."""
    around = list(scope.ancestors)
    for ancestor in around:
        if ancestor.kind in ("if", "else", "except", "class", "lambda"):
            return False  # perhaps made once only
        if ancestor.kind == "loop" and not ancestor.record.params:
            return _goes_over_rounds(ancestor) and compiled(ancestor) != "yes"
        if ancestor.kind == "function":
            return _runs_to_its_end(ancestor) and any(_is_remade(call.scope) for call in ancestor.callers[:_CALLERS])
    return False


def _runs_to_its_end(function: Scope) -> bool:
    """Whether every call of a function defines what is in it: nothing around it keeps its first result."""
    plain = all(decorator.name in _HARMLESS for decorator in function.decorators)
    return plain and function.last_name != "__init__" and compiled(function) != "yes"


def _goes_over_rounds(loop: Scope) -> bool:
    """Whether a loop goes over epochs, steps or batches, by the names of what it goes over."""
    counted = [
        assignment.target
        for assignment in loop.assignments
        if assignment.scope is loop and assignment.line == loop.record.line
    ]
    names = counted + [part.written for part in loop.test.mentioned if part.written]
    return any(_ROUND.search(name.lower()) for name in names)
