"""Norms, gated activations, rotary embeddings and the like that are written out in small operations, by their data
flow within one function."""

from __future__ import annotations

from itertools import pairwise

from npulint.assemble.context import Context
from npulint.assemble.flow import argument
from npulint.assemble.recognizers.torch.operations import CASTS, At, Node, Operations, number
from npulint.facts.code import Call, CallResult, Const, Op, Ref, SequenceDisplay, Value
from npulint.facts.model import Fact
from npulint.lazy_regex import lazy_compile

_COPIES = dict.fromkeys(CASTS, "first")
_SUMS = _COPIES | {"add": "all", "clamp": "first"}
_SQUARES = frozenset(("pow", "square", "mul"))
_HALVES = frozenset(("chunk", "split", "tensor_split", "unbind"))
_WEIGHT = lazy_compile(r"(?:^|[._])(?:weight|gamma|scale|gain|g)$")
_EMBEDDING = lazy_compile(r"[Ee]mbed|(?:^|_)pos(?:_|$)|^position")


def rms_norm(context: Context, ops: Operations, function: int) -> list[Fact]:
    """``x * rsqrt(mean(x ** 2) + eps)`` over the last dimension, with a weight in the function or its class."""
    for index in ops.module.calls_in.get(function, ()):
        node = ops.of_call(index)
        if node.op not in ("rsqrt", "sqrt") or not node.inputs:
            continue
        call = ops.module.code.calls[index]
        at = At(node.inputs[0], call.block, call.line)
        mean = ops.back(at, _SUMS, frozenset(("mean",)))
        if mean is None or "add" not in mean.passed or not _last_kept(ops, mean.node):
            continue
        squared = _squared(ops, At(mean.node.inputs[0], mean.at.block, mean.at.line))
        if squared is None or not _normalises(ops, function, index, node.op, squared):
            continue
        if _weighted(ops, function):
            return [_fact(context, ops, "rms_norm", index)]
    return []


def _last_kept(ops: Operations, mean: Node) -> bool:
    dim = ops.argument(mean, "dim", 1) or ops.argument(mean, "axis", -1)
    if isinstance(dim, SequenceDisplay) and len(dim.items) == 1:
        dim = dim.items[0]
    keep = ops.argument(mean, "keepdim", 2) or ops.argument(mean, "keepdims", -1)
    return number(dim) == -1.0 and keep == Const(True)


def _squared(ops: Operations, at: At) -> At | None:
    """What is squared in ``x.pow(2)``, ``x ** 2``, ``x * x``; None for deviations from a mean."""
    way = ops.back(at, _COPIES, _SQUARES)
    if way is None or not way.node.inputs:
        return None
    first = At(way.node.inputs[0], way.at.block, way.at.line)
    if way.node.op == "pow" and (len(way.node.inputs) < 2 or number(way.node.inputs[1]) != 2.0):
        return None
    second = way.node.inputs[1] if len(way.node.inputs) > 1 else None
    if way.node.op == "mul" and (second is None or not ops.same(first, first._replace(value=second))):
        return None
    origin = ops.origin(first)
    known = ops.node(origin.value)
    return None if known is not None and known.op == "sub" else origin


def _normalises(ops: Operations, function: int, root: int, kind: str, squared: At) -> bool:
    """Whether the squared tensor itself is multiplied by the reciprocal root (divided by the root)."""
    wanted = frozenset((kind,))
    for op in ("mul",) if kind == "rsqrt" else ("div", "mul"):
        for node, at in ops.operators(function, op):
            if len(node.inputs) < 2:
                continue
            pairs = [node.inputs, node.inputs[::-1]] if op == "mul" else [node.inputs]
            for tensor, factor, *_ in pairs:
                passes = _COPIES if op == "div" or kind == "rsqrt" else _COPIES | {"div": "tail"}
                way = ops.back(At(factor, at.block, at.line), passes, wanted)
                if way is not None and way.node.call == root and ops.same(At(tensor, at.block, at.line), squared):
                    return True
    return False


def _weighted(ops: Operations, function: int) -> bool:
    """Whether there is a learned weight: an attribute of the class, or a parameter of the function, of that name."""
    module = ops.module
    owner = module.class_of(function)
    names = [*module.attributes.get(owner, {}), *module.names.get(owner, {})] if owner >= 0 else []
    return any(_WEIGHT.search(name) for name in (*names, *module.blocks[function].params))


