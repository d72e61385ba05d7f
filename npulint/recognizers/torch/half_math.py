"""Numerically sensitive operations on tensors that the same code has cast to float16."""

from __future__ import annotations

from npulint.facts.kinds import fact_kind
from npulint.model.running.code_facts import CallFact
from npulint.model.values.cursors import CallSite
from npulint.recognizers.registry import recognizes
from npulint.recognizers.torch.half_types import half_by
from npulint.recognizers.torch.operations import call_operation

_SENSITIVE = frozenset(
    "exp log log2 log10 softmax log_softmax norm var std prod cumprod cumsum logsumexp cross_entropy nll_loss "
    "binary_cross_entropy kl_div mse_loss smooth_l1_loss reciprocal rsqrt".split()
)


@fact_kind("half_math")
class HalfMath(CallFact):
    """An operation that overflows or loses precision in float16 gets a tensor that the same function has cast to
    float16. The name is the operation."""


@recognizes(matching=lambda name: name.rpartition(".")[2] in _SENSITIVE)
def half_math(call: CallSite) -> list[HalfMath]:
    """Calls of sensitive operations on a tensor that the same function has cast to float16."""
    operation = call_operation(call)
    if not operation.inputs or call.has_keyword("dtype"):
        return []
    return [HalfMath(call, operation.op)] if half_by(operation.inputs[0]) == "cast" else []
