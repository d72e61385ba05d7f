"""Global state during recording: one recording per process, gradients in one thread, generators restored."""

from __future__ import annotations

import random
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch

from npulint.core.texts import say

# Errors of PyTorch live checks.


class LiveError(RuntimeError):
    """A live check that is not possible; the text says why and what to do."""

    def __init__(self, reason: str, lang: str = "en", **values: object) -> None:
        super().__init__(say(lang, f"recording.{reason}", **values))
        self.reason = reason
        self.values = values


class FakeNpuError(RuntimeError):
    """An operation that the fake NPU does not support, or no NPU would."""

    def __init__(self, reason: str, op: str) -> None:
        super().__init__(f"{op}: {reason}")
        self.reason = reason
        self.op = op


_lock = threading.Lock()


def begin(lang: str) -> None:
    """Start a recording; raises `LiveError` if another one runs in any thread."""
    if not _lock.acquire(blocking=False):
        raise LiveError("busy", lang)


def end() -> None:
    """End the recording."""
    _lock.release()


@contextmanager
def unchanged() -> Iterator[None]:
    """Context manager that restores random generators, gradient mode and autograd threading."""
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
    """Context manager in which compiled functions run uncompiled."""
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
    """A replacement for the callback that passes frames to the compiler."""
