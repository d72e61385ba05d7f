"""How a process joins the trial that it belongs to."""

from __future__ import annotations

import atexit
import importlib
import os
import sys
from types import TracebackType
from typing import Any

from npulint.fakes.orders import RECORD


def join() -> None:
    """Let this process take part in the trial that it belongs to, if any: called when it has imported PyTorch."""
    record = os.environ.get(RECORD, "")
    if not record or not os.path.isdir(record):
        return
    from npulint.fakes.torch import standing, trial  # it imports PyTorch, which may just be importing the fake

    order = trial.read_order(record)
    found = trial.Trial(standing.Standing(record), order)
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
