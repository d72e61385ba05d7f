"""Expressions together with the calls through which they were reached: only these calls provide arguments then."""

from __future__ import annotations

import msgspec

from npulint.facts.code import Op, Value
from npulint.model.launches.options import Option
from npulint.model.running.code_places import OptionPlace
from npulint.model.values.callers import implicit_arguments
from npulint.model.values.context import Context
from npulint.model.values.cursors import CallSite, Expr, Scope, scope_at


class Passing(msgspec.Struct, frozen=True, eq=False):
    """One call of `function`: at `site`, `args` and `keywords` are passed. The first `shift` parameters of the function
    (``self``) are not among `args`."""

    function: Scope
    site: CallSite
    args: tuple[Value, ...]
    keywords: tuple[tuple[str, Value], ...]
    shift: int = 0

    def argument(self, name: str) -> Expr | None:
        """The argument for a parameter by keyword or position; None if it is absent or passed by ``*args``."""
        for key, value in self.keywords:
            if key == name:
                return self.site.expr(value)
        at = self._position(name)
        return self.site.expr(self.args[at]) if 0 <= at < len(self.args) and not self.is_open(name) else None

    def is_open(self, name: str) -> bool:
        """Whether ``*args`` may pass the parameter."""
        before = self.args[: max(0, self._position(name)) + 1]
        return any(isinstance(value, Op) and value.op == "star" for value in before)

    def _position(self, name: str) -> int:
        parameters = self.function.parameters
        return parameters.index(name) - self.shift if name in parameters else -1


Calls = tuple[Passing, ...]
"""The calls that were followed into the functions around an expression, outermost first."""


def passing_at(function: Scope, site: CallSite) -> Passing:
    """A plain call of a function."""
    shift = implicit_arguments(function, site.module, site.index)
    return Passing(function, site, site.record.args, site.record.keywords, shift)


class Followed(msgspec.Struct, frozen=True):
    """An expression, the `calls` through which it was reached, and the variables of a comprehension around it with
    their values in one iteration (`bound`)."""

    expr: Expr
    calls: Calls = ()
    bound: tuple[tuple[str, object], ...] = ()

    @property
    def context(self) -> Context:
        """The project that it belongs to."""
        return self.expr.scope.context

    def to(self, expr: Expr) -> Followed:
        """Another expression, reached through the same calls."""
        return Followed(expr, self.calls, self.bound if expr.scope is self.expr.scope else ())

    def entered(self, expr: Expr, passing: Passing) -> Followed:
        """An expression in the function that a call at this place runs."""
        return Followed(expr, (*self.calls, passing))

    def caller(self, function: Scope) -> tuple[Passing, Calls] | None:
        """The followed call that runs a function around this place, and the calls through which that was reached."""
        for number in range(len(self.calls) - 1, -1, -1):
            if self.calls[number].function is function:
                return self.calls[number], self.calls[:number]
        return None


def option_default(context: Context, option: Option) -> Expr:
    """The default in the definition of an option."""
    return OptionPlace(scope_at(context, option.module, option.call.block), option).default
