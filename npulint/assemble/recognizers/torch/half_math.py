"""Sensitive mathematics on tensors that the code itself has made float16."""

from __future__ import annotations

from npulint.assemble.context import Context
from npulint.assemble.module import Module
from npulint.assemble.recognizers.torch.operations import At
from npulint.assemble.recognizers.torch.operations import facts_for_module as operations_of
from npulint.facts.model import Fact

_SENSITIVE = frozenset(
    "exp log log2 log10 softmax log_softmax norm var std prod cumprod cumsum logsumexp cross_entropy nll_loss "
    "binary_cross_entropy kl_div mse_loss smooth_l1_loss reciprocal rsqrt".split()
)
_COPIES = frozenset(
    "contiguous view reshape transpose permute flatten squeeze unsqueeze [] clone detach npu cuda".split()
)
_HALF = ("torch.float16", "torch.half", "torch.HalfTensor")


def matches(name: str) -> bool:
    """Calls of operations that overflow or lose digits in float16."""
    return name.rpartition(".")[2] in _SENSITIVE


def facts_for_call(context: Context, module: Module, index: int, name: str) -> list[Fact]:
    """A ``half_math`` fact if the tensor that comes in was made float16 in the same function."""
    ops = operations_of(context, module)
    node = ops.of_call(index)
    call = module.code.calls[index]
    if not node.inputs or any(key == "dtype" for key, _ in call.keywords):
        return []
    origin = ops.origin(At(node.inputs[0], call.block, call.line), _COPIES)
    made = ops.node(origin.value)
    if made is None or made.op not in ("half", "to", "type") or made.call < 0:
        return []
    if made.op != "half":
        target = ops.argument(made, "dtype", 1)
        kind = context.names.of_value(module, target, origin.block, origin.line) if target is not None else ""
        if kind not in _HALF:
            return []
    return [context.call_fact("half_math", node.op, module, index)]
