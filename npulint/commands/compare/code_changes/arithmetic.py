"""Whether two formulas over the same values always give the same number: both are computed for several values."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, Final

from npulint.commands.compare.code_changes.trees import CALL, Tree

_TRIALS: Final = 60  # values that an input gets
_ROUNDS: Final = 3
_MOST: Final = 200  # nodes of a formula
_CLOSE: Final = 1e-9
_BASIC: Final = (0.0, 1.0, 2.0, 3.0, 0.37, 1.71, 5.9)
_TWO: Final[Mapping[str, Callable[[Any, Any], Any]]] = {
    **{"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "**": operator.pow},
    **{"//": operator.floordiv, "%": operator.mod, "<": operator.lt, "<=": operator.le, "==": operator.eq},
    **{"!=": operator.ne, "&": lambda a, b: bool(a) and bool(b), "|": lambda a, b: bool(a) or bool(b)},
}
_ANY: Final[Mapping[str, Callable[..., Any]]] = {
    **{"And": lambda *values: all(values), "Or": lambda *values: any(values), "not": operator.not_},
    **{"neg": operator.neg, "~": operator.not_},
}
_FUNCTIONS: Final[Mapping[str, Callable[..., float]]] = {
    **{"sqrt": math.sqrt, "exp": math.exp, "log": math.log, "cos": math.cos, "sin": math.sin, "abs": abs},
    **{"tanh": math.tanh, "maximum": max, "minimum": min, "max": max, "min": min, "rsqrt": lambda value: value**-0.5},
    **{"float": float},
}
"""By their last name, functions whose values are computed."""
_OF_TWO: Final = frozenset(("maximum", "minimum", "max", "min"))
_UNDEFINED: Final = (ArithmeticError, ValueError, TypeError)

Key = Callable[[Tree], Hashable]


def is_formula(tree: Tree) -> bool:
    """Whether a tree calculates with numbers."""
    return _operation(tree) is not None


def are_equal(left: Tree, right: Tree, same: Key, other: Key, is_known: Callable[[Tree], bool]) -> bool | None:
    """Whether two formulas are worth the same whatever their inputs are worth; None where nothing is calculated, or
    where they depend on other inputs of which it is not known (`is_known`) that the other side has them as well. `same`
    and `other` give keys of inputs of each side that are equal for corresponding ones."""
    if left.size + right.size > _MOST:
        return None
    first, second = _Formula(left, same), _Formula(right, other)
    inputs = {**first.inputs, **second.inputs}
    alone = set(first.inputs) ^ set(second.inputs)
    tried = 0
    for values in _samples(list(inputs), sorted({*first.constants, *second.constants})):
        try:
            a, b = first.value(values), second.value(values)
        except _UNDEFINED:
            continue
        if isinstance(a, complex) or isinstance(b, complex):
            continue
        tried += 1
        if not math.isclose(a, b, rel_tol=_CLOSE, abs_tol=1e-12):
            return False if all(is_known(inputs[key]) for key in alone) else None
    return True if tried and not alone else None


def _samples(keys: Sequence[Hashable], constants: Sequence[float]) -> Iterator[dict[Hashable, float]]:
    """Values of inputs: usual ones, and those around and between the constants of the formulas. Each input has each
    value several times, with different values of the others."""
    between = [(low + high) / 2 for low, high in pairwise(constants)]
    around = [value + step for value in constants for step in (-0.5, 0.0, 0.5)]
    chosen = list(dict.fromkeys((*_BASIC, *between, *around)))[:_TRIALS]
    for at in range(_ROUNDS * len(chosen)):
        turn, first = divmod(at, len(chosen))
        yield {key: chosen[(first + place * (2 * turn + 1)) % len(chosen)] for place, key in enumerate(keys)}


class _Formula:
    """A formula and its inputs: the greatest parts that are not calculated themselves."""

    def __init__(self, tree: Tree, key: Key) -> None:
        self._tree, self._key = tree, key
        self.inputs: dict[Hashable, Tree] = {}
        self.constants: list[float] = []
        self._collect(tree)

    def _collect(self, tree: Tree) -> None:
        operands = _operands(tree)
        if operands is not None:
            for part in operands:
                self._collect(part)
        elif tree.is_number:
            self.constants.append(float(str(tree.label[2])))
        else:
            self.inputs[self._key(tree)] = tree

    def value(self, values: Mapping[Hashable, float]) -> Any:
        """What the formula is worth for these inputs."""
        return self._value(self._tree, values)

    def _value(self, tree: Tree, values: Mapping[Hashable, float]) -> Any:
        if tree.is_number:
            return float(str(tree.label[2]))
        operands, operation = _operands(tree), _operation(tree)
        if operands is None or operation is None:
            return values[self._key(tree)]
        return operation(*[self._value(part, values) for part in operands])


def _operands(tree: Tree) -> Sequence[Tree] | None:
    """What a calculation is made of; None for something else."""
    if _operation(tree) is None:
        return None
    return tree.parts[1:] if tree.kind == CALL else tree.parts


def _operation(tree: Tree) -> Callable[..., Any] | None:
    """What a tree calculates from its operands; None for something else."""
    if tree.kind == "op" and len(tree.label) == 2:
        name = str(tree.label[1])
        return _ANY.get(name) or (_TWO.get(name) if len(tree.parts) == 2 else None)
    if tree.kind == "if":
        return lambda test, then, otherwise: then if test else otherwise
    if tree.label == (CALL,) and tree.parts[0].kind == "lib" and "self" not in tree.names:
        name = str(tree.parts[0].label[1]).rpartition(".")[2]
        return _FUNCTIONS.get(name) if len(tree.parts) == (3 if name in _OF_TWO else 2) else None
    return None
