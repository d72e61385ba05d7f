"""Compiled functions and modules that are compiled again, because they get Python numbers that change."""

from __future__ import annotations

from collections.abc import Iterator

from npulint.facts.attributes import Flag, attribute, flag
from npulint.facts.kinds import fact_kind
from npulint.facts.values import truth
from npulint.model.running.code_facts import CallFact
from npulint.model.running.compiled_calls import calls_of_result
from npulint.model.values.cursors import CallSite, Expr, Scope
from npulint.model.values.loop_values import changes
from npulint.recognizers.registry import recognizes, recognizes_in_modules

_COMPILE = "torch.compile"


@fact_kind("recompile")
class Recompiling(CallFact):
    """A loop calls what ``torch.compile`` gives with a Python number that changes; the name is the callee as
    written."""

    _value: Expr
    _made: CallSite | None

    @attribute
    def value(self) -> str:
        """The argument, as written; shortened if it is computed."""
        return self._value.written or "…"

    @attribute
    def fixed_shapes(self) -> Flag:
        """Whether it is compiled for fixed shapes and numbers: ``dynamic=False``; unknown without that argument."""
        given = None if self._made is None else self._made.argument("dynamic")
        decided = None if given is None else truth(given.known)
        return flag(None if decided is None else not decided)


@recognizes(_COMPILE)
def results_called(call: CallSite) -> Iterator[Recompiling]:
    """The calls of the results of ``torch.compile``."""
    return _called_with_numbers(calls_of_result(call), call)


@recognizes_in_modules
def decorated_called(module: Scope) -> Iterator[Recompiling]:
    """The calls of functions that ``torch.compile`` decorates."""
    for function in module.blocks_of("function"):
        for decorator in function.decorators:
            if decorator.name.removesuffix("()") == _COMPILE:
                yield from _called_with_numbers(function.callers, decorator.call)


def _called_with_numbers(calls: list[CallSite], made: CallSite | None) -> Iterator[Recompiling]:
    for call in calls:
        changing = next(filter(changes, call.arguments), None) if call.scope.loop is not None else None
        if changing is not None:
            yield Recompiling(call, call.written or call.last, changing, made)
