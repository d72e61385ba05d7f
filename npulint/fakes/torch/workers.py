"""Processes that the program of a trial starts (``torchrun``, ``mp.spawn``, ``mp.Process``): they take part in it."""

from __future__ import annotations

import atexit
import functools
import importlib
import multiprocessing.process
import os
import sys
from collections.abc import Callable
from types import TracebackType
from typing import Any

from npulint.fakes.orders import DEVICES, RECORD
from npulint.live.torch import device


def join() -> None:
    """Let this process take part in the trial that it belongs to, if any: called when it has imported PyTorch."""
    record = os.environ.get(RECORD, "")
    if not record or not os.path.isdir(record):
        return
    trial: Any = importlib.import_module("npulint.fakes.torch.trial")
    order = trial.read_order(record)
    found = trial.Trial(trial.Standing(record), order)
    if order.transfer:
        importlib.import_module("torch_npu.contrib.transfer_to_npu")
    if order.synthetic:
        importlib.import_module("npulint.fakes.torch.synthetic.install").install()
    found.begin()
    found.follow(sys._getframe())
    _end_with(found)


def _end_with(trial: Any) -> None:
    """Write at the end of the process, however it ends."""
    original = sys.excepthook

    def raised(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        if not issubclass(kind, KeyboardInterrupt):
            trial.stopped(error)
            trial.standing.hold()
        else:
            original(kind, error, trace)

    sys.excepthook = raised
    atexit.register(trial.write, "end")


def watch_started(trial: Any) -> None:
    """Let the processes that Python's own module starts from here write at their ends."""
    process: Any = multiprocessing.process.BaseProcess
    started = process._bootstrap

    @functools.wraps(started)
    def bootstrap(self: Any, *args: Any, **kwargs: Any) -> Any:
        self.run = _written(self.run, trial)
        return started(self, *args, **kwargs)

    process._bootstrap = bootstrap
    spawn: Any = importlib.import_module("torch.multiprocessing.spawn")
    wrapped = spawn._wrap

    @functools.wraps(wrapped)
    def wrap(fn: Callable[..., Any], *args: Any) -> Any:
        return wrapped(_written(fn, trial), *args)

    spawn._wrap = wrap
    spawn.start_processes = _with_devices(spawn.start_processes)
    vars(importlib.import_module("torch.multiprocessing"))["start_processes"] = spawn.start_processes


def _with_devices(start: Callable[..., Any]) -> Callable[..., Any]:
    """Start processes that find a device each."""

    @functools.wraps(start)
    def started(fn: Any, args: Any = (), nprocs: int = 1, *more: Any, **named: Any) -> Any:
        os.environ[DEVICES] = str(max(device.numbers.count, nprocs))
        return start(fn, args, nprocs, *more, **named)

    return started


def _written(work: Callable[..., Any], trial: Any) -> Callable[..., Any]:
    """Work of a process, with how it ended written."""

    def run(*args: Any, **kwargs: Any) -> Any:
        try:
            done = work(*args, **kwargs)
        except SystemExit as error:
            trial.write("end" if error.code in (None, 0) else "exit")
            raise
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            trial.stopped(error)
            trial.standing.hold()
            raise
        trial.write("end")
        return done

    return run
