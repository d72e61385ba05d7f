"""Steps: operations of a function that affect numbers, in execution order."""

from __future__ import annotations

import msgspec

from npulint.assemble.module import Module
from npulint.data.recipe import RecipeCall
from npulint.facts.code import Value
from npulint.facts.model import Span

MODULE = 0
"""The block of module-level code."""


class Argument(msgspec.Struct, frozen=True, eq=False):
    """One argument of a step: the name under which it is compared (its index if the parameters are unknown), its value
    as written in `block` at `line`, its part of the training config, and how the value is converted before the
    comparison (`npulint.data.recipe.converted`). `span` is its own place, if recorded."""

    name: str
    value: Value
    block: int
    line: int
    role: str = ""
    how: str = ""
    span: Span | None = None


class CodeStep(msgspec.Struct, frozen=True, eq=False):
    """One step. `kind`: call (of a recorded function), own (call of a project function), named (literal keyword
    arguments of an unknown function), bind (assignment of a literal), switch (assignment with a side effect), fill (a
    constant assigned through a mask), counter (increment in a loop), default (of a parameter), entry (of a dict
    display), expression (a formula) or loop (number of iterations). Steps can only match if their `name` is equal;
    `shown` is for display; `part` is a part in `npulint.facts.recipe.ITEMS`. `home` is the block of the enclosing
    function (or `MODULE`), `block` the immediate one. `open`: there may be more arguments than are visible. `target`:
    path and block of the called project function. `counts`: the step affects the numbers of this program. `text` is the
    source of a formula, `whole` its value. `handed`: project functions passed as arguments (``map(f)``)."""

    kind: str
    name: str
    shown: str
    part: str
    module: Module
    home: int
    block: int
    span: Span
    arguments: tuple[Argument, ...] = ()
    open: bool = False
    call: int = -1
    target: tuple[str, int] | None = None
    known: RecipeCall | None = None
    evaluates: bool = False
    counts: bool = True
    text: str = ""
    whole: Argument | None = None
    handed: tuple[tuple[str, int], ...] = ()

    @property
    def order(self) -> tuple[int, int]:
        """A key for execution order: calls run in the order in which they end, arguments before callers, methods along
        a chain."""
        return self.span.end_line, self.span.end_column
