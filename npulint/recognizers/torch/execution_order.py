"""Whether code runs whenever its module is loaded, and whether two places can run in one pass."""

from __future__ import annotations

from typing import Literal

from npulint.facts.code import Scalar, Value
from npulint.model.running.import_failures import after_failure
from npulint.model.running.importers import import_places
from npulint.model.values.cursors import Expr, Scope
from npulint.model.values.walker import memoized

Placed = Literal["top", "try", "condition", "function"]
_KINDS: dict[str, Placed] = {"try": "try", "except": "try", "function": "function", "lambda": "function"}


def placed(scope: Scope) -> Placed:
    """``top`` if it runs whenever its module is loaded; else what may prevent it: ``try`` (not one that passes a failed
    import on), ``function`` or ``condition``. Where all that import the module may be prevented, what prevents them."""
    here = _placed_in_module(scope)
    return _importers_placed(scope.at(0)) if here == "top" else here


@memoized(meanwhile=lambda: "top")
def _importers_placed(module: Scope) -> Placed:
    """``try`` or ``condition`` if some import of a module stands in one, also in a function, and none runs whenever its
    module is loaded; else ``top``."""
    places = [around for around, _ in import_places(module.context).get(module.path, ())]
    placed = {_placed_in_module(around) for around in places}
    if placed == {"function"} and all(map(_conditions, places)):
        return "condition"
    return "top" if "top" in placed else "try" if "try" in placed else "condition" if "condition" in placed else "top"


def _placed_in_module(scope: Scope) -> Placed:
    for around in scope.ancestors:
        if around.kind == "try" and after_failure(around) == "stops":
            continue
        if around.kind in _KINDS:
            return _KINDS[around.kind]
    return "condition" if any(not condition.has_main_test for condition in _conditions(scope)) else "top"


def exclusive(scope: Scope, other: Scope) -> bool:
    """Whether at most one of two blocks runs: branches of one ``if``, or contradicting conditions."""
    here, there = _conditions(scope), _conditions(other)
    return any(_contradict(a, b) for a in here for b in there)


def _conditions(scope: Scope) -> list[Scope]:
    return [around for around in scope.ancestors if around.kind in ("if", "else")]


def _contradict(scope: Scope, other: Scope) -> bool:
    if scope.test.value == other.test.value:
        same = (scope.record.line, scope.parent) == (other.record.line, other.parent)
        return scope.kind != other.kind and (same or not _calls(scope.test))
    if scope.kind != "if" or other.kind != "if":
        return False
    first, second = _equals(scope.test), _equals(other.test)
    return first is not None and second is not None and first[0] == second[0] and first[1] != second[1]


def _equals(test: Expr) -> tuple[Value, Scalar] | None:
    """The name and the constant that a condition compares, as in ``args.amp == "apex"``."""
    sides = test.operands("==")
    if sides and sides[1].is_literal and not _calls(test):
        return sides[0].value, sides[1].literal
    return None


def _calls(value: Expr) -> bool:
    """Whether a condition calls something, which may return another result the next time."""
    return value.call is not None or any(map(_calls, value.operands()))
