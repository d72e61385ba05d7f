"""Expressions as source text for comparisons."""

from __future__ import annotations

from itertools import takewhile

from npulint.model.values.cursors import Expr
from npulint.model.values.walker import walker

_DEEP = 6
_LONG = 60
_BEFORE = 20  # characters before the first difference
_WORDS = frozenset(("and", "or", "in", "not in", "is", "is not"))
_BINDING = {"**": 5, "*": 4, "/": 4, "//": 4, "%": 4, "@": 4, "+": 3, "-": 3}
_MEMBER = 6  # precedence of attribute access and subscripts, the highest; comparisons and keywords are lowest


def shown(expr: Expr) -> str:
    """An expression as source, shortened if long."""
    return _shortened(_text(expr))


def shown_apart(expr: Expr, other: Expr) -> tuple[str, str]:
    """Two expressions as source. Long ones that begin alike are shown from shortly before the first difference."""
    texts = _text(expr), _text(other)
    first, second = map(_shortened, texts)
    if first != second or texts[0] == texts[1]:
        return first, second
    alike = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(*texts, strict=False)))
    start = max(0, alike - _BEFORE)
    first, second = (_shortened(f"…{text[start:]}") for text in texts)
    return first, second


def _shortened(text: str) -> str:
    return text if len(text) <= _LONG else f"{text[: _LONG - 1]}…"


def _text(expr: Expr) -> str:
    return repr(expr.literal) if expr.is_literal else expr.written or _nested(expr)


@walker(_DEEP, lambda: "…")
def _nested(expr: Expr) -> str:
    """The text of an expression that is put together from others."""
    if expr.is_display:
        return f"[{', '.join(_text(item) for item in expr.items)}]"
    if expr.function is not None:
        return expr.function.record.name or "lambda"
    if expr.call is not None:
        return f"{_text(expr.call.callee)}({'…' if expr.call.arguments else ''})"
    if expr.operator:
        return _operation(expr)
    return "{…}" if expr.is_dict else "…"


def _part(op: str, part: Expr, place: int) -> str:
    """An operand, in parentheses if precedence requires it."""
    text = _text(part)
    if part.operator in ("", ".", "[]", "join", "star") or (op == "[]" and place):
        return text
    outer = _MEMBER if op in (".", "[]") else _BINDING.get(op, 1)
    inner = _BINDING.get(part.operator, 1)
    return f"({text})" if inner < outer or (inner == outer and place and op in ("-", "/", "//", "%")) else text


def _operation(expr: Expr) -> str:
    op = expr.operator
    parts = [_part(op, part, place) for place, part in enumerate(expr.operands())]
    if op == "[]":
        return f"{parts[0]}[{', '.join(parts[1:])}]"
    if op == ".":
        return ".".join(part.strip("'") for part in parts)
    if op == "if" and len(parts) == 3:
        return f"{parts[1]} if {parts[0]} else {parts[2]}"
    if op == "+=" and len(parts) > 1:
        return f"{parts[1][1:-1]}= {parts[0]}"
    if len(parts) == 1:
        return f"{op} {parts[0]}" if op.isalpha() else f"{op}{parts[0]}"
    joint = f" {op} " if op in _WORDS or not op.isalpha() else ", "
    return joint.join(parts)
