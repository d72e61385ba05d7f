"""Expressions as source text for comparisons."""

from __future__ import annotations

from npulint.assemble.module import Module
from npulint.facts.code import CallResult, Const, Function, Op, Ref, SequenceDisplay, Table, Value

_DEEP = 6
_LONG = 60
_WORDS = frozenset(("and", "or", "in", "not in", "is", "is not"))
_BINDING = {"**": 5, "*": 4, "/": 4, "//": 4, "%": 4, "@": 4, "+": 3, "-": 3}
_MEMBER = 6  # precedence of attribute access and subscripts, the highest; comparisons and keywords are lowest


def shown(module: Module, value: Value) -> str:
    """An expression of a module as source, shortened if long."""
    text = _text(module, value, 0)
    return text if len(text) <= _LONG else f"{text[: _LONG - 1]}…"


def _text(module: Module, value: Value, depth: int) -> str:
    if isinstance(value, Const):
        return repr(value.value)
    if isinstance(value, Ref):
        return value.name
    if depth >= _DEEP:
        return "…"
    if isinstance(value, SequenceDisplay):
        return f"[{', '.join(_text(module, item, depth + 1) for item in value.items)}]"
    if isinstance(value, Table):
        return "{…}"
    if isinstance(value, Function):
        return module.blocks[value.block].name or "lambda"
    if isinstance(value, CallResult):
        call = module.code.calls[value.call]
        return f"{_text(module, call.callee, depth + 1)}({'…' if call.args or call.keywords else ''})"
    return _operation(module, value, depth) if isinstance(value, Op) else "…"


def _part(module: Module, op: str, part: Value, place: int, depth: int) -> str:
    """An operand, in parentheses if precedence requires it."""
    text = _text(module, part, depth + 1)
    if not isinstance(part, Op) or part.op in (".", "[]", "join", "star") or (op == "[]" and place):
        return text
    outer = _MEMBER if op in (".", "[]") else _BINDING.get(op, 1)
    inner = _BINDING.get(part.op, 1)
    return f"({text})" if inner < outer or (inner == outer and place and op in ("-", "/", "//", "%")) else text


def _operation(module: Module, value: Op, depth: int) -> str:
    parts = [_part(module, value.op, part, place, depth) for place, part in enumerate(value.operands)]
    if value.op == "[]":
        return f"{parts[0]}[{', '.join(parts[1:])}]"
    if value.op == ".":
        return ".".join(part.strip("'") for part in parts)
    if value.op == "if" and len(parts) == 3:
        return f"{parts[1]} if {parts[0]} else {parts[2]}"
    if len(parts) == 1:
        return f"{value.op} {parts[0]}" if value.op.isalpha() else f"{value.op}{parts[0]}"
    joint = f" {value.op} " if value.op in _WORDS or not value.op.isalpha() else ", "
    return joint.join(parts)
