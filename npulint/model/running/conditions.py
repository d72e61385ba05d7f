"""Conditions: what the test of a branch asks, and whether it holds. The condition of a block is evaluated here only."""

from __future__ import annotations

from collections.abc import Iterator

from npulint.facts.values import truth
from npulint.model.values.cursors import Expr, Scope

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
