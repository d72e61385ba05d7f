"""Training steps: where gradients are computed, by the code itself or by a library's trainer; moves to the NPU."""

from __future__ import annotations

from typing import Literal

from npulint.core.lazy_regex import lazy_compile
from npulint.data.training_calls import is_training_call
from npulint.facts.attributes import attribute
from npulint.facts.kinds import fact_kind
from npulint.model.running.code_facts import CallFact
from npulint.model.running.inner_functions import blocks_as_run
from npulint.model.running.training import train_loop
from npulint.model.values.callers import knows_callers
from npulint.model.values.context import Context, once
from npulint.model.values.cursors import CallSite, Scope, module_scopes, scope_named
from npulint.recognizers.registry import recognizes
from npulint.recognizers.torch.backward import Scaled, is_of_inputs, is_stepped, scaled
from npulint.recognizers.torch.given_devices import Given, where_given

# Classes that hold an optimizer and step it, without being one: they schedule its learning rate.

_OPTIMIZER = lazy_compile(r"[Oo]ptim|Opt(?![a-z])|^opt")


@once
def optimizer_wrapper(context: Context) -> str | None:
    """The place (``path:line:column``) where a class of the project steps the optimizer that it holds, in its own
    ``step`` and without ``param_groups``, for which a gradient scaler asks an optimizer; empty if there is none, None
    if there are several."""
    steps = (call for module in module_scopes(context) for call in module.calls_named("step"))
    places = [f"{call.path}:{call.span.line}:{call.span.column}" for call in steps if _is_of_wrapper(call)]
    return None if len(places) > 1 else "".join(places)


def _is_of_wrapper(call: CallSite) -> bool:
    """Whether a call is in the method ``step`` of such a class; a trainer with this method is none, as names show."""
    owner, held = call.scope.owner, call.receiver
    if owner is None or held is None or call.scope.routine.last_name != "step" or not held.written.startswith("self."):
        return False
    if any(base.name.rpartition(".")[2].endswith("Optimizer") for base in owner.bases):
        return False
    named = _OPTIMIZER.search(owner.last_name) and _OPTIMIZER.search(held.written.rpartition(".")[2])
    return bool(named) and not _has_groups(owner)


def _has_groups(owner: Scope) -> bool:
    inside = [
        scope for scope in owner.blocks_of("function") if scope.owner is not None and scope.owner.block == owner.block
    ]
    if any(scope.last_name in ("param_groups", "__getattr__") for scope in inside):
        return True
    return any(assignment.scope.is_inside(owner) for assignment in owner.assignments_to("param_groups"))


# Which calls of other files lead to a training step, so that a fix can hand them something more.

_MOST = 12  # calls; more are not changed
_DEPTH = 4  # functions that call each other


def calls_elsewhere(routine: Scope) -> str | None:
    """The places (``path:line:column``, one a line) of the calls of a function and of its callers in turn that stand in
    other files than the function that they call; None if they are not all known."""
    places: list[str] = []
    waiting = [(routine, 0)]
    seen = {(routine.path, routine.block)}
    while waiting:
        function, depth = waiting.pop()
        if function.kind != "function":
            continue
        if depth == _DEPTH or len(places) > _MOST or not knows_callers(function):
            return None
        for call in function.callers:
            if call.path != function.module.path:
                places.append(f"{call.path}:{call.span.line}:{call.span.column}")
            around = call.scope.routine
            if (around.path, around.block) not in seen:
                seen.add((around.path, around.block))
                waiting.append((around, depth + 1))
    return "\n".join(sorted(set(places)))


_TRAINER = lazy_compile(
    r"^(?!tensorflow|keras|tf_|paddle|sklearn)\w+\.(?:\w+\.)*\w*Trainer(?:\.from_argparse_args|\.from_config)?"
    r"(?:\(\)|Config\(\)\.build\(\))\.(?:fit|train)$"  # of any library
    r"|^hydra\.utils\.(?:instantiate|call)\(\)\.(?:fit|train)$"
    r"|^[^?]*:(?:\w+\.)*(?:\w*_)?trainer\(\)\.(?:fit|train)$"  # made by a function that others override
)


@fact_kind("npu")
@recognizes(matching=lambda name: name.endswith(".npu"))
class MoveToNpu(CallFact):
    """Something is moved to the NPU by its method ``npu``."""

    def __post_init__(self) -> None:
        self.name = "npu"

    @attribute
    def on(self) -> str:
        """The canonical name of the called method."""
        return self.call.name

    @attribute
    def given(self) -> Given:
        """When it runs: ``only`` where the device that it gets is given (``if gpu is not None: x.npu(gpu)``),
        ``otherwise`` where none is, or in ``any`` case."""
        return where_given(self.call)


@fact_kind("train_step")
class TrainStep(CallFact):
    """Gradients are computed (``backward``), or a library's trainer is started (``fit``, ``train``, ``run``,
    ``pretrain`` …)."""

    framework: Literal["torch"] = "torch"
    """The framework that computes the gradients."""

    @attribute
    def loop(self) -> bool:
        """Whether it runs in a training loop; a trainer contains one."""
        loops = (train_loop(scope) for way in blocks_as_run(self.call.scope) for scope in way)
        return self.name != "backward" or any(loop is not None for loop in loops)

    @attribute
    def on(self) -> str:
        """The canonical name of the callee."""
        return self.call.name

    @attribute
    def scaled(self) -> Scaled:
        """How the loss is scaled: by apex, bypassed (in the block of apex, but not the scaled loss), by a scaler,
        manual (multiplied by a factor by which gradients are divided), by an engine (a library), or no."""
        return scaled(self.call) if self.name == "backward" else "engine"

    @attribute
    def called_at(self) -> str | None:
        """The places, one a line, of the calls of the function around it, and of its callers in turn, that stand in
        other files than the function; none if some calls are not known."""
        return calls_elsewhere(self.call.scope.routine)

    @attribute
    def held_at(self) -> str | None:
        """Where a class of the project steps the optimizer that it holds without having ``param_groups``, for which a
        gradient scaler asks; empty if there is none, unknown if there are several."""
        return optimizer_wrapper(self.call.context)

    @attribute
    def stepped(self) -> bool:
        """Whether the same function, or one inside or around it, also calls ``step``."""
        return is_stepped(self.call)


def _is_step(name: str) -> bool:
    """Whether a call, by its canonical name, may be a training step, or starts a trainer."""
    started = name.endswith((".fit", ".train")) and _TRAINER.match(name) is not None
    return name.endswith(".backward") or started or is_training_call(name)


@recognizes(matching=_is_step)
def train_steps(call: CallSite) -> list[TrainStep]:
    """Calls of ``backward`` of a loss, except of custom gradient functions and for gradients of inputs; calls that
    start a trainer."""
    last = call.name.rpartition(".")[2]
    own = scope_named(call.context, call.name) is not None or call.scope.qualname.endswith(".backward")
    if last == "backward" and (own or is_of_inputs(call)):
        return []
    return [TrainStep(call, last)]
