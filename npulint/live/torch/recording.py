"""Records a step: on the fake NPU, or on ordinary tensors with a dispatch mode."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import msgspec
import torch
import torch.utils.backend_registration

from npulint.core.texts import say
from npulint.facts.graph import Graph
from npulint.live.course import Course
from npulint.live.torch import device
from npulint.live.torch.composite import Registration
from npulint.live.torch.device_transfer import MovedObjects
from npulint.live.torch.dispatch import Watching
from npulint.live.torch.kernels import Kernels
from npulint.live.torch.recorder import Recorder
from npulint.live.torch.session import FakeNpuError, LiveError, unchanged
from npulint.live.torch.step import TrainingStep, move, run_step
from npulint.live.torch.stopped import Stop, stop_of, with_stop

FAKE_NPU, DISPATCH, AUTO = "imaginary", "dispatch", "auto"
METHODS = (AUTO, FAKE_NPU, DISPATCH)

Inspect = Callable[[Any], None]


class RecordedStep(msgspec.Struct, frozen=True):
    """A recorded step. `method` is imaginary or dispatch; `notes` say what could not be seen."""

    graph: Graph
    method: str
    notes: tuple[str, ...] = ()
    course: Course = Course()

    def noting(self, note: str) -> RecordedStep:
        """A copy with a note before the others."""
        return msgspec.structs.replace(self, notes=(note, *self.notes))


def record(
    step: TrainingStep, release: str, method: str = AUTO, lang: str = "en", inspect: Inspect | None = None
) -> RecordedStep:
    """The operators of one step as PyTorch `release` runs them. `inspect` is called with the loss (or output) before
    everything is restored. Raises `LiveError` when the step cannot be checked, and what the user's code also raises on
    ordinary tensors."""
    if step.function is None and step.model is None:
        raise LiveError("nothing", lang)
    try:
        if method == DISPATCH:
            return _on_ordinary_tensors(step, release, lang, inspect)
        if method == AUTO and device.why_not() == "old-torch":
            again = _on_ordinary_tensors(step, release, lang, inspect)
            return again.noting(say(lang, "recording.too-old", version=torch.__version__))
        try:
            device.prepare()
            return _on_fake_npu(step, release, lang, inspect)
        except _Failed as error:
            failed = error
        if method == FAKE_NPU:
            raise failed.error from None
        return _again(step, release, lang, inspect, failed)
    except LiveError as error:
        raise LiveError(error.reason, lang, **error.values) from error.__cause__


def _again(step: TrainingStep, release: str, lang: str, inspect: Inspect | None, failed: _Failed) -> RecordedStep:
    """The step that failed on the fake NPU, recorded on ordinary tensors, with where it failed. If it fails there too,
    and an NPU raises the same, what was recorded until then."""
    note = failed.message(lang)
    try:
        again = _on_ordinary_tensors(step, release, lang, inspect)
    except Exception:  # the user's own errors propagate
        if failed.stop.reason is None:
            raise
        until = say(lang, "recording.until", at=note)
        return RecordedStep(with_stop(failed.graph, failed.stop), FAKE_NPU, (until,), failed.course)
    return msgspec.structs.replace(again.noting(note), graph=with_stop(failed.added(again.graph), failed.stop))


class _Failed(Exception):
    """A step that failed on the fake NPU, with an `error` that keeps no tensors alive."""

    def __init__(self, error: Exception, kernels: Kernels) -> None:
        super().__init__(str(error))
        self.stop = stop_of(error, kernels.failed)
        self._place = _place(self.stop)
        self.error = error.with_traceback(None)
        self._kernels = kernels

    @property
    def graph(self) -> Graph:
        """What was recorded before."""
        return self._kernels.recorder.graph()

    @property
    def course(self) -> Course:
        """The order of what was recorded before."""
        return self._kernels.recorder.course()

    def message(self, lang: str) -> str:
        """The reason for the user."""
        error, op = self.error, self._kernels.failed
        reason = error.reason if isinstance(error, FakeNpuError) else self._kernels.reason or "other"
        text = str(error).strip().split("\n", 1)[0][:200]
        why = say(lang, f"recording.why.{reason}", text=f"{type(error).__name__}: {text}")
        at = say(lang, "list.and").join(part for part in (f"`{op}`" if op else "", self._place) if part)
        return say(lang, "recording.fell-back", at=at or type(error).__name__, why=why)

    def added(self, graph: Graph) -> Graph:
        """The graph with the operator that failed, if no device has a kernel for it."""
        if not isinstance(self.error, NotImplementedError):
            return graph
        lost = [node for node in self._kernels.recorder.graph().bodies[0].nodes if node.op == self._kernels.failed]
        body = graph.bodies[0]
        recorded = {(node.op, node.frames) for node in body.nodes}
        more = [
            msgspec.structs.replace(node, name=f"{node.name}_")
            for node in lost
            if (node.op, node.frames) not in recorded
        ]
        return msgspec.structs.replace(graph, bodies=[msgspec.structs.replace(body, nodes=[*body.nodes, *more])])


def _on_fake_npu(step: TrainingStep, release: str, lang: str, inspect: Inspect | None) -> RecordedStep:
    recorder = Recorder()
    kernels = Kernels(recorder)
    recorder.paused = 1
    with unchanged():
        moved = MovedObjects(_to_fake_npu)
        device.activate(True)
        device.follow(recorder.ledger)
        registered = None
        try:
            registered = Registration(kernels, release)
            try:
                with recorder.ledger.following():
                    inputs, targets = move(step, moved)
                    moved.note_parameters(recorder.ledger.is_parameter)
                    recorder.paused = 0
                    out = run_step(step, inputs, targets, device.NAME)
                    recorder.ledger.classify()
            except LiveError:
                raise
            except Exception as error:
                raise _Failed(error, kernels) from None
            finally:
                recorder.paused = 1
            if inspect is not None:
                inspect(out)
            del out, inputs, targets
        finally:
            device.follow(None)
            device.activate(False)
            moved.back()
            if registered is not None:
                registered.end()
    return RecordedStep(recorder.graph(), FAKE_NPU, course=recorder.course())


def _on_ordinary_tensors(step: TrainingStep, release: str, lang: str, inspect: Inspect | None) -> RecordedStep:
    recorder = Recorder()
    watching = Watching(recorder, release)
    with unchanged():
        moved = MovedObjects(lambda tensor: tensor.clone())
        try:
            inputs, targets = move(step, moved)
            kind = _kind(step, inputs)
            with watching, recorder.ledger.following():
                moved.note_parameters(recorder.ledger.is_parameter)
                out = run_step(step, inputs, targets, kind)
                recorder.ledger.classify()
            if inspect is not None:
                inspect(out)
            del out
        finally:
            moved.back()
    graph, course = recorder.graph(watching.accelerated), recorder.course(watching.accelerated)
    return RecordedStep(graph, DISPATCH, (say(lang, "recording.dispatch"),), course)


def _place(stop: Stop) -> str:
    """The innermost user line of a stop."""
    return f"{os.path.basename(stop.frames[-1].path)}:{stop.frames[-1].line}" if stop.frames else ""


def _to_fake_npu(tensor: torch.Tensor) -> torch.Tensor:
    return device.to_device(tensor.to("cpu", copy=True) if tensor.device.type != device.NAME else tensor)


def _kind(step: TrainingStep, inputs: Any) -> str:
    """The device type that a step normally runs on."""
    tensors = inputs if isinstance(inputs, (list, tuple)) else [inputs]
    for tensor in (*(step.model.parameters() if step.model is not None else ()), *tensors):
        if isinstance(tensor, torch.Tensor):
            return tensor.device.type
    return "cpu"
