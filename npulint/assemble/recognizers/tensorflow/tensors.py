"""Whether values are tensors of TensorFlow, and of which type."""

from __future__ import annotations

from npulint.assemble.cursors import Expr
from npulint.assemble.module import Module
from npulint.assemble.walker import walker

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


def is_wide(value: Expr) -> bool:
    """Whether an expression names float64, whose operations no mode lowers."""
    return any(part.written and part.name in ("tensorflow.float64", "tensorflow.double") for part in value.mentioned)
