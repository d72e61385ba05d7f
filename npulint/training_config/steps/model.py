"""Steps: what a function does that decides numbers, in the order in which it is done."""

from __future__ import annotations

import msgspec

from npulint.assemble.module import Module
from npulint.data.recipe import RecipeCall
from npulint.facts.code import Value
from npulint.facts.model import Span

MODULE = 0
"""The block of a module itself, to which what stands outside functions belongs."""


class Argument(msgspec.Struct, frozen=True, eq=False):
    """One argument of a step: the name under which it is compared (a number: its place, where the parameters are not
    known), its value as written in `block` at `line`, the part of the recipe that it belongs to, and how its value is
    converted before it is compared (`npulint.data.recipe.converted`). `span` is its own place, where that is
    known."""

    name: str
    value: Value
    block: int
    line: int
    role: str = ""
    how: str = ""
    span: Span | None = None


class CodeStep(msgspec.Struct, frozen=True, eq=False):
    """One step. `kind`: call (of the vocabulary), own (call of a function of the project), named (literals given by
    keyword to something unknown), bind (a literal gets a name), switch (one whose assignment does something by
    itself), fill (a constant where a mask is), counter (what a loop counts), default (of a parameter), entry (of a
    dict display), expression (a formula) or loop (how often). `name` is what has to be equal for steps to be each
    other's counterparts, `shown` what people read; `part` is a word of `npulint.facts.recipe.ITEMS`. `home` is the
    block of the function (`MODULE`: none) that it belongs to, `block` the one that it stands in. `open`: there may be
    more arguments than are seen. `target` is the own function that is called, by path and block. `counts`: as far as
    this program tells, it decides numbers. `text` is the source of a formula, and `whole` its value. `handed` are
    the own functions that are given to what is called (``map(f)``)."""

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
        """Calls run in the order in which they end: arguments before what takes them, methods along a chain."""
        return self.span.end_line, self.span.end_column
