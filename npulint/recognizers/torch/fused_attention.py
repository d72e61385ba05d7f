"""Calls of torch_npu's fused attentions: their mask, scale, dropout, heads, layout and lengths of sequences."""

from __future__ import annotations

from typing import Literal

from npulint.core.lazy_regex import lazy_compile
from npulint.facts.attributes import Flag, attribute, flag
from npulint.facts.kinds import fact_kind
from npulint.model.values.cursors import CallSite, Expr
from npulint.recognizers.registry import recognizes
from npulint.recognizers.torch.attention_lengths import Lengths, lengths_form
from npulint.recognizers.torch.attention_masks import mask_form, mask_sides
from npulint.recognizers.torch.fused_calls import ATTENTION, ROOTS, FusedCall
from npulint.recognizers.torch.operations import RESHAPES, Operation, operation, origin, trace

_DROPPED = lazy_compile(r"(?:^|[._])(?:attn_|attention_|attn_pdrop|attention_)?(?:p?drop(?:out)?)(?:_p|_prob|_rate)?$")
_PROJECTION = lazy_compile(r"^self:(?:w?q|to_q|qkv|\w*query\w*|\w*proj\w*)$")
_OF_KEYS = lazy_compile(r"(?:^|[._])(?:n|num)_(?:(?:local_)?(?:kv|key_value)_(?:heads?|groups)|query_groups)$")
_SHAPING = dict.fromkeys(RESHAPES | {"rearrange", "stack", "squeeze", "unsqueeze", "chunk", "split"}, "first")
_SCALINGS = frozenset(("mul", "div"))
_SAME_RANK = dict.fromkeys("to type half bfloat16 float contiguous clone transpose permute mul div".split(), "first")
_RESHAPES = frozenset(("view", "reshape", "rearrange", "own:rearrange"))
_RANKS = {"BSH": 3, "SBH": 3, "TND": 3, "BSND": 4, "BNSD": 4}
_COMPRESSED = (2048, 2048)


@fact_kind("fused_call")
class FusedAttention(FusedCall):
    """``npu_fusion_attention`` is called."""

    @attribute
    def scaled(self) -> Flag:
        """Whether the scores are scaled: by `scale`, or the query or key before the call."""
        return flag(_is_scaled(self.call))

    @attribute
    def mask(self) -> Literal["none", "shared", "additive", "lower", "upper", "other"]:
        """The kind of its mask: none, the one that scaled_dot_product_attention also gets (with the opposite meaning),
        an additive one, the lower triangle of ones (which hides the past), the upper triangle with its diagonal (which
        hides each position from itself), or another."""
        return _mask(self.call)

    @attribute
    def compressed(self) -> Flag:
        """Whether its mask, a triangle of ones, has 2048 rows and columns, as the compressed masks have."""
        mask = self.call.argument("atten_mask", 7)
        sides = None if mask is None else mask_sides(mask)
        return flag(None if sides is None else sides == _COMPRESSED)

    @attribute
    def keep(self) -> Literal["none", "dropped", "other"]:
        """Whether `keep_prob` is a dropout probability; none if it is not passed."""
        value = self.call.argument("keep_prob", 9)
        if value is None:
            return "none"
        return "dropped" if _DROPPED.search(value.written) and "keep" not in value.written else "other"

    @attribute
    def heads(self) -> Literal["keys", "other"]:
        """Whether `head_num` is, by its name, the number of heads of keys and values."""
        value = self.call.argument("head_num", 3)
        return "keys" if value is not None and _OF_KEYS.search(origin(value).written or value.written) else "other"

    @attribute
    def fits(self) -> Flag:
        """Whether the query has as many dimensions as `input_layout` has letters."""
        layout, query = self.call.argument("input_layout", 4), self.call.argument("query", 0)
        wanted = None if layout is None else _RANKS.get(str(layout.single))
        given = None if query is None or wanted is None else _rank(query)
        return flag(None if given is None else given == wanted)

    @attribute
    def lengths(self) -> Lengths:
        """What `actual_seq_qlen` is: none, a tensor, a list of the single lengths, or another."""
        return lengths_form(self.call, self.call.argument("actual_seq_qlen", 14))


@recognizes(matching=lambda name: name.startswith(ROOTS) and name.rpartition(".")[2] in ATTENTION)
def fused_attentions(call: CallSite) -> list[FusedAttention]:
    """The calls of fused attentions that train."""
    return [FusedAttention(call, call.name.rpartition(".")[2])]


def _is_scaled(call: CallSite) -> bool | None:
    """Whether the scores of a fused attention are scaled; None if unknown."""
    query = call.argument("query", 0)
    if call.argument("scale", 8) is not None or call.has_unknown_options:
        return True
    if query is None or call.starred:
        return None
    for value in (query, call.argument("key", 1)):
        if value is not None and trace(value, _SHAPING, _SCALINGS) is not None:
            return True
    made = operation(origin(query, RESHAPES))
    return False if made is not None and (made.op == "linear" or _PROJECTION.match(made.op)) else None


def _mask(call: CallSite) -> Literal["none", "shared", "additive", "lower", "upper", "other"]:
    """The kind of mask of a fused attention."""
    mask = call.argument("atten_mask", 7)
    if mask is None or (mask.is_literal and mask.literal is None):
        return "none"
    function = call.scope.routine
    if mask.written and not function.assigned(mask.written.partition(".")[0]):
        others = [other for other in function.calls if other.last == "scaled_dot_product_attention"]
        masks = [value.written for other in others if (value := other.argument("attn_mask", 3)) is not None]
        if mask.written in masks:
            return "shared"
    form = mask_form(mask)
    made = operation(origin(mask, frozenset()))
    if form == "other" and made is not None and made.op in ("float", "half", "bfloat16"):
        return "additive"
    return form


def _rank(query: Expr) -> int | None:
    """The number of dimensions of a value that this function has reshaped; None if unknown."""
    reshaped = trace(query, _SAME_RANK, _RESHAPES)
    return None if reshaped is None else _rank_after(reshaped.operation)


def _rank_after(reshape: Operation) -> int | None:
    """The number of dimensions after a reshape."""
    if reshape.op.endswith("rearrange"):
        pattern = reshape.argument("pattern", 1)
        _, arrow, result = (pattern.text if pattern is not None else "").partition("->")
        return None if not arrow or "..." in result or "(" in result else len(result.split())
    sizes = reshape.inputs[1:]
    if len(sizes) == 1:
        sizes = sizes[0].items if sizes[0].is_display else []
    if not sizes or any(size.operator == "star" for size in sizes):
        return None
    return len(sizes)


__all__ = ["FusedAttention", "fused_attentions"]
