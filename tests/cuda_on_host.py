"""Runs before the original of a GPU program: CUDA names are stood in for by the CPU, process groups by gloo."""

from __future__ import annotations

import contextlib
import os
import sys
import types
from collections.abc import Iterator
from typing import Any

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import torch.distributed
from torch_stand_in import Host, stand_in  # type: ignore[import-not-found]

_START = torch.distributed.init_process_group


def _with_gloo(*args: Any, **options: Any) -> None:
    _START("gloo", **{name: value for name, value in options.items() if name != "backend"})


class _OneProcess(torch.nn.parallel.DistributedDataParallel):
    def __init__(self, module: torch.nn.Module, device_ids: Any = None, **options: Any) -> None:
        super().__init__(module, **{name: value for name, value in options.items() if name != "output_device"})


class _Amp(types.ModuleType):
    """apex.amp, which leaves the numbers alone."""

    @staticmethod
    def initialize(model: Any, optimizers: Any, **options: Any) -> Any:
        return model, optimizers

    @staticmethod
    @contextlib.contextmanager
    def scale_loss(loss: Any, optimizers: Any) -> Iterator[Any]:
        yield loss


apex = types.ModuleType("apex")
vars(apex)["amp"] = _Amp("apex.amp")
sys.modules |= {"apex": apex, "apex.amp": vars(apex)["amp"]}
stand_in()
torch.nn.parallel.DistributedDataParallel = _OneProcess  # type: ignore[misc,assignment]
torch.distributed.init_process_group = _with_gloo
Host().__enter__()
