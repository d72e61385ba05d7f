"""Reports the parameters after each step of an optimizer, so that two runs of a program can be compared."""

from __future__ import annotations

import functools
import hashlib
import math
import os
import random
import sys
import time
from collections.abc import Callable
from typing import Any

import msgspec
import torch

# The lines by which two runs of a program are compared: the parameters after each step of an optimizer.

VARIABLE = "NPULINT_TRIAL_DIGESTS"
"""The seed of the generators in a program that says nothing about seeds; without it nothing is reported."""
_WORD = "npulint-digest"


class Digest(msgspec.Struct, frozen=True):
    """The `parameters` after a step as a digest, their sum and the time, and the `loss` of the first backward pass
    since the step before."""

    step: int
    parameters: str
    total: float
    time: float
    loss: float

    def line(self) -> str:
        """As it is printed."""
        return f"{_WORD} {self.step} {self.parameters} {self.total!r} {self.time:.3f} {self.loss!r}"


def digests_in(text: str) -> list[Digest]:
    """The digests in what a program printed."""
    digests = []
    for line in text.replace("\r", "\n").split("\n"):
        _, word, rest = line.partition(f"{_WORD} ")
        if word:
            step, parameters, total, when, loss = rest.split()[:5]
            digests.append(Digest(int(step), parameters, float(total), float(when), float(loss)))
    return digests


def report(read: Callable[[torch.Tensor], torch.Tensor], after: Callable[[int], None] = lambda steps: None) -> None:
    """Seed the generators, let samplers take the samples as they are stored, and print a digest after each step of an
    optimizer from now on, if the variable is set. `read` is the host's copy of a tensor; `after` gets the number of
    steps so far."""
    seed = os.environ.get(VARIABLE)
    if not seed:
        return
    from torch.optim import optimizer

    _seeded(int(seed))
    _ordered()
    losses = _Losses(read)
    steps = 0

    def stepped(stepping: Any, args: Any, kwargs: Any) -> None:
        nonlocal steps
        steps += 1
        digest = hashlib.sha256()
        total = 0.0
        for group in stepping.param_groups:
            for parameter in group["params"]:
                held = read(parameter.detach()).contiguous()
                digest.update(held.reshape(-1).view(torch.uint8).numpy().tobytes())
                total += float(torch.view_as_real(held).double().sum() if held.is_complex() else held.double().sum())
        print(
            Digest(steps, digest.hexdigest()[:16], total, time.time(), losses.taken()).line(),
            file=sys.__stderr__,
            flush=True,
        )
        after(steps)

    register: Any = getattr(optimizer, "register_optimizer_step_post_hook")  # noqa: B009  not in every release
    register(stepped)


class _Losses:
    """Notes the value that each backward pass begins with, as it was before a gradient scaler multiplied it."""

    def __init__(self, read: Callable[[torch.Tensor], torch.Tensor]) -> None:
        self._first = math.nan
        self._read = read
        self._is_scaled = False
        backward: Any = torch.Tensor.backward
        scale: Any = torch.amp.GradScaler.scale

        @functools.wraps(backward)
        def begins(tensor: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
            if not self._is_scaled:
                self._note(tensor)
            self._is_scaled = False
            return backward(tensor, *args, **kwargs)

        @functools.wraps(scale)
        def scaled(scaler: Any, outputs: Any) -> Any:
            if isinstance(outputs, torch.Tensor):
                self._note(outputs)
                self._is_scaled = True
            return scale(scaler, outputs)

        for owner, name, function in ((torch.Tensor, "backward", begins), (torch.amp.GradScaler, "scale", scaled)):
            setattr(owner, name, function)

    def taken(self) -> float:
        """The first value since the last call; not a number if there was none."""
        first, self._first = self._first, math.nan
        return first

    def _note(self, tensor: torch.Tensor) -> None:
        if tensor.numel() == 1 and math.isnan(self._first):
            self._first = float(self._read(tensor.detach()))


def _seeded(seed: int) -> None:
    random.seed(seed)
    torch.manual_seed(seed)
    try:
        import numpy
    except ImportError:
        return
    numpy.random.seed(seed)


def _ordered() -> None:
    """Let samplers give the samples in the order in which they are stored: a program that was ported to several ranks
    shuffles with another sampler, and so in another order."""
    data: Any = torch.utils.data
    shuffle = data.DistributedSampler.__iter__

    def stored(sampler: Any) -> Any:
        return (number % len(sampler.data_source) for number in range(sampler.num_samples))

    def of_ranks(sampler: Any) -> Any:
        return iter(range(len(sampler.dataset))) if sampler.num_replicas == 1 else shuffle(sampler)

    data.RandomSampler.__iter__, data.DistributedSampler.__iter__ = stored, of_ranks
