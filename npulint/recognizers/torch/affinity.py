"""Code that a fused NPU operation can replace, recognised by its data flow or by customary names."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

from npulint.core.lazy_regex import lazy_compile
from npulint.facts.attributes import attribute
from npulint.facts.code import Const
from npulint.facts.kinds import fact_kind
from npulint.facts.model import Span
from npulint.model.values.cursors import CallSite, Expr, Scope
from npulint.model.values.walker import walker
from npulint.recognizers.registry import recognizes, recognizes_in_modules
from npulint.recognizers.torch import fusion_patterns
from npulint.recognizers.torch.attention import FusibleCode, FusibleDefinition, softmax_shapes
from npulint.recognizers.torch.operations import (
    CASTS,
    Operation,
    assigned_before,
    is_same,
    number,
    operation,
    operations,
    origin,
    trace,
    values_in,
)

# Activation functions written as formulas although PyTorch or torch_npu has a single operation for them.

_COPIES = dict.fromkeys(CASTS, "first")
_CUBIC = 0.044715  # the coefficient of the tanh approximation of GELU
_QUICK = 1.702  # the coefficient of the sigmoid approximation of GELU
_GRADIENT = lazy_compile(r"backward|grad|(?:^|[._])bwd|bwd$|_bw$")
_FUNCTION = {
    "silu": "torch.nn.functional.silu(x)",
    "mish": "torch.nn.functional.mish(x)",
    "hardswish": "torch.nn.functional.hardswish(x)",
    "gelu": "torch.nn.functional.gelu(x)",
    "tanh_gelu": 'torch.nn.functional.gelu(x, approximate="tanh")',
    "quick_gelu": "torch_npu.npu_fast_gelu(x)",
}
Form = Literal["silu", "mish", "hardswish", "gelu", "tanh_gelu", "quick_gelu"]
Found = tuple[Form, CallSite] | None


@fact_kind("affinity")
class ActivationFormula(FusibleCode, kw_only=True):
    """An activation function is written as a formula. The name is ``quick_gelu`` for the sigmoid approximation of GELU,
    which only torch_npu has, otherwise ``activation``."""

    form: Form
    _formula: Expr

    @attribute
    def instead(self) -> str:
        """The call that computes the same result."""
        return _FUNCTION[self.form]

    @attribute
    def tensor(self) -> str:
        """The tensor as written, if the formula is the whole value, contains its call, and has no other name; otherwise
        unknown."""
        value = self._formula.value
        if not any(expr.value is value for expr in values_in(self.scope.routine)):
            return "unknown"
        names = set(self._formula.written_names)
        calls = [part.call for part in self._formula.nested if part.call is not None]
        return names.pop() if len(names) == 1 and calls == [self.call] else "unknown"


def activation_formulas(function: Scope) -> list[ActivationFormula]:
    """The first formula in a function; none in the gradient of one."""
    if _GRADIENT.search(function.qualname):
        return []
    for product, at in (*operations(function, "mul"), *operations(function, "div")):
        if len(product.inputs) < 2:
            continue
        formula = _gate(product) if product.op == "mul" else None
        formula = formula or _formula(at)
        if formula is not None:
            form, call = formula
            name = "quick_gelu" if form == "quick_gelu" else "activation"
            return [ActivationFormula(call, name, form=form, _formula=at)]
    return []


def _gate(product: Operation) -> Found:
    """``x * sigmoid(x)``, ``x * sigmoid(1.702 * x)``, ``x * tanh(softplus(x))``."""
    for tensor, factor in (product.inputs[:2], product.inputs[1::-1]):
        way = trace(factor, _COPIES, frozenset(("sigmoid", "tanh")))
        inner = None if way is None else way.input
        if way is None or way.call is None or inner is None:
            continue
        if way.operation.op == "sigmoid":
            if is_same(tensor, inner):
                return "silu", way.call
            if _is_scaled(inner, tensor):
                return "quick_gelu", way.call
            continue
        soft = trace(inner, _COPIES, frozenset(("softplus",)))
        if soft is not None and len(soft.operation.inputs) == 1 and is_same(tensor, soft.operation.inputs[0]):
            return "mish", way.call
    return None


def _is_scaled(value: Expr, tensor: Expr) -> bool:
    """``1.702 * x``."""
    scaled = operation(value)
    parts = [expr for expr in scaled.inputs[:2] if number(expr) != _QUICK] if scaled and scaled.op == "mul" else []
    return len(parts) == 1 and len(scaled.inputs if scaled else ()) > 1 and is_same(tensor, parts[0])


def _formula(product: Expr) -> Found:
    """``0.5 * x * (1 + erf(x / sqrt(2)))``, its tanh form, ``x * relu6(x + 3) / 6``."""
    factors = _factors(product)
    numbers = [constant for constant in map(number, factors) if constant is not None]
    for factor in factors:
        made = operation(factor)
        others = [expr for expr in factors if expr is not factor and number(expr) is None]
        if made is None or not made.inputs or len(others) != 1:
            continue
        formula: Found = None
        if made.op == "add" and numbers == [0.5]:
            formula = _gelu(made, others[0])
        elif made.op == "relu6" and [round(constant * 6, 3) for constant in numbers] == [1.0]:
            formula = _hardswish(made, others[0])
        if formula is not None:
            return formula
    return None


def _gelu(total: Operation, tensor: Expr) -> Found:
    """``1 + erf(…)`` or ``1 + tanh(…)`` of the tensor; the tanh form has a coefficient of its own."""
    if not any(number(part) == 1.0 for part in total.inputs):
        return None
    for part in total.inputs:
        inner = operation(part)
        if inner is None or inner.op not in ("erf", "tanh") or inner.call is None:
            continue
        parts = _parts(part)
        exact = inner.op == "erf"
        if (exact or any(number(expr) == _CUBIC for expr in parts)) and any(is_same(expr, tensor) for expr in parts):
            return "gelu" if exact else "tanh_gelu", inner.call
    return None


def _hardswish(clipped: Operation, tensor: Expr) -> Found:
    """``relu6(x + 3)`` of the tensor."""
    shifted = operation(clipped.inputs[0])
    if clipped.call is not None and shifted is not None and shifted.op == "add":
        parts = [part for part in shifted.inputs[:2] if number(part) != 3.0]
        if len(parts) == 1 and is_same(tensor, parts[0]):
            return "hardswish", clipped.call
    return None


@walker(depth=9, otherwise=list)
def _factors(product: Expr) -> list[Expr]:
    """The factors of a product, with local names replaced by their values, and divisors by their reciprocals."""
    behind = origin(product, frozenset()) if product.written else product
    made = operation(behind)
    if made is None or len(made.inputs) < 2:
        return [product if made is None else behind]
    if made.op == "mul":
        return [factor for part in made.inputs[:2] for factor in _factors(part) or [part]]
    divisor = number(made.inputs[1])
    if made.op == "div" and divisor:
        return [*(_factors(made.inputs[0]) or made.inputs[:1]), behind.sibling(Const(1.0 / divisor))]
    return [behind]


@walker(depth=10, otherwise=list)
def _parts(formula: Expr) -> list[Expr]:
    """A formula and all its subexpressions, following local names to their last assignment."""
    made = operation(formula) if formula.call is not None else None
    inner = made.inputs if made is not None else formula.operands() + formula.items
    if formula.written:
        inner = assigned_before(formula.written, formula)[:1]
    return [formula, *(part for expr in inner for part in _parts(expr))]


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
    key = _MODULES.get(name)
    if key is not None:
        return key
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
