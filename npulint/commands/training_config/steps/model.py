"""Steps: operations of a function that affect numbers, in execution order."""

from __future__ import annotations

from functools import cached_property

import msgspec

from npulint.core.lazy_regex import lazy_compile
from npulint.data.recipe import RecipeCall
from npulint.facts.code import Value
from npulint.facts.model import Span
from npulint.model.code.module import Module
from npulint.model.values.cursors import CallSite, Expr, Scope

MODULE = 0
"""The block of module-level code."""

Home = tuple[str, int]
"""A function by path and block; `MODULE` is module-level code."""

_EVALUATION = lazy_compile(
    r"(?:^|[_.])(?:eval|evaluate|evaluation|val|valid|validate|validation|test|infer|inference)(?:[_.]|$)"
)


class Argument(msgspec.Struct, frozen=True, eq=False):
    """One argument of a step: the name under which it is compared (its index if the parameters are unknown), its
    expression, its part of the training config, and how the value is converted before the comparison
    (`npulint.data.recipe.converted`). `span` is its own place, if recorded."""

    name: str
    expr: Expr
    role: str = ""
    how: str = ""
    span: Span | None = None

    @property
    def value(self) -> Value:
        """The value as read."""
        return self.expr.value


class CodeStep(msgspec.Struct, frozen=True, eq=False, dict=True):
    """One step. `kind`: call (of a recorded function), own (call of a project function), named (literal keyword
    arguments of an unknown function), bind (assignment of a literal), switch (assignment with a side effect), fill (a
    constant assigned through a mask), counter (increment in a loop), default (of a parameter), entry (of a dict
    display), expression (a formula) or loop (number of iterations). Steps can only match if their `name` is equal;
    `shown` is for display; `part` is a part in `npulint.facts.recipe.ITEMS`. `scope` is the block that it stands in,
    `site` the call, `target` the called project function. `counts`: the step affects the numbers of this program.
    `text` is the source of a formula, `formula` its value. `handed`: project functions passed as arguments
    (``map(f)``)."""

    kind: str
    name: str
    shown: str
    part: str
    scope: Scope
    span: Span
    arguments: tuple[Argument, ...] = ()
    site: CallSite | None = None
    target: Home | None = None
    recipe: RecipeCall | None = None
    counts: bool = True
    text: str = ""
    formula: Argument | None = None
    handed: tuple[Home, ...] = ()

    @property
    def module(self) -> Module:
        """The module that it stands in."""
        return self.scope.module

    @cached_property
    def home(self) -> Home:
        """The enclosing function, or `MODULE`."""
        return home_of(self.scope)

    @property
    def is_global(self) -> bool:
        """Whether it is module-level code."""
        return self.home[1] == MODULE

    @property
    def function(self) -> str:
        """The name of the enclosing function; empty for module-level code."""
        return self.module.blocks[self.home[1]].name if not self.is_global else ""

    @cached_property
    def evaluates(self) -> bool:
        """Whether it is only for evaluation; a loop never is, the calls in it may be."""
        return self.kind != "loop" and evaluates(self.scope)

    @property
    def is_open(self) -> bool:
        """Whether there may be more arguments than are visible."""
        return self.site is not None and self.site.starred

    @property
    def is_applied(self) -> bool:
        """Whether it applies an object (a layer) that was created elsewhere."""
        return self.name.endswith("()")

    @property
    def order(self) -> tuple[int, int]:
        """A key for execution order: calls run in the order in which they end, arguments before callers, methods along
        a chain."""
        return self.span.end_line, self.span.end_column


def home_of(scope: Scope) -> Home:
    """The named function around a block, or `MODULE`; a lambda belongs to the function that contains it."""
    module = scope.module
    function = module.function_of(scope.block)
    while function >= 0 and module.blocks[function].kind == "lambda":
        function = module.function_of(module.blocks[function].parent)
    return module.path, max(function, MODULE)


def evaluates(scope: Scope) -> bool:
    """Whether code is only for evaluation, judging by the names around it."""
    return any(_EVALUATION.search(word) for word in (scope.qualname.lower(), scope.path.rpartition("/")[2]))
