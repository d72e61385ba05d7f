"""Norms, gated activations, rotary embeddings and the like written in small operations, recognised by their data flow
in one function."""

from __future__ import annotations

from itertools import pairwise
from typing import Literal

from npulint.core.lazy_regex import lazy_compile
from npulint.facts.attributes import attribute
from npulint.facts.kinds import fact_kind
from npulint.model.values.cursors import CallSite, Expr, Scope
from npulint.recognizers.torch.attention import FusibleCode
from npulint.recognizers.torch.operations import (
    CASTS,
    Operation,
    is_same,
    made_by,
    number,
    operation,
    operations,
    operations_of_calls,
    origin,
    trace,
)

_COPIES = dict.fromkeys(CASTS, "first")
_SUMS = _COPIES | {"add": "all", "clamp": "first"}
_SQUARES = frozenset(("pow", "square", "mul"))
_HALVES = frozenset(("chunk", "split", "tensor_split", "unbind"))
_WEIGHT = lazy_compile(r"(?:^|[._])(?:weight|gamma|scale|gain|g)$")
_EMBEDDING = lazy_compile(r"[Ee]mbed|(?:^|_)pos(?:_|$)|^position")
_NEIGHBOURS = ("every_two", "interleave", "pair", "adjacent")


# -- norms -------------------------------------------------------------------------------------------


def rms_norms(function: Scope) -> list[FusibleCode]:
    """``x * rsqrt(mean(x ** 2) + eps)`` over the last dimension, with a weight in the function or its class."""
    for root in operations_of_calls(function):
        if root.op not in ("rsqrt", "sqrt") or not root.inputs or root.call is None:
            continue
        mean = trace(root.inputs[0], _SUMS, frozenset(("mean",)))
        if mean is None or mean.input is None or "add" not in mean.passed or not _keeps_last(mean.operation):
            continue
        squared = _squared(mean.input)
        if squared is not None and _normalises(function, root, squared) and _is_weighted(function):
            return [FusibleCode(root.call, "rms_norm")]
    return []


def _keeps_last(mean: Operation) -> bool:
    """Whether a mean is over the last dimension, with keepdim."""
    dim = mean.argument("dim", 1) or mean.argument("axis", -1)
    if dim is not None and len(dim.items) == 1:
        dim = dim.items[0]
    keep = mean.argument("keepdim", 2) or mean.argument("keepdims", -1)
    return number(dim) == -1.0 and keep is not None and keep.literal is True


def _squared(value: Expr) -> Expr | None:
    """The squared value in ``x.pow(2)``, ``x ** 2``, ``x * x``; None for deviations from a mean."""
    way = trace(value, _COPIES, _SQUARES)
    if way is None or way.input is None:
        return None
    op, second = way.operation.op, way.operation.inputs[1] if len(way.operation.inputs) > 1 else None
    if op == "pow" and number(second) != 2.0:
        return None
    if op == "mul" and (second is None or not is_same(way.input, second)):
        return None
    behind = origin(way.input)
    made = operation(behind)
    return None if made is not None and made.op == "sub" else behind


def _normalises(function: Scope, root: Operation, squared: Expr) -> bool:
    """Whether the squared tensor itself is multiplied by the reciprocal root (or divided by the root)."""
    for op in ("mul",) if root.op == "rsqrt" else ("div", "mul"):
        passes = _COPIES if op == "div" or root.op == "rsqrt" else _COPIES | {"div": "tail"}
        for scaled, _ in operations(function, op):
            if len(scaled.inputs) < 2:
                continue
            for tensor, factor, *_ in (scaled.inputs, scaled.inputs[::-1]) if op == "mul" else (scaled.inputs,):
                way = trace(factor, passes, frozenset((root.op,)))
                if way is not None and way.call == root.call and is_same(tensor, squared):
                    return True
    return False


def _is_weighted(function: Scope) -> bool:
    """Whether there is a learned weight: an attribute of the class or a parameter of the function with such a name."""
    owner, module = function.owner, function.module
    block = -1 if owner is None else owner.block
    names = (*module.attributes.get(block, ()), *module.names.get(block, ()), *function.parameters)
    return any(_WEIGHT.search(name) for name in names)


