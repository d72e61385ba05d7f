"""Masks of attention: what they are made of, and calls of scaled_dot_product_attention with them."""

from __future__ import annotations

from typing import Literal

from npulint.facts.attributes import attribute
from npulint.facts.kinds import fact_kind
from npulint.model.running.code_facts import CallFact
from npulint.model.values.cursors import CallSite, Expr
from npulint.recognizers.registry import recognizes
from npulint.recognizers.torch.operations import CASTS, Operation, made_by, number

MaskForm = Literal["none", "additive", "lower", "upper", "other"]
_HUGE = -1000  # additive masks are below
_FILLED = ("masked_fill", "full", "full_like")
_TRIANGLES = ("triu", "tril")
_ONES = ("ones", "ones_like")
_UNDECIDED = CASTS | {"[]", "view", "expand", "unsqueeze", "bool", "repeat", "masked_fill_", "npu", "cuda"}


@fact_kind("attention")
class ScaledDotProductAttention(CallFact):
    """The function ``scaled_dot_product_attention`` of PyTorch is called."""

    def __post_init__(self) -> None:
        self.name = "scaled_dot_product_attention"

    @attribute
    def mask(self) -> MaskForm:
        """The form of its mask: none, an additive one (numbers that are added to the scores), the lower triangle of
        ones, the upper one with its diagonal, or another."""
        return mask_form(self.call.argument("attn_mask", 3))


@recognizes("torch.nn.functional.scaled_dot_product_attention")
def attentions(call: CallSite) -> list[ScaledDotProductAttention]:
    """The calls of scaled_dot_product_attention."""
    return [ScaledDotProductAttention(call, call.name)]


def mask_form(mask: Expr | None) -> MaskForm:
    """The form of a mask, by the operations that make it."""
    if mask is None or (mask.is_literal and mask.literal is None):
        return "none"
    made = made_by(_behind_views(_kept(mask)))
    if made is None:
        return "other"
    if made.op in _TRIANGLES:
        return _of_triangle(made)
    return "additive" if _adds(made) else "other"


def _of_triangle(made: Operation) -> MaskForm:
    inner = made_by(_behind_views(made.inputs[0])) if made.inputs else None
    if inner is None:
        return "other"
    if _adds(inner):
        return "additive"
    if inner.op not in _ONES:
        return "other"
    return "lower" if made.op == "tril" else "upper" if _has_diagonal(made) else "other"


def _has_diagonal(made: Operation) -> bool:
    """Whether an upper triangle certainly contains the diagonal."""
    diagonal = made.argument("diagonal", 1)
    offset = 0 if diagonal is None else diagonal.single
    return isinstance(offset, int) and offset <= 0


def mask_sides(mask: Expr) -> tuple[int, int] | None:
    """The rows and columns of a triangle of ones; None if they are unknown or it is none."""
    made = made_by(_behind_views(_kept(mask)))
    inner = made_by(_behind_views(made.inputs[0])) if made is not None and made.inputs else None
    if made is None or made.op not in _TRIANGLES or inner is None or inner.op != "ones":
        return None
    sizes = inner.inputs[0].items if len(inner.inputs) == 1 and inner.inputs[0].is_display else inner.inputs
    lengths = [size.single for size in sizes[-2:]]
    if len(lengths) != 2 or not all(isinstance(length, int) for length in lengths):
        return None
    return int(str(lengths[0])), int(str(lengths[1]))


def _kept(mask: Expr) -> Expr:
    """What is assigned to a mask that is kept in an attribute or a global name; else the mask itself."""
    if not mask.written or made_by(mask) is not None:
        return mask
    values = [assignment.value for assignment in mask.assignments]
    return values[0] if len(values) == 1 else mask


def _behind_views(value: Expr) -> Expr:
    """A value without what only changes its shape or type."""
    for _ in range(8):
        made = made_by(value)
        if made is None or made.op not in _UNDECIDED or not made.inputs:
            break
        value = made.inputs[0]
    return value


def _adds(made: Operation) -> bool:
    """Whether an operation gives the numbers of an additive mask."""
    if made.op in _FILLED:
        names = ("value", "fill_value")
        filled = [value for name in names if (value := made.argument(name, 2 if made.op == "masked_fill" else 1))]
        return any(_is_huge(value) for value in filled)
    return made.op == "mul" and any(_is_huge(value) for value in made.inputs)


def _is_huge(value: Expr) -> bool:
    """Whether a value is a large negative number or minus infinity, as written."""
    literal = number(value)
    if literal is None and value.operator == "neg" and value.operands():
        inner = number(value.operands()[0])
        literal = None if inner is None else -inner
    if literal is None:
        values = value.known.values if value.known.exact else ()
        numbers = [
            possible for possible in values if isinstance(possible, int | float) and not isinstance(possible, bool)
        ]
        literal = float(numbers[0]) if len(numbers) == 1 else None
    return literal is not None and literal <= _HUGE


__all__ = ["MaskForm", "ScaledDotProductAttention", "attentions", "mask_form", "mask_sides"]
