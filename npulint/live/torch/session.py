"""What must hold while a step is recorded: one in a process, one thread for gradients, generators put back."""

from __future__ import annotations

import random
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch

from npulint.live.torch.errors import LiveError

_lock = threading.Lock()


def begin(lang: str) -> None:
    """Raises `LiveError` while another recording runs, in whichever thread."""
    if not _lock.acquire(blocking=False):
        raise LiveError("busy", lang)


def end() -> None:
    """Another recording may begin."""
    _lock.release()


@contextmanager
def unchanged() -> Iterator[None]:
    """Random generators, the mode of gradients and the way of the autograd engine are as before afterwards."""
    cuda: Any = torch.cuda
    states: list[tuple[Any, Any]] = [(random.setstate, random.getstate()), (torch.set_rng_state, torch.get_rng_state())]
    numpy: Any = sys.modules.get("numpy")
    if numpy is not None:
        states.append((numpy.random.set_state, numpy.random.get_state()))
    if cuda.is_available() and cuda.is_initialized():
        states.append((cuda.set_rng_state_all, cuda.get_rng_state_all()))
    inner: Any = torch._C
    threads = inner._is_multithreading_enabled()
    graded = torch.is_grad_enabled()
    inner._set_multithreading_enabled(False)
    try:
        with eager():
            yield
    finally:
        inner._set_multithreading_enabled(threads)
        torch.set_grad_enabled(graded)
        for put, state in states:
            put(state)


@contextmanager
def eager() -> Iterator[None]:
    """Compiled functions run as they are written."""
    frames: Any = sys.modules.get("torch._dynamo.eval_frame")
    compiler: Any = torch.compiler
    if frames is None:
        yield
    elif hasattr(compiler, "set_stance"):
        with compiler.set_stance("force_eager"):
            yield
    else:  # before PyTorch 2.6
        entered = frames.set_eval_frame
        frames.set_eval_frame = _uncompiled
        try:
            yield
        finally:
            frames.set_eval_frame = entered


def _uncompiled(callback: Any) -> None:
    """Takes the place of what hands frames to the compiler."""