def gated(context: Context, ops: Operations, function: int) -> list[Fact]:
    """``silu(a) * b`` and ``gelu(a) * b`` on the halves of one tensor, or with two projections of one tensor."""
    for node, at in ops.operators(function, "mul"):
        for gate, other in (node.inputs[:2], node.inputs[1::-1]) if len(node.inputs) > 1 else ():
            way = ops.back(At(gate, at.block, at.line), _COPIES, frozenset(("silu", "gelu")))
            if way is None or way.node.call < 0 or not way.node.inputs:
                continue
            inner = At(way.node.inputs[0], way.at.block, way.at.line)
            form, half = _pair(ops, inner, At(other, at.block, at.line))
            if form:
                name = "swiglu" if way.node.op == "silu" else "geglu"
                exact = "no" if _approximate(ops, way.node) else "yes"
                return [_fact(context, ops, name, way.node.call, form=form, half=half, exact=exact)]
    return []


def _pair(ops: Operations, gate: At, other: At) -> tuple[str, str]:
    """How two factors belong together: halves of one tensor (and which of them is activated), projections of one
    tensor, or not at all."""
    one, two = ops.origin(gate), ops.origin(other)
    first, second = ops.node(one.value), ops.node(two.value)
    if first is None or second is None:
        return "", ""
    if first.op == second.op == "[]":
        holder = ops.node(ops.origin(At(first.inputs[0], one.block, one.line)).value)
        if first.inputs[0] != second.inputs[0]:
            return "", ""
        places = (number(first.inputs[1]), number(second.inputs[1]))
        if sorted(str(p) for p in places) in (["0.0", "1.0"], ["-1.0", "0.0"]):
            if holder is None or holder.op not in _HALVES:
                return "", ""
            return "halves", "first" if places[0] == 0.0 else "second"
        sliced = all(_sliced(node.inputs[1]) for node in (first, second)) and first.inputs[1] == second.inputs[1]
        return ("halves", "unknown") if sliced else ("", "")
    if first.op == second.op == "linear" and first.inputs[:1] == second.inputs[:1] and first.inputs:
        same = ops.same(one._replace(value=first.inputs[0]), two._replace(value=second.inputs[0]))
        return ("projections", "first") if same else ("", "")
    return "", ""


def _approximate(ops: Operations, node: Node) -> bool:
    """Whether a GELU is computed by its tanh approximation."""
    value = ops.argument(node, "approximate", -1)
    call = ops.module.code.calls[node.call]
    if value is None:
        for home, index in ops.context.flow.sites(ops.module, call.callee, call.block, call.line)[:1]:
            value = argument(home.code.calls[index], "approximate", 0)
    return value == Const("tanh")


def _sliced(index: Value) -> bool:
    """``[..., :n]`` (slices and the ellipsis are not read)."""
    return isinstance(index, SequenceDisplay) and bool(index.items) and not any(isinstance(i, Ref) for i in index.items)


def turns(call: Call) -> bool:
    """Whether a call may be ``cat((-second, first))``."""
    parts = call.args[0].items if call.args and isinstance(call.args[0], SequenceDisplay) else ()
    return len(parts) == 2 and isinstance(parts[0], Op) and parts[0].op == "neg"


def rotary(context: Context, ops: Operations, function: int) -> list[Fact]:
    """``x * cos + rotate(x) * sin``."""
    for node, at in ops.operators(function, "add"):
        if len(node.inputs) < 2:
            continue
        for plain, turned in (node.inputs[:2], node.inputs[1::-1]):
            one = ops.node(ops.origin(At(plain, at.block, at.line)).value)
            two = ops.node(ops.origin(At(turned, at.block, at.line)).value)
            if one is None or two is None or one.op != "mul" or two.op != "mul":
                continue
            for rotated in two.inputs[:2]:
                origin = ops.origin(At(rotated, at.block, at.line))
                call = ops.node(origin.value)
                if call is None or call.call < 0:
                    continue
                source = _rotated(ops, call, origin)
                if source is not None and any(ops.same(At(x, at.block, at.line), source) for x in one.inputs[:2]):
                    return [_fact(context, ops, "rotary", call.call, mode=_mode(ops, call))]
    return []


def _rotated(ops: Operations, node: Node, at: At) -> At | None:
    """The tensor that is rotated: by a function named so, or by ``cat((-second, first))`` of its halves."""
    if node.op.startswith(("own:", "self:")) and "rotate" in node.op and node.inputs:
        return At(node.inputs[0], at.block, at.line)
    if (
        node.op in ("cat", "concat")
        and turns(ops.module.code.calls[node.call])
        and isinstance(node.inputs[0], SequenceDisplay)
    ):
        turned = node.inputs[0].items[0]
        if isinstance(turned, Op):
            half = ops.node(ops.origin(At(turned.operands[0], at.block, at.line)).value)
            if half is not None and half.op == "[]":
                holder = ops.origin(At(half.inputs[0], at.block, at.line))
                split = ops.node(holder.value)
                whole = split is not None and split.op in _HALVES and split.inputs
                return At(split.inputs[0] if split and whole else half.inputs[0], holder.block, holder.line)
    return None


