"""The device that this process has registered with PyTorch: its kernels and their recorder."""

from __future__ import annotations

from npulint.live.torch.composite import Registration
from npulint.live.torch.kernels import Kernels
from npulint.live.torch.recorder import Recorder

_registered: list[tuple[Registration, Kernels]] = []  # none or one; kept until the process ends


def is_registered() -> bool:
    """Whether the fake is installed in this process."""
    return bool(_registered)


def keep(registration: Registration, running: Kernels) -> None:
    """Keep the device that is registered, with all its kernels."""
    _registered.append((registration, running))


def kernels() -> Kernels:
    """The kernels of the device. Raises `IndexError` before the fake is installed."""
    return _registered[0][1]


def recorder() -> Recorder:
    """The recorder of the device, which is paused."""
    return kernels().recorder
