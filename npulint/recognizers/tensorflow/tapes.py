"""TensorFlow 2: gradient tapes for training, whether they are in a compiled function, and the loops around them."""

from __future__ import annotations

from collections.abc import Iterable

from npulint.facts.attributes import Flag, attribute
from npulint.facts.kinds import fact_kind
from npulint.facts.model import Fact
from npulint.model.running.code_facts import CallFact
from npulint.model.values.cursors import CallSite, Scope
from npulint.recognizers.registry import recognizes
from npulint.recognizers.tensorflow.functions import compiled, is_compiled, users

_APPLYING = ("apply_gradients", "minimize")
_USING = (".get_scaled_loss", ".get_unscaled_gradients")
_HOPS = 6  # maximum nested calls between a compiled function and its tape


@fact_kind("tape")
class GradientTape(CallFact):
    """A gradient tape is created; the name is ``GradientTape``."""

    @attribute
    def compiled(self) -> Flag:
        """Whether it runs within a function of tf.function, or one that Keras compiles; no: eagerly."""
        return compiled(self.scope)

    @attribute
    def trains(self) -> bool:
        """Whether its function, or one that calls it, applies gradients."""
        function = self.scope.function
        callers = [] if function is None else users(function)
        return _applies(self.scope.routine) or any(_applies(call.scope.routine) for call in callers)

    @attribute
    def looped(self) -> bool:
        """Whether it is in a loop, or its function is called in one."""
        function = self.scope.function
        callers = [] if function is None else users(function)
        return self.scope.loop is not None or any(call.scope.loop is not None for call in callers)


@fact_kind("step_call")
class StepCall(CallFact):
    """A Python loop calls a compiled training function in every iteration, itself or through others; the name is the
    compiled function as written where eager code calls it."""

    tape: str
    """The path and the number of the tape in that function."""


@fact_kind("host_sync")
class NumberRead(CallFact):
    """A loop around a compiled training step reads a number from the device in every iteration; the name is
    ``numpy``."""

    written: str
    """The tensor as written."""


@fact_kind("loss_scale_use")
@recognizes(matching=lambda name: name.endswith(_USING))
class LossScaleUse(CallFact):
    """A method of a loss scale optimizer is called around a tape; the name is the method."""

    def __post_init__(self) -> None:
        self.name = self.name.rpartition(".")[2]


@recognizes("tensorflow.GradientTape")
def tapes(call: CallSite) -> Iterable[Fact]:
    """A fact for a tape, for each Python loop that calls its compiled function in every iteration, and for what that
    loop reads from the device."""
    yield GradientTape(call, "GradientTape")
    steps = _loop_calls(call.scope) if _applies(call.scope.routine) else {}
    for step, compiled_call in steps.items():
        yield StepCall(step, compiled_call.written or compiled_call.last, f"{call.path}:{call.index}")
        yield from _reads(step)


def _reads(step: CallSite) -> Iterable[NumberRead]:
    """The numbers that the loop around a training step reads from the device in every iteration."""
    for call in step.scope.calls_named("numpy"):
        if not call.args and call.scope.loop is step.scope.loop and not call.scope.is_conditional:
            yield NumberRead(call, "numpy", call.written.removesuffix(".numpy") or "…")


def _applies(routine: Scope) -> bool:
    """Whether a function, including nested ones, applies gradients."""
    inner = (routine, *routine.functions)
    return any(call.scope.routine in inner for call in routine.calls_named(*_APPLYING))


def _loop_calls(scope: Scope) -> dict[CallSite, CallSite]:
    """The calls in Python loops that run the compiled function around a block in every iteration, each with the call
    from eager code that runs it; none if the function contains a loop."""
    calls: dict[CallSite, CallSite] = {}
    queue: list[tuple[Scope, CallSite | None, int]] = [(scope, None, 0)]  # a block, and how eager code comes to it
    while queue:
        block, entered, hops = queue.pop()
        function = block.function
        if function is None or hops > _HOPS or (block.loop is not None and entered is None):
            continue
        came_out = entered is not None or is_compiled(function)
        for call in users(function):
            leaving = (entered or call) if came_out and compiled(call.scope) == "no" else None
            if leaving is not None and call.scope.loop is not None:
                calls[call] = leaving
            else:
                queue.append((call.scope, leaving, hops + 1))
    return calls