def group_norms(function: Scope) -> list[FusibleCode]:
    """``silu(group_norm(x))``, in a forward or adjacent in a Sequential."""
    for operations_of_call in operations_of_calls(function):
        if operations_of_call.call is None:
            continue
        if (
            operations_of_call.op in ("silu", "self:nonlinearity", "own:nonlinearity", "own:swish")
            and operations_of_call.inputs
        ):
            before = made_by(operations_of_call.inputs[0])
            if before is not None and before.op == "group_norm":
                return [FusibleCode(operations_of_call.call, "group_norm_silu")]
        if operations_of_call.op == "Sequential":
            names = [value.name if value.call is not None else "" for value in operations_of_call.call.args]
            if ("torch.nn.GroupNorm()", "torch.nn.SiLU()") in pairwise(names):
                return [FusibleCode(operations_of_call.call, "group_norm_silu")]
    return []


def added_layer_norms(function: Scope) -> list[FusibleCode]:
    """``layer_norm(x + y)`` of two activations; sums with embeddings or learned parameters, which broadcast, are
    omitted."""
    if _EMBEDDING.search(function.qualname):
        return []
    for norm in operations_of_calls(function):
        if norm.op != "layer_norm" or not norm.inputs or norm.call is None:
            continue
        total = made_by(norm.inputs[0])
        if total is None or total.op not in ("add", "update") or len(total.inputs) < 2:
            continue
        parts = total.inputs[:2]
        products = all(value.operator == "*" for value in parts)  # the state of an LSTM cell
        if all(_is_activation(value) for value in parts) and not products:
            return [FusibleCode(norm.call, "add_layer_norm")]
    return []


def _is_activation(value: Expr) -> bool:
    if value.written:
        return "." not in value.written and not _EMBEDDING.search(value.written)
    return value.call is not None or value.operator == "*"


# -- gated activations -------------------------------------------------------------------------------


@fact_kind("affinity")
class GatedActivation(FusibleCode):
    """``silu(a) * b`` (``swiglu``) or ``gelu(a) * b`` (``geglu``); the call is the activation. `form` says whether the
    factors are halves or projections of one tensor, `half` which of them is activated."""

    form: Literal["halves", "projections"] = "halves"
    half: Literal["first", "second", "unknown"] = "unknown"

    @attribute
    def exact(self) -> bool:
        """Whether the activation is computed exactly: a GELU without its tanh approximation."""
        value = self.call.argument("approximate")
        if value is None:
            for made in self.call.callee.sites[:1]:
                value = made.argument("approximate", 0)
        return value is None or value.text != "tanh"


Pair = tuple[Literal["halves", "projections"], Literal["first", "second", "unknown"]] | None


def gated_activations(function: Scope) -> list[FusibleCode]:
    """``silu(a) * b`` and ``gelu(a) * b`` on the halves of one tensor, or with two projections of one tensor."""
    for product, _ in operations(function, "mul"):
        for gate, other in (product.inputs[:2], product.inputs[1::-1]) if len(product.inputs) > 1 else ():
            way = trace(gate, _COPIES, frozenset(("silu", "gelu")))
            pair = None if way is None or way.input is None else _pair(way.input, other)
            if way is not None and way.call is not None and pair is not None:
                name = "swiglu" if way.operation.op == "silu" else "geglu"
                return [GatedActivation(way.call, name, form=pair[0], half=pair[1])]
    return []


def _pair(gate: Expr, other: Expr) -> Pair:
    """The relation of two factors: halves of one tensor (and which of them is activated), projections of one tensor, or
    none."""
    first, second = made_by(gate), made_by(other)
    if first is None or second is None or first.op != second.op:
        return None
    if first.op == "[]":
        return _halves(first, second)
    if first.op == "linear" and first.inputs and second.inputs and first.inputs[0].value == second.inputs[0].value:
        return ("projections", "first") if is_same(first.inputs[0], second.inputs[0]) else None
    return None