def _mode(ops: Operations, node: Node) -> str:
    """Which elements a rotation pairs: those half a head apart, or neighbours."""
    if node.op in ("cat", "concat"):
        return "half"
    name = node.op.partition(":")[2]
    if "half" not in name and any(word in name for word in ("every_two", "interleave", "pair", "adjacent")):
        return "interleave"
    target = ops.context.names.function(ops.context.names.of_call(ops.module, node.call))
    if target is None:
        return "half"
    home, block = target
    written = {home.callee_name(index) for index in home.calls_in.get(block, ())}
    return "interleave" if "stack" in written else "half"


def group_norm(context: Context, ops: Operations, function: int) -> list[Fact]:
    """``silu(group_norm(x))``, in a forward or side by side in a Sequential."""
    module = ops.module
    for index in module.calls_in.get(function, ()):
        node = ops.of_call(index)
        call = module.code.calls[index]
        if node.op in ("silu", "self:nonlinearity", "own:nonlinearity", "own:swish") and node.inputs:
            before = ops.node(ops.origin(At(node.inputs[0], call.block, call.line)).value)
            if before is not None and before.op == "group_norm":
                return [_fact(context, ops, "group_norm_silu", index)]
        if node.op == "Sequential":
            names = [_made(ops, value) for value in call.args]
            for norm, activation in pairwise(names):
                if norm == "torch.nn.GroupNorm" and activation == "torch.nn.SiLU":
                    return [_fact(context, ops, "group_norm_silu", index)]
    return []


def _made(ops: Operations, value: Value) -> str:
    name = ops.context.names.of_value(ops.module, value, 0, 1) if isinstance(value, CallResult) else ""
    return name.removesuffix("()")


def add_layer_norm(context: Context, ops: Operations, function: int) -> list[Fact]:
    """``layer_norm(x + y)`` of two activations; sums of embeddings and learned parameters broadcast."""
    if _EMBEDDING.search(ops.module.qualname(function)):
        return []
    for index in ops.module.calls_in.get(function, ()):
        node = ops.of_call(index)
        if node.op != "layer_norm" or not node.inputs:
            continue
        call = ops.module.code.calls[index]
        total = ops.node(ops.origin(At(node.inputs[0], call.block, call.line)).value)
        if total is None or total.op not in ("add", "update") or len(total.inputs) < 2:
            continue
        parts = total.inputs[:2]
        products = all(isinstance(value, Op) and value.op == "*" for value in parts)  # the state of an LSTM cell
        if all(_activation(value) for value in parts) and not products:
            return [_fact(context, ops, "add_layer_norm", index)]
    return []


def _activation(value: Value) -> bool:
    if isinstance(value, Ref):
        return "." not in value.name and not _EMBEDDING.search(value.name)
    return isinstance(value, CallResult) or (isinstance(value, Op) and value.op == "*")


def matrix_sum(context: Context, ops: Operations, function: int) -> list[Fact]:
    """``torch.mm(a, b) + c``, which is ``torch.addmm(c, a, b)``."""
    for node, at in ops.operators(function, "add"):
        for product, other in (node.inputs[:2], node.inputs[1::-1]) if len(node.inputs) > 1 else ():
            way = ops.back(At(product, at.block, at.line), {"mul": "all"}, frozenset(("mm",)))
            if way is not None and way.node.call >= 0 and not isinstance(other, Const):
                return [_fact(context, ops, "addmm", way.node.call)]
    return []


def token_permute(context: Context, ops: Operations, function: int) -> list[Fact]:
    """``tokens.index_select(0, argsort(experts) // k)``: tokens put in the order of their experts."""
    for index in ops.module.calls_in.get(function, ()):
        node = ops.of_call(index)
        if node.op != "index_select" or len(node.inputs) < 3:
            continue
        call = ops.module.code.calls[index]
        rows = ops.node(ops.origin(At(node.inputs[2], call.block, call.line)).value)
        if rows is not None and rows.op == "//" and len(rows.inputs) == 2:
            way = ops.back(At(rows.inputs[0], call.block, call.line), _COPIES, frozenset(("argsort",)))
            if way is not None:
                return [_fact(context, ops, "token_permute", index)]
    return []


def _fact(context: Context, ops: Operations, name: str, index: int, **attrs: str) -> Fact:
    known = {"confidence": "shape", "guarded": "no", "returned": "no", "conditions": "", **attrs}
    return context.call_fact("affinity", name, ops.module, index, **known)
