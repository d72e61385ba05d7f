"""``torch.npu.amp``: automatic mixed precision under the names of torch_npu."""

from __future__ import annotations

import functools
from typing import Any

import torch

from npulint.fakes.torch import recording
from npulint.live.torch import device

_Autocast: Any = torch.amp.autocast_mode.autocast
_Scaler: Any = torch.amp.GradScaler


class autocast(_Autocast):
    """As ``torch.autocast("npu")``."""

    def __init__(self, enabled: bool = True, dtype: torch.dtype = torch.float16, cache_enabled: bool = True) -> None:
        recording.add("autocasts", dtype=str(dtype), enabled=enabled)
        super().__init__(device.NAME, enabled=enabled, dtype=dtype, cache_enabled=cache_enabled)


class GradScaler(_Scaler):
    """The scaler of torch_npu: `dynamic` stands before `enabled`."""

    def __init__(
        self,
        init_scale: float = 2.0**16,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        dynamic: bool = True,
        enabled: bool = True,
    ) -> None:
        if not isinstance(init_scale, (int, float)):
            raise TypeError(f"init_scale is a number, not {init_scale!r}")
        self.recorded = recording.add("scalers", init_scale=init_scale, dynamic=dynamic, enabled=enabled, steps=0)
        growth = (growth_factor, backoff_factor) if dynamic else (1.0 + 1e-12, 1.0 - 1e-12)
        super().__init__(device.NAME, init_scale, *growth, growth_interval, enabled)

    def step(self, optimizer: Any, *args: Any, **kwargs: Any) -> Any:
        """One step, counted."""
        self.recorded["steps"] += 1
        return super().step(optimizer, *args, **kwargs)


custom_fwd = functools.partial(torch.amp.custom_fwd, device_type=device.NAME)
custom_bwd = functools.partial(torch.amp.custom_bwd, device_type=device.NAME)
MEMBERS = {"autocast": autocast, "GradScaler": GradScaler, "custom_fwd": custom_fwd, "custom_bwd": custom_bwd}
