"""Attention and masked softmax that are written out in small operations, by their data flow within one function."""

from __future__ import annotations

from npulint.assemble.context import Context
from npulint.assemble.flow import argument
from npulint.assemble.recognizers.torch.operations import At, Node, Operations, Way, number
from npulint.facts.code import CallResult, Const, Op, Ref, Return, SequenceDisplay, Value
from npulint.facts.model import Fact

_PRODUCTS = frozenset(("matmul", "bmm", "einsum", "baddbmm"))
_SOFTMAX = frozenset(("softmax",))
_COPIES = dict.fromkeys(
    "to type type_as float half bfloat16 contiguous view reshape view_as clone flatten nan_to_num identity".split(),
    "first",
)
# From the weights back to the softmax; from the softmax's argument back to the scores.
_WEIGHTS = _COPIES | {"dropout": "first", "masked_fill": "first", "where": "tail", "if": "tail"}
_SCORES = (
    _COPIES
    | dict.fromkeys("add mul update".split(), "all")
    | dict.fromkeys("sub div max maximum masked_fill clamp clip neg dropout transpose permute".split(), "first")
    | {"where": "tail", "if": "tail"}
)
_VIEWS = _COPIES | dict.fromkeys("transpose permute swapaxes expand mT mul div".split(), "first")
_FLAT = frozenset(("t", "T", "mm"))  # what only matrices know
_FUSED = (
    "npu_fusion_attention",
    "npu_prompt_flash_attention",
    "npu_fused_attention_score",
    "scaled_dot_product_attention",
    "flash_attn_func",
    "flash_attn_varlen_func",
    "memory_efficient_attention",
    "npu_scaled_masked_softmax",
)


def written_out(context: Context, ops: Operations, function: int) -> list[Fact]:
    """An ``attention`` fact if a function computes it step by step, else ``masked_softmax`` facts."""
    calls = ops.module.calls_in.get(function, ())
    guarded = "yes" if any(ops.module.callee_name(index) in _FUSED for index in calls) else "no"
    for product in _products(ops, function):
        found = _attention(ops, *product)
        if found is not None:
            weights, scores = found
            kept = _kept(ops, function, weights)
            index = weights.node.call
            told = _conditions(weights, scores)
            fact = _fact(context, ops, "attention", index, guarded, kept, _mask(scores), told)
            return [fact, *(_masked(context, ops, index, guarded) if kept == "yes" else [])]
    if "softmax" not in ops.module.qualname(function).lower():
        return []
    softmaxes = [index for index in calls if ops.of_call(index).op == "softmax"]
    return [fact for index in softmaxes for fact in _masked(context, ops, index, guarded)]


def _products(ops: Operations, function: int) -> list[tuple[Node, At]]:
    module = ops.module
    found = []
    for index in module.calls_in.get(function, ()):
        node = ops.of_call(index)
        if node.op in _PRODUCTS:
            call = module.code.calls[index]
            found.append((node, At(CallResult(index), call.block, call.line)))
    for note in module.code.torch_expressions:
        if note.kind == "matmul" and module.function_of(note.block) == function and isinstance(note.value, Op):
            found.append((Node("matmul", note.value.operands), At(note.value, note.block, note.line)))
    return found


def _attention(ops: Operations, product: Node, at: At) -> tuple[Way, Way] | None:
    """The ways from a product back to its softmax and from there to the scores' product."""
    factors = _factors(product)
    if factors is None:
        return None
    for weight in factors if product.op == "einsum" else factors[:1]:
        weights = ops.back(At(weight, at.block, at.line), _WEIGHTS, _SOFTMAX)
        if weights is None or not weights.node.inputs or not _over_last(ops, weights.node):
            continue
        inner = At(weights.node.inputs[0], weights.at.block, weights.at.line)
        scores = ops.back(inner, _SCORES, _PRODUCTS)
        if scores is not None and _of_queries_and_keys(ops, scores):
            return weights, scores
    return None


def _factors(product: Node) -> tuple[Value, ...] | None:
    """The two tensors that a product multiplies."""
    if product.op == "einsum":
        equation = product.inputs[0].value if product.inputs and isinstance(product.inputs[0], Const) else ""
        factors = product.inputs[1:]
        if len(factors) == 1 and isinstance(factors[0], SequenceDisplay):
            factors = factors[0].items
        return factors if len(factors) == 2 and isinstance(equation, str) and _contracts(equation) else None
    if product.op == "baddbmm":
        return product.inputs[1:3] if len(product.inputs) > 2 else None
    return product.inputs[:2] if len(product.inputs) > 1 else None


def _contracts(equation: str) -> bool:
    """Whether an einsum is a batched matrix product: one index summed, one left from either side."""
    sides, _, result = equation.replace(" ", "").replace("...", "").partition("->")
    first, _, second = sides.partition(",")
    one, other, left = set(first), set(second), set(result)
    return len((one & other) - left) == 1 and bool((one - other) & left) and bool((other - one) & left)


