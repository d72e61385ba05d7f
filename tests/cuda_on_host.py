"""Runs before the original of a GPU program: CUDA names are stood in for by the CPU, process groups by gloo."""

from __future__ import annotations

import os
import sys
from typing import Any

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import torch.distributed
from torch_stand_in import Host, stand_in

_START = torch.distributed.init_process_group


def _with_gloo(*args: Any, **options: Any) -> None:
    _START("gloo", **{name: value for name, value in options.items() if name != "backend"})


stand_in()
torch.distributed.init_process_group = _with_gloo
Host().__enter__()
