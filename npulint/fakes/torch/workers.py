"""Processes that the program of a trial starts (``torchrun``, ``mp.spawn``, ``mp.Process``): they take part in it."""

from __future__ import annotations

import functools
import importlib
import multiprocessing.process
import os
from collections.abc import Callable
from typing import Any

from npulint.fakes.orders import DEVICES
from npulint.live.torch import device


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
