"""Operator precedence: where parentheses are needed."""

from __future__ import annotations

import ast

(
    TUPLE,
    WALRUS,
    LAMBDA,
    CHOICE,
    OR,
    AND,
    NOT,
    COMPARE,
    BITOR,
    XOR,
    BITAND,
    SHIFT,
    SUM,
    PRODUCT,
    UNARY,
    POWER,
    AWAIT,
    ATOM,
) = range(18)
_BINARY: dict[type, int] = {
    ast.BitOr: BITOR,
    ast.BitXor: XOR,
    ast.BitAnd: BITAND,
    ast.LShift: SHIFT,
    ast.RShift: SHIFT,
    ast.Add: SUM,
    ast.Sub: SUM,
    ast.Pow: POWER,
}
_KINDS: dict[type, int] = {
    ast.Yield: TUPLE,
    ast.YieldFrom: TUPLE,
    ast.Starred: TUPLE,
    ast.NamedExpr: WALRUS,
    ast.Lambda: LAMBDA,
    ast.IfExp: CHOICE,
    ast.Compare: COMPARE,
    ast.Await: AWAIT,
}


def level(node: ast.expr, written: str) -> int:
    """The precedence of an expression as written."""
    kind = type(node)
    if kind is ast.Tuple:
        return ATOM if written.startswith("(") and written.endswith(")") else TUPLE
    if isinstance(node, ast.BinOp):
        return _BINARY.get(type(node.op), PRODUCT)
    if isinstance(node, ast.UnaryOp):
        return NOT if isinstance(node.op, ast.Not) else UNARY
    if isinstance(node, ast.BoolOp):
        return AND if isinstance(node.op, ast.And) else OR
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float | complex):
        return AWAIT  # a following dot would be part of the number
    return _KINDS.get(kind, ATOM)


_LEVELS_BY_PARENT: dict[tuple[str, str], int] = {
    ("Compare", ""): BITOR,
    ("IfExp", ""): OR,
    ("IfExp", "orelse"): LAMBDA,
    ("Attribute", ""): ATOM,
    ("Await", ""): ATOM,
    ("Subscript", "value"): ATOM,
    ("Subscript", "slice"): TUPLE,
    ("Call", ""): WALRUS,
    ("Call", "func"): ATOM,
    ("Starred", ""): BITOR,
    ("comprehension", ""): OR,
    ("FormattedValue", ""): CHOICE,
    ("Dict", ""): LAMBDA,
    ("If", "test"): WALRUS,
    ("While", "test"): WALRUS,
    ("Expression", ""): TUPLE,
}
_LEVELS_BY_PARENT |= {(kind, ""): WALRUS for kind in ("List", "Tuple", "Set", "ListComp", "SetComp", "GeneratorExp")}
_LEVELS_BY_PARENT |= {(kind, "value"): TUPLE for kind in ("Expr", "Assign", "AugAssign", "AnnAssign", "Return")}
_LEVELS_BY_PARENT |= {(kind, "iter"): TUPLE for kind in ("For", "AsyncFor")}


def required(parent: ast.AST, field: str, node: ast.AST) -> int:
    """The minimum precedence of an expression in this field of `parent`, in place of `node`."""
    if isinstance(parent, ast.BinOp):
        own = _BINARY.get(type(parent.op), PRODUCT)
        if isinstance(parent.op, ast.Pow):
            return AWAIT if field == "left" else UNARY
        return own if field == "left" else own + 1
    if isinstance(parent, ast.UnaryOp):
        return NOT if isinstance(parent.op, ast.Not) else UNARY
    if isinstance(parent, ast.BoolOp):
        return NOT if isinstance(parent.op, ast.And) else AND
    if isinstance(parent, ast.Dict) and _unpacked(parent, node):
        return BITOR
    kind = type(parent).__name__
    return _LEVELS_BY_PARENT.get((kind, field), _LEVELS_BY_PARENT.get((kind, ""), LAMBDA))


def _unpacked(parent: ast.Dict, node: ast.AST) -> bool:
    """Whether an expression follows ``**`` in a dict display."""
    return any(value is node and key is None for key, value in zip(parent.keys, parent.values, strict=True))
