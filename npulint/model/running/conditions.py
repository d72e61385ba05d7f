"""Conditions: what the test of a branch asks, and whether it holds. The condition of a block is evaluated here only."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import msgspec

from npulint.facts.values import PossibleValues, truth
from npulint.model.values.context import Context
from npulint.model.values.cursors import Expr, Scope
from npulint.model.values.mappings import items
from npulint.model.values.objects import assumed_item
from npulint.model.values.walker import walker

BRANCHES = ("if", "else")
_EQUALITY = frozenset(("==", "is", "in", "!=", "is not", "not in"))
_DENYING = ("!=", "not in", "is not")


def holds(test: Expr) -> bool | None:
    """Whether a condition holds when every option has its usual value; None when undetermined."""
    return truth(test.known)


def is_taken(branch: Scope) -> bool | None:
    """Whether the condition of an ``if`` or ``else`` block lets it run; None when undetermined."""
    answer = holds(branch.test)
    return None if answer is None else answer == (branch.kind == "if")


def waits_for_a_name(test: Expr) -> bool:
    """Whether a condition asks which of several names an option has that has none unless it is given."""
    operands = test.operands("==")
    return bool(operands) and isinstance(operands[1].literal, str) and operands[0].known.values == (None,)


def is_negated(test: Expr) -> bool:
    """Whether a condition asks for the absence of what it names."""
    if test.operator == "not":
        return True
    against = [expr for operand in test.operands() for expr in (operand.items or [operand])]
    nothing = test.operator in _EQUALITY and any(expr.is_literal and not expr.literal for expr in against)
    return (test.operator in _DENYING) != nothing


def needs_presence(branch: Scope) -> bool:
    """Whether an ``if`` or ``else`` block runs where there is what its condition names, not where that is absent."""
    return (branch.kind == "else") == is_negated(branch.test)


def words(test: Expr) -> Iterator[str]:
    """The names and texts in a condition; of calls also those in what is called and in positional arguments."""
    queue = [test]
    while queue:
        part = queue.pop()
        if part.written or part.text:
            yield part.written or part.text
        queue += part.parts[::-1]


def words_around(scope: Scope) -> list[str]:
    """The names and texts in the conditions around a block."""
    return [word for around in scope.ancestors if around.kind in BRANCHES for word in words(around.test)]


# Situations: single rounds of loops and single calls of functions, in each of which a variable has one value.

_DEPTH = 5
_MOST = 128


class Situation(msgspec.Struct, frozen=True):
    """What certain loops are at, and which calls run certain functions; by the path and the block of each."""

    rounds: tuple[tuple[tuple[str, int], Expr | tuple[str, int]], ...] = ()


ANY = Situation()
"""No particular situation."""


@contextmanager
def within(context: Context, situation: Situation) -> Iterator[None]:
    """While it is open, values are those in a situation."""
    before = context.assumed
    context.assumed = {**before, **dict(situation.rounds)}
    try:
        yield
    finally:
        context.assumed = before


def known_in(value: Expr, situation: Situation) -> PossibleValues:
    """The scalars that an expression may have in a situation."""
    if not situation.rounds:
        return value.known
    with within(value.context, situation):
        return value.known


def situations(name: Expr) -> list[tuple[str, Situation]]:
    """The texts that a computed name has, each with the situation in which it has it; branches around it that are not
    taken there leave a situation out, as does a test that is undetermined."""
    texts: list[tuple[str, Situation]] = []
    for situation in _situations(name)[:_MOST]:
        with within(name.context, situation):
            text = name.known.single
            if isinstance(text, str) and (not situation.rounds or _is_run(name, situation)):
                texts.append((text, situation))
    return texts


def _is_run(name: Expr, situation: Situation) -> bool:
    """Whether all branches between an expression and the loops and functions of a situation are taken in it."""
    outer = {block for (path, block), _ in situation.rounds if path == name.module.path}
    around = list(name.scope.ancestors)
    outermost = max((number for number, scope in enumerate(around) if scope.block in outer), default=0)
    return all(is_taken(scope) for scope in around[:outermost] if scope.kind in BRANCHES)


def written_for(value: Expr, situation: Situation) -> Expr:
    """What stands for the variable of a loop in a situation (the entry of the dict), else the expression itself."""
    with within(value.context, situation):
        for assigned in value.assignments if situation.rounds else ():
            item = assumed_item(assigned.value)
            holder = assigned.value.subscript
            parts = [] if holder is None else [display.element(holder[1].literal) for display in holder[0].displays]
            exprs = [expr for expr in (item, *parts) if expr is not None]
            if len(exprs) == 1:
                return exprs[0]
    return value


@walker(depth=_DEPTH, otherwise=list)
def _situations(value: Expr) -> list[Situation]:
    """The situations that differ in what an expression is."""
    names = [part for part in value.mentioned if part.written]
    for name in names:
        for assigned in name.assignments:
            holder = assigned.value
            while holder.operator == "[]":
                holder = holder.operands()[0]
            if holder.operator == "iter":
                place = (holder.module.path, holder.scope.block)
                return [Situation(((place, item),)) for item in items(holder.operands()[0])]
    for name in names:
        function = name.passed_to
        if function is not None:
            return _by_call(name, (function.path, function.block))
    return [Situation()]


def _by_call(name: Expr, place: tuple[str, int]) -> list[Situation]:
    function = name.passed_to
    of_calls = []
    for call, given in [] if function is None else function.passed(name.written):
        if given is not None:
            site = (call.path, call.index)
            of_calls += [Situation(((place, site), *situation.rounds)) for situation in _situations(given)]
    return of_calls
