"""Calls that are written in several ways and do the same: as operators, as texts, as sizes of the process group."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from npulint.commands.compare.code_changes.trees import ATTRIBUTE, CALL, CONST, RANKS, TEXT, Tree, number
from npulint.commands.compare.insignificant_differences import PLACES, SIZES

_OPERATORS: Final[Mapping[str, str]] = {
    **{"add": "+", "sub": "-", "subtract": "-", "mul": "*", "multiply": "*", "div": "/", "divide": "/"},
    **{"truediv": "/", "true_divide": "/", "realdiv": "/", "pow": "**", "power": "**", "matmul": "@"},
    **{"equal": "==", "eq": "==", "less": "<", "lt": "<"},
}
"""Functions of two tensors, and the operators that do the same."""
_ARRAYS: Final = ("tensorflow.", "torch.", "numpy.", "math.", "operator.")
_NUMBERS: Final = frozenset(("int", "float"))
_ENVIRONMENT: Final = ("os.getenv", "os.environ.get")


def equal_form(tree: Tree, canonical: str) -> Tree:
    """The tree of a call, in the form that stands for all that do the same."""
    last = canonical.rpartition(".")[2]
    if canonical.startswith(_ARRAYS) and not canonical.endswith(")"):
        if last in _OPERATORS and len(tree.parts) == 3:
            return Tree(("op", _OPERATORS[last]), tree.parts[1:], tree.node)
        if last == "square" and len(tree.parts) == 2:
            return Tree(("op", "**"), (tree.parts[1], number(2)), tree.node)
    if canonical in _NUMBERS and len(tree.parts) == 2 and tree.parts[1].kind == RANKS:
        return tree.parts[1]
    if canonical in ("list", "tuple") and len(tree.parts) == 2 and _gives_items(tree.parts[1]):
        return tree.parts[1]
    if canonical in _ENVIRONMENT and len(tree.parts) > 1:
        return of_environment(tree.parts[1]) or tree
    scales = "GradScaler" in canonical and len(tree.parts) == 3
    if last == "step" and (scales or (len(tree.parts) == 2 and tree.names[1] == "self")):
        callee = Tree(("lib", "?.step"), (), tree.parts[0].node)
        return Tree((CALL,), (callee, tree.parts[-1]), tree.node, tree.call, ("", "self"))
    return _flat(tree, last)


def _gives_items(tree: Tree) -> bool:
    """Whether a tree is a call of a function that gives its items one by one."""
    return (
        tree.kind == CALL
        and tree.parts[0].kind == "lib"
        and tree.parts[0].label[1] in ("zip", "map", "range", "filter")
    )


def of_environment(name: Tree) -> Tree | None:
    """The number of processes, or that of this one, that a variable of the environment holds; None for others."""
    text = str(name.label[2]) if name.label[:2] == (CONST, "str") else ""
    if SIZES.search(text):
        return Tree((RANKS, "ranks"), (), name.node)
    return Tree((RANKS, "rank"), (), name.node) if PLACES.search(text) else None


def _flat(tree: Tree, last: str) -> Tree:
    """``x.view(x.size(0), -1)`` and ``x.reshape(x.shape[0], -1)`` as ``x.flatten(1)``."""
    if last == "flatten" and len(tree.parts) == 3 and tree.parts[2].label == number(1).label:
        return Tree((CALL, "flatten"), (tree.parts[1],), tree.node, tree.call)
    if last not in ("view", "reshape") or len(tree.parts) < 2:
        return tree
    base, *sizes = tree.parts[1:]
    sizes = list(sizes[0].parts) if len(sizes) == 1 and sizes[0].kind == "display" else sizes
    if len(sizes) == 2 and sizes[1].label == number(-1).label and _is_first_size(sizes[0], base):
        return Tree((CALL, "flatten"), (base,), tree.node, tree.call)
    return tree


def _is_first_size(size: Tree, base: Tree) -> bool:
    """Whether a tree is the first size of a tensor: ``x.size(0)``, ``x.shape[0]``, ``len(x)``."""
    zero = number(0).label
    if size.kind == CALL and len(size.parts) == 3:
        callee, of, at = size.parts
        return str(callee.label[-1]).rpartition(".")[2] == "size" and of.exact == base.exact and at.label == zero
    if size.kind == "[]" and size.parts[1].label == zero:
        shape = size.parts[0]
        return shape.label == (ATTRIBUTE, "shape") and shape.parts[0].exact == base.exact
    return False


def text_of(pieces: Sequence[Tree | str], tree: Tree) -> Tree:
    """A text that is put together of constant texts and values, however it is written."""
    parts: list[Tree] = []
    label: list[str] = [""]
    for piece in pieces:
        inner = piece
        if isinstance(inner, Tree) and inner.label[:2] == (CONST, "str"):
            inner = str(inner.label[2])
        if isinstance(inner, str):
            label[-1] += inner
        elif inner.kind == TEXT:
            label[-1] += str(inner.label[1])
            label += map(str, inner.label[2:])
            parts += inner.parts
        else:
            parts.append(inner)
            label.append("")
    if not parts:
        return Tree((CONST, "str", label[0]), (), tree.node)
    return Tree((TEXT, *label), tuple(parts), tree.node)
