"""Loss scaling: the optimizers that scale, the managers that adjust the scale, and losses that are scaled manually."""

from __future__ import annotations

import re
from typing import Literal

from npulint.core.lazy_regex import lazy_compile
from npulint.facts.attributes import Flag, attribute, flag
from npulint.facts.code import Const, Ref, Value, written_operations
from npulint.facts.kinds import fact_kind
from npulint.model.running.code_facts import CallFact
from npulint.model.running.conditions import BRANCHES
from npulint.model.running.surroundings import surroundings_of
from npulint.model.values.cursors import CallSite, Expr, Scope
from npulint.model.values.walker import walker
from npulint.recognizers.registry import recognizes
from npulint.recognizers.tensorflow.optimizers import (
    DISTRIBUTED,
    LOSS_SCALE_MANAGERS,
    ROOTS,
    SCALING,
    is_keras,
    is_wrapped_by,
    layers,
    scales,
    wrapped,
)
from npulint.recognizers.tensorflow.steps import all_scaled

_TAKERS = (".compute_gradients", ".minimize")
_PRODUCTS = frozenset(("tensorflow.multiply", "tensorflow.scalar_mul"))
_SCALE = lazy_compile(r"(?:^|[._])(?:loss_?scal(?:e|ing|er)\w*|scaled_loss)$", re.IGNORECASE)
_NPU = ("npu_bridge.", "npu_device.")
_REWRITES = "enable_mixed_precision_graph_rewrite"
_CLIPPING = "tensorflow.clip_by_"
_SCALE_OBJECTS = ("FixedLossScale", "DynamicLossScale")  # of tf.train.experimental: not managers


@recognizes(matching=lambda name: name.rpartition(".")[2] in SCALING and name.startswith(ROOTS))
@fact_kind("loss_scale")
class LossScale(CallFact):
    """A loss scale optimizer or manager is created; the name is its canonical constructor."""

    @attribute
    def what(self) -> Literal["optimizer", "manager"]:
        """Whether it is an optimizer or a manager."""
        return "manager" if self.name.rpartition(".")[2] in LOSS_SCALE_MANAGERS else "optimizer"

    @attribute
    def native(self) -> bool:
        """Whether it belongs to TensorFlow and not to the adapter."""
        return not self.name.startswith(_NPU)

    @attribute
    def wraps_distributed(self) -> bool:
        """Whether the wrapped optimizer is a distributed one."""
        inner = wrapped(self.call) if self.what == "optimizer" else None
        return inner is not None and is_wrapped_by(inner, DISTRIBUTED)

    @attribute
    def wraps_scaled(self) -> bool:
        """Whether the wrapped optimizer already scales the loss; in ``self.opt = Scaled(self.opt)`` that is the
        previous one."""
        others = [call for call in layers(self._wrapped_makers()) if call != self.call]
        return any(scales(call) or call.name.endswith(_REWRITES) for call in others)

    @attribute
    def wraps_clipping(self) -> bool:
        """Whether a wrapped project optimizer clips in its compute_gradients, where gradients are scaled."""
        targets = [call.target for call in layers(self._wrapped_makers())]
        methods = [
            target.definition("compute_gradients")
            for target in targets
            if target is not None and target.kind == "class"
        ]
        inside = [call for method in methods if method is not None for call in method.calls]
        return any(call.name.startswith(_CLIPPING) for call in inside)

    @attribute
    def wraps_keras(self) -> bool:
        """Whether every known wrapped optimizer is a tf.keras optimizer."""
        makers = self._wrapped_makers()
        return bool(makers) and all(is_keras(call.name) for call in makers)

    @attribute
    def flag(self) -> Literal["yes", "no", "missing", "unknown"]:
        """The argument ``is_distributed``."""
        values = self.call.argument_value("is_distributed", 2)
        if values is None:
            return "missing"
        decided = None if values.symbol or not isinstance(values.single, bool) else values.single
        return flag(decided)  # an option or the environment may determine it

    @attribute
    def manager(self) -> Literal["npu", "native", "object", "constant", "missing", "unknown"]:
        """The manager argument of an optimizer; object is a LossScale of tf.train.experimental."""
        value = self.call.argument("loss_scale_manager", 1) if self.what == "optimizer" else None
        if value is None:
            return "unknown" if self.what == "manager" or self.call.starred else "missing"
        if value.is_literal:
            return "constant"
        return _manager([call.name for call in value.sites])

    @attribute
    def branch(self) -> bool:
        """Whether it is under a condition."""
        return any(scope.kind in BRANCHES and not scope.has_main_test for scope in self.scope.ancestors)

    @attribute
    def dependent(self) -> bool:
        """Whether it runs under ``tf.control_dependencies``, itself or in every caller."""
        return _is_dependent(self.scope)

    def _wrapped_makers(self) -> list[CallSite]:
        """The calls that may have created the wrapped optimizer."""
        inner = wrapped(self.call) if self.what == "optimizer" else None
        return [] if inner is None else inner.sites


def _manager(makers: list[str]) -> Literal["npu", "native", "object", "unknown"]:
    """The kind of manager that all of the constructors `makers` create."""
    lasts = {name.rpartition(".")[2] for name in makers}
    if not lasts or not lasts.issubset(LOSS_SCALE_MANAGERS):
        return "unknown"
    if all(name.startswith(_NPU) for name in makers):
        return "npu"
    if not all(name.startswith("tensorflow.") for name in makers):
        return "unknown"
    return "object" if lasts.issubset(_SCALE_OBJECTS) else "native"


@walker(depth=4, otherwise=bool)
def _is_dependent(scope: Scope) -> bool:
    """Whether code runs under ``tf.control_dependencies``, itself or in every caller."""
    if "control_dependencies" in surroundings_of(scope).under:
        return True
    callers = [] if scope.function is None else scope.function.callers
    return bool(callers) and all(_is_dependent(call.scope) for call in callers)


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
    factors = [] if loss is None else _factors(loss)
    taken_back = [] if not factors or not call.name.endswith(_TAKERS[0]) else _divisors_behind(call)
    is_scaled = any(_is_scale(factor) or factor.value in taken_back for factor in factors)
    return [HandScaledLoss(call, call.name.rpartition(".")[2])] if is_scaled else []


@walker(depth=4, otherwise=list)
def _factors(value: Expr) -> list[Expr]:
    """The factors of a product; none of another value."""
    call = value.call
    if call is not None:
        return call.args if call.name in _PRODUCTS else []
    assigned = value.assignments
    if len(assigned) == 1:
        return _factors(assigned[0].value)
    return value.operands("*")


def _divisors_behind(call: CallSite) -> list[Value]:
    """The names and numbers by which the function of a call divides something behind it, such as gradients."""
    routine = call.scope.routine
    divisors = []
    for operation, block, line in written_operations(routine.module.code):
        if operation.op == "/" and line > call.line and routine.at(block).routine == routine:
            divisors.append(operation.operands[-1])
    return [divisor for divisor in divisors if isinstance(divisor, Const | Ref)]


def _is_scale(value: Expr) -> bool:
    call = value.call
    return call.last == "get_loss_scale" if call is not None else bool(_SCALE.search(value.written))
