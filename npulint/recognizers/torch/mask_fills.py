"""Masks of PyTorch whose constant float16 cannot represent: ``scores.masked_fill(mask, -1e9)``."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Literal

from npulint.facts.attributes import attribute
from npulint.facts.code import Op
from npulint.facts.kinds import fact_kind
from npulint.model.running.code_facts import PlaceFact
from npulint.model.values.cursors import AssignmentSite, CallSite, Expr, Scope, assignment_at
from npulint.model.values.flow import limit_of
from npulint.model.values.half_range import OVERFLOWS_FROM, number
from npulint.model.values.large_numbers import may_be_large
from npulint.recognizers.registry import recognizes, recognizes_in_modules
from npulint.recognizers.torch.half_types import half_by

_LOWEST_OF_BFLOAT16 = limit_of("bfloat16", "min")
_FILLS = frozenset(("masked_fill", "masked_fill_"))
_MASKS = ("==", "!=", "<", ">", "<=", ">=", "~", "&", "|")  # operators that return a mask


@fact_kind("mask_fill")
class MaskFill(PlaceFact):
    """Masked elements of a tensor are set to a negative constant that float16 cannot represent: by a call (the name is
    its method), an assignment (``assign``) or a product (``multiply``)."""

    fill: str
    """The constant."""
    _tensor: Expr | None

    @attribute
    def infinite(self) -> bool:
        """Whether the constant is infinite."""
        return self.fill == "-inf"

    @attribute
    def tensor(self) -> str:
        """The tensor, as written, or unknown."""
        return (self._tensor.written if self._tensor is not None else "") or "unknown"

    @attribute
    def half(self) -> Literal["yes", "unknown"]:
        """Whether the tensor was certainly cast to float16 before."""
        return "yes" if self._tensor is not None and half_by(self._tensor) == "cast" else "unknown"


def _mask_fill(place: CallSite | AssignmentSite, name: str, size: float, tensor: Expr | None) -> MaskFill:
    return MaskFill(place.scope, place.span, name, f"{size:g}", tensor)


@recognizes(matching=lambda name: name == "torch.where" or name.rpartition(".")[2] in _FILLS)
def mask_fills(call: CallSite) -> Iterable[MaskFill]:
    """``scores.masked_fill(mask, -1e9)``, ``torch.where(mask, scores, -1e9)``."""
    last = call.name.rpartition(".")[2]
    fills: list[tuple[Expr, Expr | None]]
    if last == "where":
        values = call.args[1:3]
        fills = list(zip(values, reversed(values), strict=True)) if len(values) > 1 else []
    else:
        value = call.argument("value", 1)
        fills = [] if value is None else [(value, call.receiver)]
    for fill, tensor in fills:
        size = _size(fill)
        if size is not None:
            return [_mask_fill(call, last, size, tensor)]
    return []


@recognizes_in_modules
def assigned_masks(module: Scope) -> list[MaskFill]:
    """Mask constants that are assigned (``scores[mask] = -1e9``) or multiplied (``mask = (1 - mask) * -1e9``)."""
    masks = []
    for record in module.module.code.assignments:  # there are many
        is_item = record.target.endswith("]")
        is_product = isinstance(record.value, Op) and record.value.op == "*"
        if (is_item or is_product) and may_be_large(module.context, module.module, record.value):
            site = assignment_at(module.context, module.module, record)
            masks += _assigned(site) if is_item else _multiplied(site)
    return masks


def _assigned(assignment: AssignmentSite) -> list[MaskFill]:
    key = assignment.key
    if key.operator not in _MASKS and "mask" not in key.written:
        return []
    size = _size(assignment.value)
    return [] if size is None else [_mask_fill(assignment, "assign", size, assignment.holder)]


def _multiplied(assignment: AssignmentSite) -> list[MaskFill]:
    left, right = assignment.value.operands("*")
    for factor, tensor in ((right, left), (left, right)):
        size = None if tensor.is_literal else _size(factor)
        if size is not None and not math.isinf(size):
            return [_mask_fill(assignment, "multiply", size, tensor)]
    return []


def _size(value: Expr) -> float | None:
    """A negative number that float16 cannot represent, including infinity; None for anything else, also for the minimum
    of bfloat16, which only tensors of that type get."""
    size = number(value)
    return size if size is not None and size <= -OVERFLOWS_FROM and size != _LOWEST_OF_BFLOAT16 else None
