"""Reports the parameters after each step of an optimizer, so that two runs of a program can be compared."""

from __future__ import annotations

import hashlib
import os
import random
import sys
import time
from collections.abc import Callable
from typing import Any

import torch

from npulint.fakes.torch.digest_lines import VARIABLE, Digest


def report(read: Callable[[torch.Tensor], torch.Tensor], after: Callable[[int], None] = lambda steps: None) -> None:
    """Seed the generators, and print a digest after each step of an optimizer from now on, if the variable is set.
    `read` is the host's copy of a tensor; `after` gets the number of steps so far."""
    seed = os.environ.get(VARIABLE)
    if not seed:
        return
    from torch.optim import optimizer

    _seeded(int(seed))
    steps = 0

    def stepped(one: Any, args: Any, kwargs: Any) -> None:
        nonlocal steps
        steps += 1
        found = hashlib.sha256()
        total = 0.0
        for group in one.param_groups:
            for parameter in group["params"]:
                held = read(parameter.detach()).contiguous()
                found.update(held.reshape(-1).view(torch.uint8).numpy().tobytes())
                total += float(torch.view_as_real(held).double().sum() if held.is_complex() else held.double().sum())
        print(Digest(steps, found.hexdigest()[:16], total, time.time()).line(), file=sys.__stderr__, flush=True)
        after(steps)

    register: Any = getattr(optimizer, "register_optimizer_step_post_hook")  # noqa: B009  not in every release
    register(stepped)


def _seeded(seed: int) -> None:
    random.seed(seed)
    torch.manual_seed(seed)
    try:
        import numpy
    except ImportError:
        return
    numpy.random.seed(seed)
