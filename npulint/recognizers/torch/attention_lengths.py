"""The lengths of packed sequences that a fused attention gets, as cumulated sums."""

from __future__ import annotations

from typing import Literal

from npulint.model.values.cursors import CallSite, Expr
from npulint.recognizers.torch.operations import made_by, operation, origin

Lengths = Literal["none", "tensor", "single", "other"]
_TENSORS = frozenset(("cumsum", "pad", "tensor", "as_tensor", "arange", "cat", "concat"))
_KEEPING = frozenset("to type int long contiguous clone npu cuda squeeze flatten reshape view".split())


def lengths_form(call: CallSite, value: Expr | None) -> Lengths:
    """What the lengths are that a call gets."""
    if value is None:
        return "other" if call.starred else "none"
    if value.is_literal and value.literal is None:
        return "none"
    made = made_by(value)
    if made is not None and made.op == "mul" and any(part.is_display and len(part.items) == 1 for part in made.inputs):
        return "single"
    behind = operation(origin(value, _KEEPING))
    return "tensor" if behind is not None and behind.op in _TENSORS and behind.call is not None else "other"


__all__ = ["Lengths", "lengths_form"]
