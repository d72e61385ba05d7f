"""Gradient clipping: whether the gradients are scaled at that moment, and which gradients."""

from __future__ import annotations

from typing import Literal

from npulint.facts.attributes import attribute
from npulint.facts.kinds import fact_kind
from npulint.model.running.code_facts import CallFact
from npulint.model.values.cursors import CallSite, Expr
from npulint.recognizers.registry import recognizes
from npulint.recognizers.torch.backward import scale_block
from npulint.recognizers.torch.receiver_types import is_model

_CLIPS = ("clip_grad_norm_", "clip_grad_norm", "clip_grad_value_")
_UNKNOWN = "unknown"


@recognizes(*(f"torch.nn.utils.{name}" for name in _CLIPS))
@fact_kind("grad_clip")
class GradientClip(CallFact):
    """Gradients are clipped; the name is the function that clips them."""

    @attribute
    def scaled(self) -> Literal["inside", "scaler", "unscaled", "no"]:
        """The state of the gradients when they are clipped: inside the block of apex (still scaled), scaled by a scaler
        and not unscaled, explicitly unscaled, or never scaled."""
        if scale_block(self.call.scope) is not None:
            return "inside"
        before = [call for call in self.call.scope.routine.calls if call.line < self.call.line]
        if any(call.name.endswith(".unscale_") for call in before):
            return "unscaled"
        scaled = (call for call in before if call.name.endswith("scale().backward"))
        return "scaler" if any(self.call.scope.is_inside(call.scope) for call in scaled) else "no"

    @attribute
    def params(self) -> Literal["master", "model", "unknown"]:
        """Whose gradients are clipped: those of apex's master parameters, or of the model."""
        value = self.call.argument("parameters", 0)
        if value is not None and value.name.endswith("master_params()"):
            return "master"
        source = None if value is None else value.call
        return (
            "model" if source is not None and source.last == "parameters" and is_model(source.receiver) else "unknown"
        )

    @attribute
    def scaler(self) -> str:
        """The scaler that steps the optimizer afterwards, as written, or unknown."""
        return _stepped(self.call)[0]

    @attribute
    def optimizer(self) -> str:
        """The optimizer whose gradients are clipped, as written if certain: that of apex's master_params or scale_loss,
        or the one that a scaler steps next."""
        value = self.call.argument("parameters", 0)
        source = None if value is None else value.call
        if source is not None and source.last == "master_params":
            return _written(source.argument("optimizer", 0))
        around = self.call.scope.routine.calls
        scaled = {_written(call.argument("optimizers", 1)) for call in around if call.last == "scale_loss"}
        if scaled:
            return scaled.pop() if len(scaled) == 1 else _UNKNOWN
        return _stepped(self.call)[1]


def _stepped(clip: CallSite) -> tuple[str, str]:
    """The scaler, and the optimizer that it steps after the clipping, as written; unknown if there are several, or if
    other gradients were clipped since the last step."""
    clipped_before = 0
    steps: list[tuple[str, str]] = []
    for call in sorted(clip.scope.routine.calls, key=lambda call: call.line):
        if call.line < clip.line:
            clipped_before = (
                0 if call.last in ("step", "backward") else clipped_before + call.last.startswith("clip_grad_")
            )
        elif call.last == "backward" and call.line > clip.line:
            break
        elif call.last == "step" and call.args:
            steps.append((_written(call.receiver), _written(call.args[0])))
    if clipped_before or len(set(steps)) != 1 or "scaler" not in steps[0][0].lower():
        return _UNKNOWN, _UNKNOWN
    return (_UNKNOWN, _UNKNOWN) if _UNKNOWN in steps[0] else steps[0]


def _written(value: Expr | None) -> str:
    return (value.written if value is not None else "") or _UNKNOWN
