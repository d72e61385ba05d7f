"""Training steps: where gradients are computed, by the code itself or by a library's trainer; moves to the NPU."""

from __future__ import annotations

from npulint.core.lazy_regex import lazy_compile
from npulint.facts.attributes import attribute
from npulint.facts.kinds import fact_kind
from npulint.model.running.code_facts import CallFact
from npulint.model.running.inner_functions import blocks_as_run
from npulint.model.running.training import train_loop
from npulint.model.values.cursors import CallSite, scope_named
from npulint.recognizers.registry import recognizes
from npulint.recognizers.torch.backward import Scaled, is_of_inputs, is_stepped, scaled
from npulint.recognizers.torch.given_devices import Given, where_given
from npulint.recognizers.torch.optimizer_wrappers import optimizer_wrapper
from npulint.recognizers.torch.step_callers import calls_elsewhere

_TRAINER = lazy_compile(
    r"^(?!tensorflow|keras|tf_|paddle|sklearn)\w+\.(?:\w+\.)*\w*Trainer(?:\.from_argparse_args|\.from_config)?"
    r"(?:\(\)|Config\(\)\.build\(\))\.(?:fit|train)$"  # of any library
    r"|^hydra\.utils\.(?:instantiate|call)\(\)\.(?:fit|train)$"
    r"|^(?:mmcv|mmengine)\.(?:\w+\.)*(?:build_runner|\w*Runner(?:\.from_cfg)?)\(\)\.(?:run|train)$"
    r"|^sentence_transformers\.(?:\w+\.)*\w+\(\)\.(?:fit|old_fit|train)$"
    r"|^ray\.train\.(?:\w+\.)*\w*Trainer\(\)\.fit$"
    r"|^(?:pytorch_lightning|lightning)\.(?:\w+\.)*LightningCLI$"
    r"|^megatron\.training\.(?:\w+\.)*pretrain$"
    r"|^[^?]*:(?:\w+\.)*(?:\w*_)?trainer\(\)\.(?:fit|train)$"  # made by a function that others override
    r"|^fastai\.(?:\w+\.)*\w*[Ll]earner\(\)\.(?:fit|fine_tune)\w*$"
)
_STARTS = (".fit", ".old_fit", ".train", ".run", ".fit_one_cycle", ".fine_tune", ".LightningCLI", ".pretrain")


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
        """How the loss is scaled: by apex, bypassed (in the block of apex, but not the scaled loss), by a scaler, by an
        engine (a library), or no."""
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


@recognizes(matching=lambda name: name.endswith(".backward") or (name.endswith(_STARTS) and bool(_TRAINER.match(name))))
def train_steps(call: CallSite) -> list[TrainStep]:
    """Calls of ``backward`` of a loss, except of custom gradient functions and for gradients of inputs; calls that
    start a trainer."""
    last = call.name.rpartition(".")[2]
    own = scope_named(call.context, call.name) is not None or call.scope.qualname.endswith(".backward")
    if last == "backward" and (own or is_of_inputs(call)):
        return []
    return [TrainStep(call, last)]