def _over_last(ops: Operations, node: Node) -> bool:
    """Whether a softmax may run over the last dimension: 0 and 1 are batch and heads or queries."""
    value = ops.argument(node, "dim", 1)
    if value is None and node.call >= 0:
        call = ops.module.code.calls[node.call]
        for home, index in ops.context.flow.sites(ops.module, call.callee, call.block, call.line)[:1]:
            value = argument(home.code.calls[index], "dim", 0)
    return number(value) not in (0.0, 1.0)


def _of_queries_and_keys(ops: Operations, scores: Way) -> bool:
    """Whether a product multiplies two computed tensors of more than two dimensions: neither is a parameter of the
    module (then it is a classifier's or a memory's), neither is a plain matrix."""
    for factor in _factors(scores.node) or ():
        at = At(factor, scores.at.block, scores.at.line)
        if ops.back(at, _VIEWS, _FLAT) is not None:
            return False
        known = ops.origin(at, frozenset(_VIEWS) - {"mul", "div"})
        if isinstance(known.value, Ref) and "." in known.value.name:
            return False
    return _factors(scores.node) is not None


def _kept(ops: Operations, function: int, weights: Way) -> str:
    """Whether the attention weights leave the function: yes, maybe (an option decides) or no."""
    module, call = ops.module, weights.node.call
    names = {name for name in weights.names if "." not in name} | _bound_to(ops, function, call)
    answers = {_returned(ops, function, returned, names, call) for returned in module.returns.get(function, ())}
    for target, binds in module.dotted.items():
        if "." in target:
            answers |= {
                _at(function, b.block) for b in binds if _is_inside(ops, b.block, function, b.value, names, call)
            }
    for index in module.calls_in.get(function, ()):
        other = module.code.calls[index]
        if ops.of_call(index).op.startswith("self:") and any(_holds(v, names, call) for v in other.args):
            answers.add(_at(function, other.block))
    return "yes" if "yes" in answers else "maybe" if "maybe" in answers else "no"


def _at(function: int, block: int) -> str:
    return "yes" if block == function else "maybe"


def _is_inside(ops: Operations, block: int, function: int, value: Value, names: set[str], call: int) -> bool:
    return ops.module.function_of(block) == function and _holds(value, names, call)


def _returned(ops: Operations, function: int, returned: Return, names: set[str], call: int) -> str:
    """Whether one return statement gives the weights away."""
    parts = [returned.value]
    if isinstance(returned.value, Ref) and returned.value.name not in names:
        parts = [at.value for at in ops.before(returned.value.name, returned.block, returned.line + 1)]
    held = [part for part in parts if _holds(part, names, call)]
    if not held:
        return "no"
    sure = len(parts) == 1 and returned.block == function and not isinstance(held[0], Op)
    emptied = any(at.value == Const(None) for n in names for at in ops.before(n, returned.block, returned.line))
    return "yes" if sure and not emptied else "maybe"


def _bound_to(ops: Operations, function: int, call: int) -> set[str]:
    scope = ops.module.names.get(ops.module.scope[function], {}) if function > 0 else {}
    return {name for name, binds in scope.items() if any(b.value == CallResult(call) for b in binds)}


def _holds(value: Value, names: set[str], call: int) -> bool:
    """Whether a value is, or is a tuple with, one of some names or a call's result."""
    if isinstance(value, SequenceDisplay):
        return any(_holds(item, names, call) for item in value.items)
    if isinstance(value, Op) and value.op in ("if", "or", "add", "+"):
        return any(_holds(item, names, call) for item in value.operands)
    return (isinstance(value, Ref) and value.name in names) or value == CallResult(call)


def _mask(scores: Way) -> str:
    if "masked_fill" in scores.passed or "where" in scores.passed:
        return "boolean"
    return "additive" if "add" in scores.passed or "update" in scores.passed else "none"


def _conditions(weights: Way, scores: Way) -> str:
    """What a fused call has to be told of, in words."""
    words = [f"{_mask(scores)} mask"] if _mask(scores) != "none" else []
    return ", ".join([*words, *(["dropout"] if "dropout" in weights.passed else [])])


def _masked(context: Context, ops: Operations, index: int, guarded: str) -> list[Fact]:
    """A ``masked_softmax`` fact if a softmax takes scaled values with a boolean mask filled in."""
    node = ops.of_call(index)
    call = ops.module.code.calls[index]
    if not node.inputs or not _over_last(ops, node):
        return []
    filled = ops.back(At(node.inputs[0], call.block, call.line), _COPIES, frozenset(("masked_fill",)))
    if filled is None or not filled.node.inputs:
        return []
    scaled = ops.back(At(filled.node.inputs[0], filled.at.block, filled.at.line), _COPIES, frozenset(("mul", "div")))
    return [_fact(context, ops, "masked_softmax", index, guarded, "no", "boolean", "")] if scaled is not None else []


def _fact(
    context: Context, ops: Operations, name: str, index: int, guarded: str, returned: str, mask: str, conditions: str
) -> Fact:
    attrs = {"guarded": guarded, "returned": returned, "mask": mask, "conditions": conditions}
    return context.call_fact("affinity", name, ops.module, index, confidence="shape", **attrs)
