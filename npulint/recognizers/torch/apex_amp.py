"""apex's amp.initialize: the level, the optimizer, and the loss scale."""

from __future__ import annotations

from typing import Literal

from npulint.facts.attributes import attribute
from npulint.facts.code import Scalar
from npulint.facts.kinds import fact_kind
from npulint.model.running.code_facts import CallFact
from npulint.recognizers.registry import recognizes
from npulint.recognizers.torch.optimizer_classes import Families, common_family
from npulint.recognizers.torch.receiver_types import INITIALIZE, makers
from npulint.recognizers.torch.scaling import ArgumentFlag, argument_flag

_EXTREME = 32768
_WRAPPERS = frozenset(
    (
        "torch.nn.DataParallel",
        "torch.nn.parallel.DistributedDataParallel",
        "apex.parallel.DistributedDataParallel",
    )
)
_LEVELS: dict[Scalar, Literal["O0", "O1", "O2", "O3"]] = {"O0": "O0", "O1": "O1", "O2": "O2", "O3": "O3"}


@recognizes(INITIALIZE)
@fact_kind("apex_amp")
class AmpInitialize(CallFact):
    """The ``amp.initialize`` of apex is called; the name is ``initialize``."""

    def __post_init__(self) -> None:
        self.name = "initialize"

    @attribute
    def level(self) -> Literal["O0", "O1", "O2", "O3", "unknown"]:
        """The level of mixed precision; O1 by default."""
        value = self.call.argument("opt_level", 3)
        if value is None:
            return "unknown" if self.call.has_unknown_options else "O1"
        return _LEVELS.get(value.single, "unknown")

    @attribute
    def combine_grad(self) -> ArgumentFlag:
        """Whether the gradients are combined into one tensor."""
        return argument_flag(self.call, "combine_grad")

    @attribute
    def combine_ddp(self) -> ArgumentFlag:
        """Whether the combined gradients are reduced by apex's own data parallelism."""
        return argument_flag(self.call, "combine_ddp")

    @attribute
    def optimizer(self) -> Literal[Families, "missing"]:
        """The family of its optimizer argument."""
        value = self.call.argument("optimizers", 1)
        return "missing" if value is None else common_family(makers(value))

    @attribute
    def wrapped(self) -> Literal["yes", "sometimes", "no"]:
        """Whether the model was wrapped for data parallelism before: yes, sometimes (in one branch) or no."""
        models = self.call.argument("models", 0)
        values = [] if models is None else models.items or [models]
        answers = {call.name in _WRAPPERS for value in values for call in value.sites}
        return "no" if True not in answers else "yes" if answers == {True} else "sometimes"

    @attribute
    def half(self) -> bool:
        """Whether the same function calls ``half`` on the model before this call."""
        model, place = self.call.argument("models", 0), self.call.scope
        if model is None or not model.written:
            return False
        halving = [call for call in place.routine.calls if call.written == f"{model.written}.half"]
        return any(call.line < self.call.line and place.is_inside(call.scope) for call in halving)

    @attribute
    def scale(self) -> Literal["dynamic", "off", "static", "extreme", "missing", "unknown"]:
        """The loss scale: dynamic, off (1), static, extreme (outside the range of float16), or missing."""
        value = self.call.argument("loss_scale")
        single = None if value is None else value.single
        if value is None or single == "dynamic":
            return "missing" if value is None else "dynamic"
        number = _number(single)
        if number is None:
            return "unknown"
        return "off" if number == 1 else "extreme" if number >= _EXTREME else "static"

    @attribute
    def scale_chosen(self) -> bool:
        """Whether an option, a parameter or an environment variable determines the loss scale."""
        value = self.call.argument("loss_scale")
        return value is not None and bool(value.known.symbol)


def _number(value: Scalar) -> float | None:
    """A number, also if it is written as a string; None for anything else."""
    if value is None or isinstance(value, bool):
        return None
    try:
        return float(value) if isinstance(value, str) else value
    except ValueError:
        return None
