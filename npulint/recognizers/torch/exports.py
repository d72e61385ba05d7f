"""Models that are traced for another format, and the device of their parameters then."""

from __future__ import annotations

from typing import Literal

from npulint.facts.attributes import attribute
from npulint.facts.kinds import fact_kind
from npulint.model.running.code_facts import CallFact
from npulint.model.values.cursors import Expr
from npulint.recognizers.registry import recognizes

_MOVES = frozenset(("cuda", "npu", "to"))


@recognizes("torch.onnx.export", "torch.export.export", "torch.export.export_for_training")
@fact_kind("export")
class ModelExport(CallFact):
    """A model is traced for another format; the name is the tracing function."""

    @attribute
    def model(self) -> Literal["device", "host", "unknown"]:
        """The device of the model's parameters: ``device`` if the function moves the model there, ``host`` if it
        creates the model and does not move it."""
        value = self.call.argument("model", 0) or self.call.argument("mod", 0)
        if value is None:
            return "unknown"
        if _is_on_device(value):
            return "device"
        if not value.written:
            return "unknown"
        routine = self.call.scope.routine
        for other in reversed([call for call in routine.calls if call.line < self.call.line]):
            receiver = other.receiver if other.last in (*_MOVES, "cpu") else None
            if receiver is not None and receiver.value == value.value:
                return "device" if _is_on_device(other.result) else "host"
        assigned = [
            assignment
            for assignment in routine.assignments
            if assignment.target == value.written and assignment.scope.routine is routine
        ]
        if any(_is_on_device(assignment.value) for assignment in assigned):
            return "device"
        return "host" if assigned and all(assignment.value.call is not None for assignment in assigned) else "unknown"


def _is_on_device(value: Expr) -> bool:
    """Whether an expression moves a model to a device: ``Net().npu()``, ``build().to(device).eval()``."""
    call = value.call
    while call is not None and call.last not in (*_MOVES, "cpu"):
        call = None if call.receiver is None else call.receiver.call
    if call is None or call.last != "to":
        return call is not None and call.last != "cpu"
    device = call.argument("device", 0)
    return device is not None and device.single != "cpu"
