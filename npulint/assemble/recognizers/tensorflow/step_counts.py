"""Global steps that are incremented manually instead of by apply_gradients."""

from __future__ import annotations

from npulint.assemble.code_facts import CallFact
from npulint.assemble.cursors import CallSite, Expr, Scope
from npulint.assemble.recognizers.registry import recognizes
from npulint.assemble.recognizers.tensorflow.optimizers import scales_for_npu
from npulint.assemble.recognizers.tensorflow.steps import is_scaled
from npulint.assemble.walker import walker
from npulint.facts.attributes import attribute
from npulint.facts.kinds import fact_kind
from npulint.lazy_regex import lazy_compile

_ASSIGNING = frozenset(("tensorflow.assign", "tensorflow.assign_add"))
_METHODS = (".assign", ".assign_add")
_NAME = lazy_compile(r"(?:^|[._])global_?step(?:_tensor|_op|_var)?$")
_CHOOSING = frozenset(("tensorflow.cond", "tensorflow.where", "tensorflow.case"))
_MADE = ("get_global_step()", "get_or_create_global_step()", "create_global_step()")


@fact_kind("step_count")
class StepCount(CallFact):
    """The global step is assigned, in a graph and unconditionally; the name is the canonical callee."""

    @attribute
    def beside_scaled(self) -> bool:
        """Whether the file also has a train step of a loss scale optimizer of the adapter."""
        return self.call.context.memoize(("scaled steps", self.path), lambda: _has_scaled_step(self.scope))


@recognizes(matching=lambda name: name in _ASSIGNING or name.endswith(_METHODS))
def step_counts(call: CallSite) -> list[StepCount]:
    """Assignments of TensorFlow variables."""
    by_function = call.name in _ASSIGNING
    counted = call.argument("ref", 0) if by_function else call.receiver
    if counted is None or not (_NAME.search(counted.written) or counted.name.endswith(_MADE)):
        return []
    new = call.argument("value", 1 if by_function else 0)
    if (new is not None and _is_chosen(new)) or call.scope.routine.kind == "lambda":
        return []
    return [StepCount(call, call.name)]


@walker(depth=6, otherwise=bool)
def _is_chosen(value: Expr) -> bool:
    """Whether a value comes from ``tf.cond`` or the like, which may leave the step unchanged."""
    call = value.call
    if call is not None:
        return call.name in _CHOOSING or any(map(_is_chosen, call.args))
    assigned = [one.value for one in value.assignments[:4]]
    return any(map(_is_chosen, value.operands() or assigned))


def _has_scaled_step(module: Scope) -> bool:
    return scales_for_npu(module) and any(map(is_scaled, module.calls_named("apply_gradients", "minimize")))
