"""Calls of torch_npu's fused operations: how their results are used, what they are told of masks and scale."""

from __future__ import annotations

from npulint.assemble.context import Context
from npulint.assemble.flow import argument
from npulint.assemble.module import Module
from npulint.assemble.recognizers.torch.operations import RESHAPES, At, Operations
from npulint.assemble.recognizers.torch.operations import facts_for_module as operations_of
from npulint.facts.code import Assignment, CallResult, Const, Op, Ref, SequenceDisplay, Value
from npulint.facts.model import Fact
from npulint.lazy_regex import lazy_compile

_TUPLES = frozenset(
    "npu_fusion_attention npu_fusion_attention_v2 npu_rms_norm npu_geglu npu_group_norm_silu npu_group_norm_swish "
    "npu_add_rms_norm npu_add_layer_norm npu_deep_norm npu_gemma_rms_norm".split()
)
# What stands for a module that gives one tensor.
_REPLACES = frozenset("npu_rms_norm npu_gemma_rms_norm npu_group_norm_silu npu_group_norm_swish npu_geglu".split())
# No derivative in op-plugin's derivatives.yaml.
_FORWARD = frozenset(
    "npu_add_rms_norm npu_gemma_rms_norm npu_group_norm_silu npu_gelu_mul npu_ffn npu_prompt_flash_attention "
    "npu_incre_flash_attention npu_fused_infer_attention_score npu_apply_rotary_pos_emb npu_interleave_rope "
    "npu_moe_gating_top_k_softmax npu_kv_rmsnorm_rope_cache npu_mm_all_reduce_base".split()
)
_ATTENTION = frozenset(("npu_fusion_attention", "npu_fusion_attention_v2"))
_ROOTS = ("torch_npu.", "torch.ops.npu.")
_DROPPED = lazy_compile(r"(?:^|[._])(?:attn_|attention_|attn_pdrop|attention_)?(?:p?drop(?:out)?)(?:_p|_prob|_rate)?$")
_PROJECTION = lazy_compile(r"^self:(?:w?q|to_q|qkv|\w*query\w*|\w*proj\w*)$")
_ARITHMETIC = frozenset(("+", "-", "*", "/", "@", "**", "neg"))
_ELEMENT = frozenset(("count", "index"))  # methods that a tuple has


def matches(name: str) -> bool:
    """Fused operations with a tuple for a result, or without a gradient."""
    return name.startswith(_ROOTS) and name.rpartition(".")[2] in _TUPLES | _FORWARD


def facts_for_call(context: Context, module: Module, index: int, name: str) -> list[Fact]:
    """A ``fused_call`` fact, named by the operation."""
    last = name.rpartition(".")[2]
    ops = operations_of(context, module)
    attrs: dict[str, object] = {
        "gradient": "no" if last in _FORWARD else "yes",
        "used": lambda: _use(ops, index) if last in _TUPLES else "unknown",
        "training_only": lambda: "no" if _excluded(module, index) else "yes",
    }
    if last in _ATTENTION:
        attrs |= {
            "scaled": lambda: _scaled(ops, index),
            "mask": lambda: _mask(ops, index),
            "keep": lambda: _keep(module, index),
        }
    return [context.call_fact("fused_call", last, module, index, **attrs)]


def _excluded(module: Module, index: int) -> bool:
    """Whether a call is kept from training: below a condition on it, or under no_grad."""
    for block in module.ancestors(module.code.calls[index].block):
        record = module.blocks[block]
        words = " ".join(_words(module, record.test, 0)) if record.kind in ("if", "else", "with") else ""
        words += " ".join(_words(module, SequenceDisplay(record.decorators), 0)) if record.kind == "function" else ""
        if any(word in words for word in ("training", "no_grad", "inference", "requires_grad", "is_grad_enabled")):
            return True
    return False


def _words(module: Module, value: Value, depth: int) -> list[str]:
    if isinstance(value, Ref):
        return [value.name]
    if isinstance(value, Const):
        return [str(value.value)]
    return [word for part in module.parts(value) for word in _words(module, part, depth + 1)] if depth < 6 else []


def _use(ops: Operations, index: int) -> str:
    """How a call's result is used: as a tensor, by element, returned or unknown."""
    module = ops.module
    method = module.methods.get(index)
    if method is not None:
        return "unknown" if method[1] in _ELEMENT else "tensor"
    function = module.function_of(module.code.calls[index].block)
    for bind in module.code.assignments:
        if bind.value == CallResult(index):
            return _use_of_name(ops, bind, function)
    for root in ops.roots(function):
        use = _use_in(root.value, CallResult(index))
        if use:
            return use
    returned = [r for r in module.returns.get(function, ()) if r.value == CallResult(index)]
    if returned and module.callee_name(index) in _REPLACES and module.qualname(function).endswith("forward"):
        return "returned"
    return "unknown"


