"""Gradient clipping in TensorFlow 2: whether the gradients of a tape are still multiplied by the loss scale."""

from __future__ import annotations

from npulint.facts.attributes import attribute
from npulint.facts.kinds import fact_kind
from npulint.model.running.code_facts import CallFact
from npulint.model.values.cursors import Expr, Scope
from npulint.model.values.walker import walker
from npulint.recognizers.registry import recognizes

_SCALED = "get_scaled_loss"
_UNSCALED = "get_unscaled_gradients"
_TAKING = frozenset(("zip", "list", "tuple", "enumerate"))


@recognizes("tensorflow.clip_by_global_norm", "tensorflow.clip_by_norm", "tensorflow.clip_by_value")
@fact_kind("tf_clip")
class TensorClip(CallFact):
    """Tensors are clipped, such as gradients; the name is the canonical name of the function."""

    @attribute
    def scaled(self) -> bool:
        """Whether they certainly are gradients of a scaled loss that have not been unscaled."""
        value = self.call.argument("t_list" if self.name.endswith("global_norm") else "t", 0)
        return value is not None and _is_scaled(value)


@walker(depth=12, otherwise=bool)
def _is_scaled(value: Expr) -> bool:
    """Whether a value comes from the gradient of a scaled loss, and not through ``get_unscaled_gradients``."""
    call = value.call
    if call is not None:
        if call.last == _UNSCALED:
            return False
        if call.last in ("gradient", "gradients"):
            target = call.argument("target" if call.last == "gradient" else "ys", 0)
            return target is not None and _is_scaled_loss(target)
        taking = call.name in _TAKING or call.name.startswith("tensorflow.")
        return taking and any(map(_is_scaled, call.args))
    if value.written:
        around = [ancestor.test for ancestor in value.scope.ancestors if value.written in _elements(ancestor)]
        return any(map(_is_scaled, around or [assignment.value for assignment in value.assignments]))
    return any(map(_is_scaled, value.operands("[]", "iter", "each", "if")[:1] or value.items))


def _elements(block: Scope) -> tuple[str, ...]:
    """The names that a comprehension gives to the elements that it goes over."""
    return block.record.params if block.kind == "loop" else ()


@walker(depth=6, otherwise=bool)
def _is_scaled_loss(loss: Expr) -> bool:
    call = loss.call
    if call is not None:
        return call.last == _SCALED
    assigned = loss.assignments
    return bool(assigned) and all(_is_scaled_loss(assignment.value) for assignment in assigned)
