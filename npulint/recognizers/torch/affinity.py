"""Code that a fused NPU operation can replace, recognised by its data flow or by customary names."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from npulint.core.lazy_regex import lazy_compile
from npulint.facts.model import Span
from npulint.model.values.cursors import CallSite, Scope
from npulint.recognizers.registry import recognizes, recognizes_in_modules
from npulint.recognizers.torch import fusion_patterns
from npulint.recognizers.torch.activations import activation_formulas
from npulint.recognizers.torch.attention import softmax_shapes
from npulint.recognizers.torch.fusible import FusibleCode, FusibleDefinition

_Shape = Callable[[Scope], Sequence[FusibleCode]]
_GATES: tuple[_Shape, ...] = (fusion_patterns.gated_activations, activation_formulas)
# From the last segment of a callee to the shapes that it may be part of.
_SHAPES: dict[str, tuple[_Shape, ...]] = {
    "softmax": (softmax_shapes,),
    "rsqrt": (fusion_patterns.rms_norms,),
    "sqrt": (fusion_patterns.rms_norms,),
    "silu": (*_GATES, fusion_patterns.group_norms),
    "swish": (fusion_patterns.group_norms,),
    "nonlinearity": (fusion_patterns.group_norms,),
    "Sequential": (fusion_patterns.group_norms,),
    "gelu": _GATES,
    "sigmoid": _GATES,
    "softplus": (activation_formulas,),
    "relu6": (activation_formulas,),
    "erf": (activation_formulas,),
    "tanh": (activation_formulas,),
    "layer_norm": (fusion_patterns.added_layer_norms,),
    "mm": (fusion_patterns.matrix_sums,),
    "cat": (fusion_patterns.rotary_embeddings,),
    "rotate": (fusion_patterns.rotary_embeddings,),
    "index_select": (fusion_patterns.token_permutations,),
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
_ROI_ALIGN = frozenset(("output_size", "spatial_scale"))


def _key(name: str) -> str:
    """The entry of `_SHAPES` for a canonical callee; empty if there is none."""
    known = _MODULES.get(name)
    if known is not None:
        return known
    if name.endswith(")") or name.startswith(_ELSEWHERE):
        return ""
    last = name[max(name.rfind("."), name.rfind(":")) + 1 :].rstrip("_").lstrip("?")
    if last in _SHAPES:
        return last
    return "rotate" if "rotate" in last else ""


@recognizes(matching=lambda name: _key(name) != "")
def fusible_code(call: CallSite) -> list[FusibleCode]:
    """What the function around a call computes in small operations; returned for the first of its calls only."""
    function, key = call.scope.function, _key(call.name)
    if function is None or (key == "cat" and not fusion_patterns.turns(call)):
        return []
    reported: set[tuple[Scope, _Shape]] = call.context.memoize("affinity", set)
    fusible_codes: list[FusibleCode] = []
    for shape in _SHAPES[key]:
        if (function, shape) not in reported:
            reported.add((function, shape))
            fusible_codes += shape(function)
    return fusible_codes


@recognizes_in_modules
def fusible_definitions(module: Scope) -> list[FusibleDefinition]:
    """Definitions recognised by their names, and by their parameters or callees."""
    definitions = []
    for qualname, block in module.module.qualified.items():
        definition = module.at(block)
        name = _named(definition, qualname.rpartition(".")[2])
        if name:
            line = definition.record.line
            definitions.append(FusibleDefinition(definition, Span.at(line), name))
    return definitions


def _named(definition: Scope, last: str) -> str:
    """The operation that a function or class implements, by its name; empty for others."""
    if definition.kind == "class":
        initialiser = definition.definition("__init__") if last == "ROIAlign" else None
        return "roi_align" if initialiser is not None and set(initialiser.parameters) >= _ROI_ALIGN else ""
    for name, pattern in _NAMED.items():
        if pattern.match(last):
            return name if any(call.last in _INSIDE[name] for call in definition.calls) else ""
    return ""
