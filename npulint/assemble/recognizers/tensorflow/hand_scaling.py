"""Losses that the project multiplies by a loss scale manually."""

from __future__ import annotations

import re

from npulint.assemble.code_facts import CallFact
from npulint.assemble.cursors import CallSite, Expr
from npulint.assemble.recognizers.registry import recognizes
from npulint.assemble.recognizers.tensorflow.steps import all_scaled
from npulint.assemble.walker import walker
from npulint.facts.attributes import Flag, attribute
from npulint.facts.kinds import fact_kind
from npulint.lazy_regex import lazy_compile

_TAKERS = (".compute_gradients", ".minimize")
_PRODUCTS = frozenset(("tensorflow.multiply", "tensorflow.scalar_mul"))
_SCALE = lazy_compile(r"(?:^|[._])(?:loss_?scal(?:e|ing|er)\w*|scaled_loss)$", re.IGNORECASE)


@fact_kind("hand_scaled")
class HandScaledLoss(CallFact):
    """An optimizer gets a loss that is multiplied by a scale; the name is the method."""

    @attribute
    def scaled(self) -> Flag:
        """Whether the optimizer scales the loss as well."""
        return all_scaled(self.call)


@recognizes(matching=lambda name: name.endswith(_TAKERS))
def hand_scaled_losses(call: CallSite) -> list[HandScaledLoss]:
    """Calls of optimizer methods with a loss."""
    loss = call.argument("loss", 0)
    is_multiplied = loss is not None and _is_multiplied(loss)
    return [HandScaledLoss(call, call.name.rpartition(".")[2])] if is_multiplied else []


@walker(depth=4, otherwise=bool)
def _is_multiplied(value: Expr) -> bool:
    call = value.call
    if call is not None:
        return call.name in _PRODUCTS and any(_is_scale(part) for part in call.args)
    assigned = value.assignments
    if len(assigned) == 1:
        return _is_multiplied(assigned[0].value)
    return any(_is_scale(part) for part in value.operands("*"))


def _is_scale(value: Expr) -> bool:
    call = value.call
    return call.last == "get_loss_scale" if call is not None else bool(_SCALE.search(value.written))
