"""Makes symbolic sizes readable: ``Mul(Integer(2), Symbol('s0', …))`` in SymPy's notation becomes ``2*s0``."""

from __future__ import annotations

import ast

LIMIT = 256
"""Maximum characters of a symbolic size."""

_LONGEST = 4000
_DEPTH = 24
_INFIX = {"Add": " + ", "Mul": "*", "Pow": "**", "FloorDiv": "//", "PythonMod": " % ", "Mod": " % "}


def readable(text: str) -> str:
    """A readable symbolic size; unchanged if it cannot be parsed."""
    if len(text) > _LONGEST:
        return text[:LIMIT]
    try:
        tree = ast.parse(text, mode="eval")
        return _written(tree.body, 0)[:LIMIT]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return text[:LIMIT]


def _written(node: ast.expr, depth: int) -> str:
    if depth > _DEPTH:
        raise ValueError("deep")
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
        return ast.unparse(node)
    name = node.func.id
    if name in ("Symbol", "Integer", "Float", "Rational") and node.args and all(map(_plain, node.args)):
        return "/".join(ast.unparse(part).strip("'\"") for part in node.args[: 2 if name == "Rational" else 1])
    parts = [_written(part, depth + 1) for part in node.args]
    if name not in _INFIX or len(parts) < 2:
        return f"{name}({', '.join(parts)})"
    closed = [_closed(part) if name != "Add" else part for part in parts]
    return _INFIX[name].join(closed)


def _plain(node: ast.expr) -> bool:
    if isinstance(node, ast.UnaryOp):
        node = node.operand
    return isinstance(node, ast.Constant)


def _closed(text: str) -> str:
    return text if text.isidentifier() or text.isdigit() or text.endswith(")") else f"({text})"
