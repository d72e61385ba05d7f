"""TensorFlow 2: compiled Keras models, and the loop size set for the NPU."""

from __future__ import annotations

from typing import Literal

from npulint.core.lazy_regex import lazy_compile
from npulint.facts.attributes import attribute
from npulint.facts.kinds import fact_kind
from npulint.facts.values import PossibleValues, merge
from npulint.model.running.code_facts import CallFact
from npulint.model.values.context import Context, once
from npulint.model.values.cursors import CallSite, Scope, module_scopes
from npulint.recognizers.registry import recognizes
from npulint.recognizers.tensorflow.functions import compiled

_SIZE = "set_npu_loop_size"
_OF_KERAS = frozenset(("optimizer", "loss", "metrics", "run_eagerly", "steps_per_execution"))
_MODEL = lazy_compile(r"^(?:tensorflow\.)?keras\..*\(\)\.compile$")


@fact_kind("loop_size")
@recognizes(matching=lambda name: name.endswith(_SIZE) and name.startswith("npu_device."))
class LoopSize(CallFact):
    """The loop size is set; the name is ``set_npu_loop_size``."""

    def __post_init__(self) -> None:
        self.name = _SIZE

    @attribute
    def value(self) -> PossibleValues:
        """The loop size."""
        return self.call.argument_value("loop_size", 0) or PossibleValues()

    @attribute
    def agrees(self) -> Literal["yes", "no", "missing", "unknown"]:
        """Whether compiled loops have as many iterations as the loop size; missing if there are none."""
        rounds = _rounds(self.call.context)
        if not rounds:
            return "missing"
        values = merge(rounds)
        if not isinstance(self.value.single, int) or not values.exact or not values.values:
            return "unknown"
        return "yes" if self.value.single in values.values else "no"


@fact_kind("model_compile")
class ModelCompile(CallFact):
    """A model of Keras is compiled; the name is ``compile``."""


@recognizes(matching=lambda name: name.endswith(".compile"))
def compiled_models(call: CallSite) -> list[ModelCompile]:
    """A fact for each ``compile`` of a Keras model, recognised by its class or by the arguments."""
    is_model = _MODEL.match(call.name) is not None or not _OF_KERAS.isdisjoint(call.keywords)
    return [ModelCompile(call, "compile")] if is_model else []


@once
def _rounds(context: Context) -> list[PossibleValues]:
    """The numbers of iterations of loops over ``tf.range`` in compiled functions, according to their callers."""
    valueses = []
    for call in (call for module in module_scopes(context) for call in module.calls_named("range")):
        function = call.scope.function
        if function is None or call.name != "tensorflow.range" or not _is_looped_over(call):
            continue
        if compiled(call.scope) == "yes":
            valueses.append(_limit(call, function))
    return valueses


def _is_looped_over(call: CallSite) -> bool:
    """Whether a loop iterates over the result of a call."""
    return any(loop.test.call == call for loop in call.scope.blocks_of("loop"))


def _limit(call: CallSite, function: Scope) -> PossibleValues:
    """The upper limit of a ``tf.range``; for a parameter of the function, the value that the project's calls pass."""
    limit = call.argument("limit", 1) or call.argument("start", 0)
    if limit is None:
        return PossibleValues()
    if limit.written not in function.parameters:
        return limit.known
    passed = [PossibleValues() if value is None else value.known for _, value in function.passed(limit.written)]
    return merge(passed) if passed else PossibleValues()
