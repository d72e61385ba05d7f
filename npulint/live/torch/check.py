"""A dry run of one training step on the fake NPU."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch

from npulint.live.judge import declared_torch, judged
from npulint.live.result import LiveResult
from npulint.live.sources import is_own
from npulint.live.torch.recording import AUTO, METHODS, record
from npulint.live.torch.session import begin, end
from npulint.live.torch.step import TrainingStep


def check_torch(
    model: torch.nn.Module | None = None,
    example_inputs: Any = None,
    *,
    train: bool = True,
    loss: Callable[..., Any] | None = None,
    targets: Any = None,
    optimizer: Any = None,
    step: Callable[..., Any] | None = None,
    autocast: str = "",
    method: str = AUTO,
    name: str = "",
    target: Mapping[str, str] | None = None,
    lang: str = "",
    root: str = "",
    select: Sequence[str] = (),
    ignore: Sequence[str] = (),
) -> LiveResult:
    """The result of one step of `model` on `example_inputs`, run on the CPU as if on an NPU.

    A tuple of inputs holds positional arguments, a mapping keyword arguments; they may contain nested structures of
    tensors. With `train` the step has a loss and a backward pass, else the model is evaluated without gradients. `loss`
    is called with the output, and with `targets` if passed; the default is the model's own loss (``.loss``,
    ``["loss"]``, a first scalar), else the sum of its outputs. `optimizer`, or a list of them, steps at the end. `step`
    replaces all of that; it is called with `example_inputs`, if any, after moving what it references (modules,
    optimizers, tensors) to the device. `autocast` is ``float16`` or ``bfloat16``.

    `method` ``imaginary`` uses the fake NPU, ``dispatch`` ordinary tensors with less detail, ``auto`` the first that
    works. The fake NPU occupies the PrivateUse1 backend under the name ``npu`` until the process ends. Afterwards the
    model, its gradients and buffers, the optimizer and all random generators are as before.

    `target` are declared versions (``{"torch": "2.7", "soc": "910B"}``); the default PyTorch version is that of the
    project's requirements, else the installed one. `lang`, `root`, `select` and `ignore` are as in `check_tensorflow`.

    Raises `npulint.live.torch.session.LiveError` when the check is not possible (torch_npu is loaded, the model is on
    several devices), `npulint.core.errors.ConfigError` for invalid options, `ValueError` for an unknown `method` or
    `autocast`, and what the user's code raises.
    """
    if method not in METHODS:
        raise ValueError(f"method: {method!r} is not one of {', '.join(METHODS)}")
    if autocast not in ("", "float16", "bfloat16"):
        raise ValueError(f"autocast: {autocast!r} is neither float16 nor bfloat16")
    release = release_for(caller(), root, target)
    language = "zh" if lang == "zh" else "en"
    training_step = TrainingStep(model, example_inputs, train, loss, targets, optimizer, step, autocast)
    begin(language)
    try:
        recorded = record(training_step, release, method, language)
    finally:
        end()
    return judged(
        recorded.graph,
        name=name or name_of(step if model is None else model),
        target={**(target or {}), "torch": release},
        lang=lang,
        root=root,
        select=select,
        ignore=ignore,
        notes=recorded.notes,
        course=recorded.course,
    )


def release_for(near: str, root: str, target: Mapping[str, str] | None) -> str:
    """The PyTorch version that code at the path `near` is checked for."""
    declared = (target or {}).get("torch", "")
    return declared or declared_torch(near, root, target) or torch.__version__.partition("+")[0]


def caller() -> str:
    """The file of the calling user code, or the working directory."""
    frame = sys._getframe(1)
    while frame is not None:
        if is_own(frame.f_code.co_filename) and os.path.isfile(frame.f_code.co_filename):
            return frame.f_code.co_filename
        if frame.f_back is None:
            break
        frame = frame.f_back
    return os.getcwd()


def name_of(thing: Any) -> str:
    """The display name of a model or function."""
    return str(getattr(thing, "__qualname__", "") or type(thing).__name__)
