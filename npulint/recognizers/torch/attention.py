"""Attention and masked softmax in small operations, recognised by the data flow in one function."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from npulint.facts.attributes import attribute
from npulint.facts.kinds import fact_kind
from npulint.model.running.code_facts import CallFact, PlaceFact
from npulint.model.running.code_places import expressions
from npulint.model.running.inner_functions import joined_calls
from npulint.model.values.cursors import CallSite, Expr, Scope
from npulint.recognizers.torch.operations import (
    Operation,
    Trace,
    assigned_before,
    call_operation,
    number,
    operations_of_calls,
    origin,
    trace,
)

# The base class of facts about code that a fused NPU operation can replace.


@fact_kind("affinity")
class FusibleCode(CallFact):
    """Several small operations compute what a fused NPU operation does. The name is that operation; the place is the
    call by which the code was recognised."""

    @attribute
    def confidence(self) -> Literal["shape"]:
        """How the code was recognised: by the shape of its data flow."""
        return "shape"


@fact_kind("affinity")
class FusibleDefinition(PlaceFact):
    """A function or class that a fused NPU operation can replace, recognised by its name and parameters. The name is
    that operation."""

    @attribute
    def confidence(self) -> Literal["name"]:
        """How the code was recognised: by customary names only."""
        return "name"


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
_FLAT = frozenset(("t", "T", "mm"))  # attributes of matrices only
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
Certainty = Literal["yes", "maybe", "no"]


class _BySoftmax(FusibleCode):
    """Code around a softmax."""

    @attribute
    def guarded(self) -> bool:
        """Whether the function also calls a fused attention."""
        return any(call.last in _FUSED for call in joined_calls(self.scope))


@fact_kind("affinity")
class WrittenOutAttention(_BySoftmax, kw_only=True):
    """A function computes attention step by step; the call is its softmax."""

    _weights: Trace
    _scores: Trace

    @attribute
    def mask(self) -> Literal["none", "boolean", "additive"]:
        """The kind of mask applied to the scores."""
        passed = self._scores.passed
        if "masked_fill" in passed or "where" in passed:
            return "boolean"
        return "additive" if "add" in passed or "update" in passed else "none"

    @attribute
    def returned(self) -> Certainty:
        """Whether the attention weights leave the function: yes, maybe (an option decides) or no."""
        return _returned(self.call, self._weights)

    @attribute
    def conditions(self) -> str:
        """The additional conditions of the fused call, in words."""
        words = [f"{self.mask} mask"] if self.mask != "none" else []
        return ", ".join([*words, *(["dropout"] if "dropout" in self._weights.passed else [])])


@fact_kind("affinity")
class MaskedSoftmax(_BySoftmax):
    """A softmax takes scaled values with a boolean mask filled in."""


def softmax_shapes(function: Scope) -> list[FusibleCode]:
    """The attention that a function computes step by step, or else its masked softmaxes."""
    for product in _products(function):
        attention = _attention(product)
        if attention is not None and attention[0].call is not None:
            weights, scores = attention
            fact = WrittenOutAttention(attention[0].call, "attention", _weights=weights, _scores=scores)
            return [fact, *(_masked(fact.call) if fact.returned == "yes" else [])]
    if "softmax" not in function.qualname.lower():
        return []
    softmaxes = [
        operations_of_call.call
        for operations_of_call in operations_of_calls(function)
        if operations_of_call.op == "softmax"
    ]
    return [fact for call in softmaxes if call is not None for fact in _masked(call)]


def _products(function: Scope) -> Iterator[Operation]:
    """The products of tensors in a function: calls and ``@``."""
    yield from (
        operations_of_call for operations_of_call in operations_of_calls(function) if operations_of_call.op in _PRODUCTS
    )
    for place in expressions(function, "matmul"):
        if place.scope.function is function:
            yield Operation("matmul", place.expression.operands())


def _attention(product: Operation) -> tuple[Trace, Trace] | None:
    """The path from a product back to its softmax and from there to the product of the scores."""
    factors = _factors(product)
    for weight in factors if product.op == "einsum" else factors[:1]:
        weights = trace(weight, _WEIGHTS, _SOFTMAX)
        if weights is None or weights.input is None or not _over_last(weights.operation):
            continue
        scores = trace(weights.input, _SCORES, _PRODUCTS)
        if scores is not None and _of_queries_and_keys(scores.operation):
            return weights, scores
    return None


def _factors(product: Operation) -> list[Expr]:
    """The two factors of a product of tensors; none if they are uncertain."""
    if product.op == "einsum":
        equation = product.inputs[0].text if product.inputs else ""
        factors = product.inputs[1:]
        if len(factors) == 1 and factors[0].is_display:
            factors = factors[0].items
        return factors if len(factors) == 2 and _contracts(equation) else []
    if product.op == "baddbmm":
        return product.inputs[1:3] if len(product.inputs) > 2 else []
    return product.inputs[:2] if len(product.inputs) > 1 else []


def _contracts(equation: str) -> bool:
    """Whether an einsum is a batched matrix product: one summed index, and one remaining from each side."""
    sides, _, result = equation.replace(" ", "").replace("...", "").partition("->")
    first, _, second = sides.partition(",")
    left, right, kept = set(first), set(second), set(result)
    return len((left & right) - kept) == 1 and bool((left - right) & kept) and bool((right - left) & kept)


def _over_last(softmax: Operation) -> bool:
    """Whether a softmax may be over the last dimension: 0 and 1 are batch and heads or queries."""
    value = softmax.argument("dim", 1)
    if value is None and softmax.call is not None:
        for made in softmax.call.callee.sites[:1]:
            value = made.argument("dim", 0)
    return number(value) not in (0.0, 1.0)


def _of_queries_and_keys(product: Operation) -> bool:
    """Whether a product has two computed factors with more than two dimensions: no parameters of the module (a
    classifier or a memory), and no plain matrices."""
    factors = _factors(product)
    for factor in factors:
        if trace(factor, _VIEWS, _FLAT) is not None:
            return False
        if "." in origin(factor, frozenset(_VIEWS) - {"mul", "div"}).written:
            return False
    return bool(factors)


def _returned(softmax: CallSite, weights: Trace) -> Certainty:
    """Whether the weights of a softmax leave its function."""
    function = softmax.scope.routine
    bound = [assignment.target for assignment in function.local_assignments if assignment.value.call == softmax]
    names = {name for name in (*weights.names, *bound) if "." not in name and "[" not in name}
    answers = {_given_away(value, function, names, softmax) for value in function.returns}
    for local_assignment in function.local_assignments:
        if "." in local_assignment.target and _holds(local_assignment.value, names, softmax):
            answers.add("yes" if local_assignment.scope is function else "maybe")
    for call in function.calls:
        if any(_holds(value, names, softmax) for value in call.args) and call_operation(call).op.startswith("self:"):
            answers.add("yes" if call.scope is function else "maybe")
    return "yes" if "yes" in answers else "maybe" if "maybe" in answers else "no"


def _given_away(value: Expr, function: Scope, names: set[str], softmax: CallSite) -> Certainty:
    """Whether one returned value contains the weights."""
    parts = [value]
    if value.written and value.written not in names:
        parts = assigned_before(value.written, value)
    held = [part for part in parts if _holds(part, names, softmax)]
    if not held:
        return "no"
    sure = len(parts) == 1 and value.scope is function and not held[0].operator
    emptied = any(expr.is_literal and expr.literal is None for name in names for expr in assigned_before(name, value))
    return "yes" if sure and not emptied else "maybe"


def _holds(value: Expr, names: set[str], softmax: CallSite) -> bool:
    """Whether a value is, or is a tuple that contains, one of some names or a call's result."""
    parts = value.items or value.operands("if", "or", "add", "+")
    if parts:
        return any(_holds(part, names, softmax) for part in parts)
    return value.written in names or (value.call is not None and value.call == softmax)


def _masked(softmax: CallSite) -> list[FusibleCode]:
    """The fact for a softmax of scaled values with a boolean mask; none for other softmaxes."""
    operation = call_operation(softmax)
    if not operation.inputs or not _over_last(operation):
        return []
    filled = trace(operation.inputs[0], _COPIES, frozenset(("masked_fill",)))
    if filled is None or filled.input is None:
        return []
    scaled = trace(filled.input, _COPIES, frozenset(("mul", "div")))
    return [] if scaled is None else [MaskedSoftmax(softmax, "masked_softmax")]
