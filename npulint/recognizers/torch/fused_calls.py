"""Calls of torch_npu's fused operations: their gradient and the use of their results."""

from __future__ import annotations

from typing import Literal

from npulint.facts.attributes import attribute
from npulint.facts.code import CallResult, Ref, Value
from npulint.facts.kinds import fact_kind
from npulint.model.running.code_facts import CallFact
from npulint.model.values.cursors import AssignmentSite, CallSite, Expr, Scope
from npulint.model.values.walker import walker
from npulint.recognizers.registry import recognizes
from npulint.recognizers.torch.operations import values_in

_TUPLES = frozenset(
    "npu_fusion_attention npu_fusion_attention_v2 npu_fusion_attention_v3 npu_rms_norm npu_geglu npu_group_norm_silu "
    "npu_group_norm_swish npu_add_rms_norm npu_add_layer_norm npu_deep_norm npu_gemma_rms_norm".split()
)
# Names of modules that return a single tensor.
_REPLACES = frozenset("npu_rms_norm npu_gemma_rms_norm npu_group_norm_silu npu_group_norm_swish npu_geglu".split())
# No derivative in op-plugin's derivatives.yaml.
_FORWARD = frozenset(
    "npu_add_rms_norm npu_gemma_rms_norm npu_group_norm_silu npu_gelu_mul npu_ffn npu_prompt_flash_attention "
    "npu_incre_flash_attention npu_fused_infer_attention_score npu_apply_rotary_pos_emb npu_interleave_rope "
    "npu_moe_gating_top_k_softmax npu_kv_rmsnorm_rope_cache npu_mm_all_reduce_base".split()
)
ATTENTION = frozenset(("npu_fusion_attention", "npu_fusion_attention_v2", "npu_fusion_attention_v3"))
"""The fused attentions that train."""
_OTHERS = (_TUPLES | _FORWARD) - ATTENTION
ROOTS = ("torch_npu.", "torch.ops.npu.")
"""The modules with the operations of torch_npu."""
_UNTRAINED = ("training", "no_grad", "inference", "requires_grad", "is_grad_enabled")
_ARITHMETIC = frozenset(("+", "-", "*", "/", "@", "**", "neg"))
_ELEMENT = frozenset(("count", "index"))  # methods of tuples


@fact_kind("fused_call")
class FusedCall(CallFact):
    """A fused operation of torch_npu whose result is a tuple, or that has no gradient, is called. The name is the
    operation."""

    @attribute
    def gradient(self) -> bool:
        """Whether it has a derivative."""
        return self.name not in _FORWARD

    @attribute
    def used(self) -> Literal["tensor", "element", "returned", "unknown"]:
        """How its tuple result is used: as a tensor, by element, or returned unchanged."""
        return _use(self.call) if self.name in _TUPLES else "unknown"

    @attribute
    def training_only(self) -> bool:
        """Whether it is not excluded from training by a condition or by ``no_grad``."""
        return not _is_excluded(self.call.scope)


@recognizes(matching=lambda name: name.startswith(ROOTS) and name.rpartition(".")[2] in _OTHERS)
def fused_calls(call: CallSite) -> list[FusedCall]:
    """Calls of fused operations whose result is a tuple, or that have no gradient."""
    return [FusedCall(call, call.name.rpartition(".")[2])]


def _is_excluded(scope: Scope) -> bool:
    """Whether code does not run in training: under a condition on it, or under no_grad."""
    for around in scope.ancestors:
        words = _words(around.test) if around.kind in ("if", "else", "with") else []
        if around.kind == "function":
            words += [word for decorator in around.decorators for word in _words(decorator)]
        if any(part in word for word in words for part in _UNTRAINED):
            return True
    return False


@walker(depth=7, otherwise=list)
def _words(value: Expr) -> list[str]:
    """The names and literals in an expression."""
    if value.written:
        return [value.written]
    if value.is_literal:
        return [str(value.literal)]
    return [word for part in value.parts for word in _words(part)]


Use = Literal["tensor", "element", ""]


def _use(call: CallSite) -> Literal["tensor", "element", "returned", "unknown"]:
    """How a call's result is used."""
    method = call.method
    if method is not None:
        return "unknown" if method.last in _ELEMENT else "tensor"
    for assignment in call.scope.routine.local_assignments:
        if assignment.value.call == call:
            return _use_of_name(assignment, call.scope.routine) or "unknown"
    for root in values_in(call.scope.routine):
        use = _use_in(root, CallResult(call.index))
        if use:
            return use
    function = call.scope.function
    returned = function is not None and any(value.call == call for value in function.returns)
    return "returned" if returned and call.last in _REPLACES and call.scope.qualname.endswith("forward") else "unknown"


def _use_of_name(assignment: AssignmentSite, function: Scope) -> Use:
    """How the name of a result is used before it is assigned again."""
    name, line = assignment.target, assignment.line
    if "." in name or "[" in name:
        return ""
    later = [
        local_assignment.line
        for local_assignment in function.local_assignments
        if local_assignment.target == name and local_assignment.line > line
    ]
    end = min(later, default=1 << 30)
    use: Use = ""
    for call in function.calls:
        head, _, method = call.written.partition(".")
        if head == name and method and "." not in method and method not in _ELEMENT and line < call.line <= end:
            use = "tensor"
    for root in values_in(function):
        if line < root.line <= end + 1:
            in_root = _use_in(root, Ref(name))
            if in_root == "element":
                return in_root
            use = use or in_root
    return use


def _use_in(root: Expr, result: Value) -> Use:
    """How an expression uses a value: by element, as a tensor; empty if it does not use it, or otherwise."""
    use: Use = ""
    for part in root.nested:
        inner = part.operands()
        if part.operator == "[]" and inner[0].value == result:
            return "element"
        if part.operator in _ARITHMETIC and any(expr.value == result for expr in inner):
            use = "tensor"
    return use