def _use_of_name(ops: Operations, bind: Assignment, function: int) -> str:
    module, name = ops.module, bind.target
    if "." in name or "[" in name:
        return "unknown"
    binds = module.names.get(module.scope[bind.block], {}).get(name, ())
    end = min((b.line for b in binds if b.line > bind.line), default=1 << 30)
    use = ""
    for index in module.calls_in.get(function, ()):
        call = module.code.calls[index]
        head, _, method = call.callee.name.partition(".") if isinstance(call.callee, Ref) else ("", "", "")
        if head == name and method and "." not in method and bind.line < call.line <= end:
            use = use or ("" if method in _ELEMENT else "tensor")
    for root in ops.roots(function):
        if bind.line < root.line <= end + 1:
            found = _use_in(root.value, Ref(name))
            if found == "element":
                return "element"
            use = use or found
    return use or "unknown"


def _use_in(value: Value, wanted: Value) -> str:
    """How an expression uses a value: by element, as a tensor; empty when it does not, or otherwise."""
    stack, found = [value], ""
    while stack:
        part = stack.pop()
        if isinstance(part, Op):
            if wanted in part.operands:
                if part.op == "[]" and part.operands[0] == wanted:
                    return "element"
                found = "tensor" if part.op in _ARITHMETIC else found
            stack += part.operands
        elif isinstance(part, SequenceDisplay):
            stack += part.items
    return found


_SHAPING = dict.fromkeys(RESHAPES | {"rearrange", "stack", "squeeze", "unsqueeze", "chunk", "split"}, "first")


def _scaled(ops: Operations, index: int) -> str:
    """Whether the scores are scaled: by `scale`, or the query before the call."""
    call = ops.module.code.calls[index]
    if argument(call, "scale", 8) is not None or any(k == "**" for k, _ in call.keywords):
        return "yes"
    if any(isinstance(a, Op) and a.op == "star" for a in call.args):
        return "unknown"
    query = argument(call, "query", 0)
    if query is None:
        return "unknown"
    at = At(query, call.block, call.line)
    for factor in ("query", "key"):
        value = argument(call, factor, 0 if factor == "query" else 1)
        if value is not None and ops.back(At(value, call.block, call.line), _SHAPING, frozenset(("mul", "div"))):
            return "yes"
    origin = ops.origin(at, RESHAPES)
    node = ops.node(origin.value)
    return "no" if node is not None and (node.op == "linear" or _PROJECTION.match(node.op)) else "unknown"


def _mask(ops: Operations, index: int) -> str:
    """What mask a fused attention is given: none, the one that scaled_dot_product_attention is given too (its
    meaning is the opposite), an additive one, or another."""
    call = ops.module.code.calls[index]
    mask = argument(call, "atten_mask", 7)
    if mask is None or mask == Const(None):
        return "none"
    function = ops.module.function_of(call.block)
    for other in ops.module.calls_in.get(function, ()):
        if ops.module.callee_name(other) == "scaled_dot_product_attention":
            given = argument(ops.module.code.calls[other], "attn_mask", 3)
            if isinstance(mask, Ref) and given == mask and _unchanged(ops, mask.name, function):
                return "shared"
    node = ops.node(ops.origin(At(mask, call.block, call.line), frozenset()).value)
    if node is not None and node.op in ("float", "half", "bfloat16"):
        return "additive"
    if node is not None and node.op == "mul" and any(_huge(v) for v in node.inputs):
        return "additive"
    return "other"


def _huge(value: Value) -> bool:
    return isinstance(value, Const) and isinstance(value.value, int | float) and value.value <= -1000


def _unchanged(ops: Operations, name: str, function: int) -> bool:
    return not ops.module.names.get(function, {}).get(name.partition(".")[0])


def _keep(module: Module, index: int) -> str:
    """Whether `keep_prob` is given a dropout probability: dropped, other or none (not given)."""
    value = argument(module.code.calls[index], "keep_prob", 9)
    if value is None:
        return "none"
    if isinstance(value, Ref) and _DROPPED.search(value.name) and "keep" not in value.name:
        return "dropped"
    return "other"
