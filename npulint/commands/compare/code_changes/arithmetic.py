"""Whether two formulas over the same values always give the same number: both are computed for several values."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Final

from npulint.commands.compare.code_changes.trees import CALL, Tree

_TRIALS: Final = 4
_MOST: Final = 200  # nodes of a formula
_CLOSE: Final = 1e-9
_TWO: Final[Mapping[str, Callable[[float, float], float]]] = {
    **{"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "**": operator.pow},
    **{"//": operator.floordiv, "%": operator.mod},
}
_FUNCTIONS: Final[Mapping[str, Callable[..., float]]] = {
    **{"sqrt": math.sqrt, "exp": math.exp, "log": math.log, "cos": math.cos, "sin": math.sin, "abs": abs, "tanh": math.tanh},
    **{"maximum": max, "minimum": min, "max": max, "min": min, "rsqrt": lambda value: value**-0.5},
}
"""By their last name, functions whose values are computed."""
_UNDEFINED: Final = (ArithmeticError, ValueError, TypeError)


def is_formula(tree: Tree) -> bool:
    """Whether a tree calculates with numbers."""
    return _operation(tree) is not None


def are_equal(left: Tree, right: Tree, same: Callable[[Tree], Hashable], other: Callable[[Tree], Hashable]) -> bool | None:
    """Whether two formulas are worth the same whatever their inputs are worth; None where they have other inputs, or
    calculate nothing. `same` and `other` give keys of inputs of each side that are equal for corresponding ones."""
    if left.size + right.size > _MOST:
        return None
    first, second = _Formula(left, same), _Formula(right, other)
    if set(first.inputs) != set(second.inputs):
        return None
    tried = 0
    for trial in range(_TRIALS):
        values = {key: 0.37 + 0.61 * at + 0.173 * trial * (at + 1) for at, key in enumerate(sorted(first.inputs, key=repr))}
        try:
            a, b = first.value(values), second.value(values)
        except _UNDEFINED:
            continue
        if isinstance(a, complex) or isinstance(b, complex):
            continue
        tried += 1
        if not math.isclose(a, b, rel_tol=_CLOSE, abs_tol=1e-12):
            return False
    return True if tried else None


class _Formula:
    """A formula and its inputs: the greatest parts that are not calculated themselves."""

    def __init__(self, tree: Tree, key: Callable[[Tree], Hashable]) -> None:
        self._tree, self._key = tree, key
        self.inputs: dict[Hashable, None] = {}
        self._collect(tree)

    def _collect(self, tree: Tree) -> None:
        operands = _operands(tree)
        if operands is not None:
            for part in operands:
                self._collect(part)
        elif not tree.is_number:
            self.inputs[self._key(tree)] = None

    def value(self, values: Mapping[Hashable, float]) -> float:
        """What the formula is worth for these inputs."""
        return self._value(self._tree, values)

    def _value(self, tree: Tree, values: Mapping[Hashable, float]) -> float:
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


def _operation(tree: Tree) -> Callable[..., float] | None:
    """What a tree calculates from its operands; None for something else."""
    if tree.kind == "op" and len(tree.label) == 2:
        name = str(tree.label[1])
        return operator.neg if name == "neg" else _TWO.get(name) if len(tree.parts) == 2 else None
    if tree.kind == CALL and tree.label == (CALL,) and tree.parts[0].kind == "lib" and len(tree.parts) in (2, 3):
        name = str(tree.parts[0].label[1]).rpartition(".")[2]
        many = name in ("maximum", "minimum", "max", "min")
        positional = all(name != "self" for name in tree.names)
        return _FUNCTIONS.get(name) if positional and len(tree.parts) == (3 if many else 2) else None
    return None
