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
    """What the NPU would make of one step of `model` on `example_inputs`, run for real on the CPU.

    A tuple of inputs holds positional arguments, a mapping those by name; they may hold any records of tensors. With
    `train` the step has a loss and a backward pass, else the model is evaluated without gradients. `loss` is called
    with the output, and with `targets` if they are given; without it the model's own loss counts (``.loss``,
    ``["loss"]``, a first scalar), else the sum of its outputs. `optimizer`, or a list of them, makes its step at the
    end. `step` is a function that does all of that itself, called with `example_inputs` if there are any; what its
    names lead to (modules, optimizers, tensors) is moved to the device for it. `autocast` is ``float16`` or
    ``bfloat16``.

    `method` ``imaginary`` runs on an imaginary NPU, ``dispatch`` on ordinary tensors with less to be seen, ``auto`` on
    the first that works. The imaginary NPU takes the PrivateUse1 backend of this process under the name ``npu``, for as
    long as the process lives. Afterwards the model, its gradients and buffers, the optimizer and all random generators
    are as before.

    `target` are declared releases (``{"torch": "2.7", "soc": "910B"}``); without one the project's requirements tell
    the release of PyTorch, else the one that runs. `lang`, `root`, `select` and `ignore` are as in `check_tensorflow`.

    Raises `npulint.live.torch.errors.LiveError` when the check cannot be made (torch_npu is loaded, the model is spread
    over devices), `npulint.errors.ConfigError` for options that cannot be used, `ValueError` for words that are none of
    those above, and what the user's own code raises.
    """
    if method not in METHODS:
        raise ValueError(f"method: {method!r} is not one of {', '.join(METHODS)}")
    if autocast not in ("", "float16", "bfloat16"):
        raise ValueError(f"autocast: {autocast!r} is neither float16 nor bfloat16")
    release = release_for(caller(), root, target)
    spoken = "zh" if lang == "zh" else "en"
    wanted = TrainingStep(model, example_inputs, train, loss, targets, optimizer, step, autocast)
    begin(spoken)
    try:
        recorded = record(wanted, release, method, spoken)
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
