"""Code for which the NPU has one fused operation: by the shape of its data flow, or by customary names."""

from __future__ import annotations

from collections.abc import Callable

from npulint.assemble.context import Context
from npulint.assemble.module import Module
from npulint.assemble.recognizers.torch import activations, attention, fused_calls, fusion_patterns, half_math
from npulint.assemble.recognizers.torch.operations import Operations
from npulint.assemble.recognizers.torch.operations import facts_for_module as operations_of
from npulint.facts.model import Fact, Span
from npulint.lazy_regex import lazy_compile

_Shape = Callable[[Context, Operations, int], list[Fact]]
_GATES: tuple[_Shape, ...] = (fusion_patterns.gated, activations.written_out)
_NORMS: tuple[_Shape, ...] = (fusion_patterns.rms_norm,)
# Which shapes a call may be part of, by the last segment of its name.
_SHAPES: dict[str, tuple[_Shape, ...]] = {
    "softmax": (attention.written_out,),
    "rsqrt": _NORMS,
    "sqrt": _NORMS,
    "silu": (*_GATES, fusion_patterns.group_norm),
    "swish": (fusion_patterns.group_norm,),
    "nonlinearity": (fusion_patterns.group_norm,),
    "Sequential": (fusion_patterns.group_norm,),
    "gelu": _GATES,
    "sigmoid": _GATES,
    "softplus": (activations.written_out,),
    "relu6": (activations.written_out,),
    "erf": (activations.written_out,),
    "tanh": (activations.written_out,),
    "layer_norm": (fusion_patterns.add_layer_norm,),
    "mm": (fusion_patterns.matrix_sum,),
    "cat": (fusion_patterns.rotary,),
    "rotate": (fusion_patterns.rotary,),
    "index_select": (fusion_patterns.token_permute,),
}
_MODULES = {
    "torch.nn.Softmax()": "softmax",
    "torch.nn.SiLU()": "silu",
    "torch.nn.GELU()": "gelu",
    "torch.nn.Sigmoid()": "sigmoid",
    "torch.nn.Softplus()": "softplus",
    "torch.nn.ReLU6()": "relu6",
    "torch.nn.Tanh()": "tanh",
    "torch.nn.LayerNorm()": "layer_norm",
}
_ELSEWHERE = ("math.", "numpy.", "PIL.", "cv2.", "scipy.", "tensorflow.")
_NAMED = {
    "channel_shuffle": lazy_compile(r"^channel_?shuffle$"),
    "drop_path": lazy_compile(r"^(?:drop_?path|stochastic_?depth)$"),
}
_INSIDE = {
    "channel_shuffle": frozenset(("transpose",)),
    "drop_path": frozenset(("rand", "rand_like", "bernoulli", "bernoulli_", "floor_")),
}
_CLASSES = {
    "ROIAlign": ("roi_align", {"output_size", "spatial_scale"}),
}


def matches(name: str) -> bool:
    """Calls that a fusible shape is recognised by, and torch_npu's fused operations."""
    return _key(name) != "" or fused_calls.matches(name) or half_math.matches(name)


def _key(name: str) -> str:
    """By which entry of `_SHAPES` a canonical callee is looked up; empty for others."""
    known = _MODULES.get(name)
    if known is not None:
        return known
    if name.endswith(")") or name.startswith(_ELSEWHERE):
        return ""
    last = name[max(name.rfind("."), name.rfind(":")) + 1 :].rstrip("_").lstrip("?")
    if last in _SHAPES:
        return last
    return "rotate" if "rotate" in last else ""


def facts_for_call(context: Context, module: Module, index: int, name: str) -> list[Fact]:
    """``affinity`` facts of the function around a call, told at the first call that asks; ``fused_call`` and
    ``half_math`` facts."""
    found = fused_calls.facts_for_call(context, module, index, name) if fused_calls.matches(name) else []
    if half_math.matches(name):
        found += half_math.facts_for_call(context, module, index, name)
    call = module.code.calls[index]
    function = module.function_of(call.block)
    kind = _key(name)
    if function < 0 or (kind == "cat" and not fusion_patterns.turns(call)):
        return found
    for shape in _SHAPES.get(kind, ()):
        if _first(context, ("affinity", module.path, function, shape)):
            found += shape(context, operations_of(context, module), function)
    return found


def _first(context: Context, key: tuple[object, ...]) -> bool:
    """Whether a question is asked for the first time."""
    asked: set[object] = context.memoize("affinity", set)
    if key in asked:
        return False
    asked.add(key)
    return True


def facts_for_module(context: Context, module: Module) -> list[Fact]:
    """``affinity`` facts of definitions that are known by their names and parameters."""
    found = []
    for qualified, block in module.qualified.items():
        last = qualified.rpartition(".")[2]
        name = _named(module, last, block)
        if name:
            record = module.blocks[block]
            attrs = {"confidence": "name", "guarded": "no", "returned": "no", "conditions": ""}
            span = Span(record.line, 1, record.line, 1)
            found.append(Fact("affinity", name, module.path, span, attrs, None, context.around(module, block)))
    return found


def _named(module: Module, last: str, block: int) -> str:
    if module.blocks[block].kind == "class":
        known = _CLASSES.get(last)
        maker = module.definition(block, "__init__") if known else -1
        return known[0] if known and maker >= 0 and known[1] <= set(module.blocks[maker].params) else ""
    for name, pattern in _NAMED.items():
        if pattern.match(last):
            return name if any(module.callee_name(i) in _INSIDE[name] for i in module.calls_in.get(block, ())) else ""
    return ""
