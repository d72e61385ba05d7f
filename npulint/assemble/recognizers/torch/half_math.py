"""Numerically sensitive operations on tensors that the same code has cast to float16."""

from __future__ import annotations

from npulint.assemble.code_facts import CallFact
from npulint.assemble.cursors import CallSite
from npulint.assemble.recognizers.registry import recognizes
from npulint.assemble.recognizers.torch.operations import call_operation, operation, origin
from npulint.facts.kinds import fact_kind

_SENSITIVE = frozenset(
    "exp log log2 log10 softmax log_softmax norm var std prod cumprod cumsum logsumexp cross_entropy nll_loss "
    "binary_cross_entropy kl_div mse_loss smooth_l1_loss reciprocal rsqrt".split()
)
_COPIES = frozenset(
    "contiguous view reshape transpose permute flatten squeeze unsqueeze [] clone detach npu cuda".split()
)
_HALF = ("torch.float16", "torch.half", "torch.HalfTensor")


@fact_kind("half_math")
class HalfMath(CallFact):
    """An operation that overflows or loses precision in float16 gets a tensor that the same function has cast to
    float16. The name is the operation."""


@recognizes(matching=lambda name: name.rpartition(".")[2] in _SENSITIVE)
def half_math(call: CallSite) -> list[HalfMath]:
    """Calls of sensitive operations on a tensor that the same function has cast to float16."""
    found = call_operation(call)
    if not found.inputs or call.has_keyword("dtype"):
        return []
    made = operation(origin(found.inputs[0], _COPIES))
    if made is None or made.op not in ("half", "to", "type") or made.call is None:
        return []
    target = made.argument("dtype", 1)
    is_half = made.op == "half" or (target is not None and target.name in _HALF)
    return [HalfMath(call, found.op)] if is_half else []
