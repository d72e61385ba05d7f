"""Activation functions that are written out as formulas although PyTorch, or torch_npu, has them as one operation."""

from __future__ import annotations

from npulint.assemble.context import Context
from npulint.assemble.recognizers.torch.operations import CASTS, At, Node, Operations, Way, number
from npulint.facts.code import CallResult, Const, Op, Ref, SequenceDisplay, Value
from npulint.facts.model import Fact
from npulint.lazy_regex import lazy_compile

_COPIES = dict.fromkeys(CASTS, "first")
_DEEP = 8
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


def written_out(context: Context, ops: Operations, function: int) -> list[Fact]:
    """An ``activation`` fact for the first formula in a function; `instead` is the call that computes the same."""
    if _GRADIENT.search(ops.module.qualname(function)):
        return []
    products = [*ops.operators(function, "mul"), *ops.operators(function, "div")]
    for node, at in products:
        if len(node.inputs) < 2:
            continue
        name, call = _gate(ops, node.inputs, at) if node.op == "mul" else ("", -1)
        if not name:
            name, call = _formula(ops, at)
        if name:
            kind = "quick_gelu" if name == "quick_gelu" else "activation"
            attrs = {"confidence": "shape", "guarded": "no", "returned": "no", "conditions": ""}
            attrs |= {"form": name, "instead": _FUNCTION[name], "tensor": _tensor(ops, function, at.value, call)}
            return [context.call_fact("affinity", kind, ops.module, call, **attrs)]
    return []


def _tensor(ops: Operations, function: int, formula: Value, call: int) -> str:
    """The tensor as written, where the formula is the whole of a value, has its call in it, and no other name; else
    unknown."""
    if not any(root.value is formula for root in ops.roots(function)):
        return "unknown"
    names, calls, stack = set(), [], [formula]
    while stack:
        value = stack.pop()
        if isinstance(value, Ref):
            names.add(value.name)
        elif isinstance(value, CallResult):
            calls.append(value.call)
        elif isinstance(value, Op):
            stack += value.operands
    return names.pop() if len(names) == 1 and calls == [call] else "unknown"


def _gate(ops: Operations, inputs: tuple[Value, ...], at: At) -> tuple[str, int]:
    """``x * sigmoid(x)``, ``x * sigmoid(1.702 * x)``, ``x * tanh(softplus(x))``."""
    for tensor, factor in (inputs[:2], inputs[1::-1]):
        x = At(tensor, at.block, at.line)
        way = ops.back(At(factor, at.block, at.line), _COPIES, frozenset(("sigmoid", "tanh")))
        if way is None or not way.node.inputs or way.node.call < 0:
            continue
        inner = At(way.node.inputs[0], way.at.block, way.at.line)
        if way.node.op == "sigmoid":
            if ops.same(x, inner):
                return "silu", way.node.call
            scaled = ops.node(inner.value)
            if scaled is not None and scaled.op == "mul" and len(scaled.inputs) > 1:
                parts = [p for p in scaled.inputs[:2] if number(p) != _QUICK]
                if len(parts) == 1 and ops.same(x, inner._replace(value=parts[0])):
                    return "quick_gelu", way.node.call
            continue
        soft = ops.back(inner, _COPIES, frozenset(("softplus",)))
        if soft is not None and len(soft.node.inputs) == 1 and ops.same(x, _input(soft)):
            return "mish", way.node.call
    return "", -1


def _input(way: Way) -> At:
    return At(way.node.inputs[0], way.at.block, way.at.line)


def _formula(ops: Operations, at: At) -> tuple[str, int]:
    """``0.5 * x * (1 + erf(x / sqrt(2)))``, its tanh form, ``x * relu6(x + 3) / 6``."""
    factors = _factors(ops, at)
    numbers = [n for n in (number(f.value) for f in factors) if n is not None]
    for factor in factors:
        node = ops.node(factor.value)
        others = [f for f in factors if f is not factor and number(f.value) is None]
        if node is None or len(node.inputs) < 1 or len(others) != 1:
            continue
        found = ("", -1)
        if node.op == "add" and numbers == [0.5]:
            found = _gelu(ops, node, factor, others[0])
        elif node.op == "relu6" and [round(n * 6, 3) for n in numbers] == [1.0]:
            found = _hardswish(ops, node, factor, others[0])
        if found[0]:
            return found
    return "", -1


def _gelu(ops: Operations, total: Node, at: At, tensor: At) -> tuple[str, int]:
    """``1 + erf(…)`` or ``1 + tanh(…)`` of the tensor."""
    if not any(number(part) == 1.0 for part in total.inputs):
        return "", -1
    for part in total.inputs:
        inner = ops.node(part)
        if inner is not None and inner.op in ("erf", "tanh") and inner.call >= 0:
            kind = "gelu" if inner.op == "erf" else "tanh_gelu"
            if _mentions(ops, At(part, at.block, at.line), tensor, kind):
                return kind, inner.call
    return "", -1


def _hardswish(ops: Operations, clipped: Node, at: At, tensor: At) -> tuple[str, int]:
    """``relu6(x + 3)`` of the tensor."""
    shifted = ops.node(clipped.inputs[0])
    if clipped.call >= 0 and shifted is not None and shifted.op == "add":
        parts = [part for part in shifted.inputs[:2] if number(part) != 3.0]
        if len(parts) == 1 and ops.same(tensor, at._replace(value=parts[0])):
            return "hardswish", clipped.call
    return "", -1


def _factors(ops: Operations, at: At, depth: int = 0) -> list[At]:
    """What is multiplied, local names replaced by what they were set to; a divisor as its reciprocal."""
    origin = ops.origin(at, frozenset()) if isinstance(at.value, Ref) else at
    node = ops.node(origin.value)
    if node is None or depth > _DEEP or len(node.inputs) < 2:
        return [at if node is None else origin]
    if node.op == "mul":
        return [f for part in node.inputs[:2] for f in _factors(ops, origin._replace(value=part), depth + 1)]
    divisor = number(node.inputs[1])
    if node.op == "div" and divisor:
        rest = _factors(ops, origin._replace(value=node.inputs[0]), depth + 1)
        return [*rest, At(Const(1.0 / divisor), origin.block, origin.line)]
    return [origin]


def _mentions(ops: Operations, at: At, tensor: At, kind: str) -> bool:
    """Whether a formula is one of `tensor` and, for the tanh form, has its coefficient."""
    stack, cubic, found = [(at, 0)], kind == "gelu", False
    while stack:
        part, depth = stack.pop()
        if number(part.value) == _CUBIC:
            cubic = True
        found = found or ops.same(part, tensor)
        value = part.value
        if depth > _DEEP:
            continue
        inner: list[Value] = []
        if isinstance(value, Op):
            inner = list(value.operands)
        elif isinstance(value, SequenceDisplay):
            inner = list(value.items)
        elif isinstance(value, CallResult):
            node = ops.of_call(value.call)
            inner = list(node.inputs)
        elif isinstance(value, Ref):
            stack += [(known, depth + 1) for known in ops.before(value.name, part.block, part.line)[:1]]
        stack += [(part._replace(value=v), depth + 1) for v in inner]
    return cubic and found
