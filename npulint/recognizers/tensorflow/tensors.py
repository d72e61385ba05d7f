"""Whether values are tensors of TensorFlow, and of which type."""

from __future__ import annotations

from npulint.model.code.module import Module
from npulint.model.values.cursors import Expr
from npulint.model.values.walker import walker

_KEPT = frozenset(f"tensorflow.{name}" for name in ("float64", "double", "int8", "int16", "int32", "int64", "uint8"))
_LOWERED = frozenset(f"tensorflow.{name}" for name in ("float32", "float16", "bfloat16"))
_PACKAGES = frozenset(("tensorflow", "keras"))


def in_tensorflow(module: Module) -> bool:
    """Whether a module imports TensorFlow or Keras."""
    return any(record.module.partition(".")[0] in _PACKAGES for record in module.code.imports)


@walker(depth=4, otherwise=bool)
def is_tensor(value: Expr) -> bool:
    """Whether a value is certainly computed from the result of a TensorFlow operation, not of a session run."""
    return any(_is_result(part) or _is_of_tensors(part) for part in value.nested)


def _is_result(part: Expr) -> bool:
    name = part.name if part.written or part.call is not None else ""
    return name.startswith("tensorflow.") and name.endswith("()") and "ession" not in name


def _is_of_tensors(part: Expr) -> bool:
    """Whether a name stands for an operation on tensors."""
    assigned = part.assignments if part.written and "." not in part.written else []
    return len(assigned) == 1 and assigned[0].value.operator != "" and is_tensor(assigned[0].value)


@walker(depth=6, otherwise=bool)
def is_kept(value: Expr) -> bool:
    """Whether an expression is cast to, or made of, a type whose operations no mode lowers: float64 or an integer."""
    call = value.call
    if call is None:
        return any(is_kept(operand) for operand in value.operands())
    named = [expr.name for expr in (*call.args[1:], *call.keywords.values()) if expr.written]
    types = [name for name in named if name in _KEPT or name in _LOWERED]
    if types:
        return types[0] in _KEPT
    return bool(call.args) and is_kept(call.args[0])