def _halves(first: Operation, second: Operation) -> Pair:
    """How two elements or slices are halves of one tensor."""
    if first.inputs[0].value != second.inputs[0].value:
        return None
    places = (number(first.inputs[1]), number(second.inputs[1]))
    if places in ((0.0, 1.0), (1.0, 0.0), (0.0, -1.0), (-1.0, 0.0)):
        holder = made_by(first.inputs[0])
        if holder is None or holder.op not in _HALVES:
            return None
        return "halves", "first" if places[0] == 0.0 else "second"
    sliced = _is_slice(first.inputs[1]) and first.inputs[1].value == second.inputs[1].value
    return ("halves", "unknown") if sliced else None


def _is_slice(index: Expr) -> bool:
    """Whether a value is ``[..., :n]`` (slices and the ellipsis are not evaluated)."""
    return bool(index.items) and not any(item.written for item in index.items)


# -- rotary embeddings -------------------------------------------------------------------------------


@fact_kind("affinity")
class RotaryEmbedding(FusibleCode):
    """``x * cos + rotate(x) * sin``; the call is the rotation."""

    @attribute
    def mode(self) -> Literal["half", "interleave"]:
        """The pairs of elements that the rotation combines: half a head apart, or adjacent."""
        name = self.call.last
        if name in ("cat", "concat"):
            return "half"
        if "half" not in name and any(word in name for word in _NEIGHBOURS):
            return "interleave"
        target = self.call.target
        return "interleave" if target is not None and any(call.last == "stack" for call in target.calls) else "half"


def rotary_embeddings(function: Scope) -> list[FusibleCode]:
    """``x * cos + rotate(x) * sin``."""
    for total, _ in operations(function, "add"):
        if len(total.inputs) < 2:
            continue
        for plain, turned in (total.inputs[:2], total.inputs[1::-1]):
            plain_product, turned_product = made_by(plain), made_by(turned)
            if (
                plain_product is None
                or turned_product is None
                or plain_product.op != "mul"
                or turned_product.op != "mul"
            ):
                continue
            for factor in turned_product.inputs[:2]:
                rotation = made_by(factor)
                source = None if rotation is None else _rotated(rotation)
                if rotation is None or rotation.call is None or source is None:
                    continue
                if any(is_same(tensor, source) for tensor in plain_product.inputs[:2]):
                    return [RotaryEmbedding(rotation.call, "rotary")]
    return []


def _rotated(rotation: Operation) -> Expr | None:
    """The rotated tensor: the argument of a function with such a name, or of ``cat((-second, first))`` of its
    halves."""
    if rotation.op.startswith(("own:", "self:")) and "rotate" in rotation.op and rotation.inputs:
        return rotation.inputs[0]
    if rotation.op not in ("cat", "concat") or rotation.call is None or not turns(rotation.call):
        return None
    half = made_by(rotation.inputs[0].items[0].operands()[0]) if rotation.inputs[0].items else None
    if half is None or half.op != "[]":
        return None
    holder = origin(half.inputs[0])
    split = operation(holder)
    return split.inputs[0] if split is not None and split.op in _HALVES and split.inputs else half.inputs[0]


def turns(call: CallSite) -> bool:
    """Whether a call may be ``cat((-second, first))``."""
    parts = call.args[0].items if call.record.args else []
    return len(parts) == 2 and parts[0].operator == "neg"


# -- others ------------------------------------------------------------------------------------------


def matrix_sums(function: Scope) -> list[FusibleCode]:
    """``torch.mm(a, b) + c``, which is ``torch.addmm(c, a, b)``."""
    for total, _ in operations(function, "add"):
        for product, other in (total.inputs[:2], total.inputs[1::-1]) if len(total.inputs) > 1 else ():
            way = trace(product, {"mul": "all"}, frozenset(("mm",)))
            if way is not None and way.call is not None and not other.is_literal:
                return [FusibleCode(way.call, "addmm")]
    return []


def token_permutations(function: Scope) -> list[FusibleCode]:
    """``tokens.index_select(0, argsort(experts) // k)``: tokens sorted by expert."""
    for selection in operations_of_calls(function):
        if selection.op != "index_select" or len(selection.inputs) < 3 or selection.call is None:
            continue
        rows = made_by(selection.inputs[2])
        if rows is None or rows.op != "//" or len(rows.inputs) != 2:
            continue
        if trace(rows.inputs[0], _COPIES, frozenset(("argsort",))) is not None:
            return [FusibleCode(selection.call, "token_permute")]
    return []
