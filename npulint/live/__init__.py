"""Live checks of a model, function or graph in the user's own process. No framework is imported before one of these is
called, and none is needed to import this package."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from npulint.live.result import LiveResult, NotReadyError
    from npulint.live.tensorflow.check import check_tensorflow
    from npulint.live.torch.check import check_torch
    from npulint.live.torch.watch import watch_torch

_HOMES = {
    "LiveResult": "npulint.live.result",
    "NotReadyError": "npulint.live.result",
    "check_tensorflow": "npulint.live.tensorflow.check",
    "check_torch": "npulint.live.torch.check",
    "watch_torch": "npulint.live.torch.watch",
}

__all__ = ["LiveResult", "NotReadyError", "check_tensorflow", "check_torch", "watch_torch"]


def __getattr__(name: str) -> Any:
    """The public name from the module that defines it, imported on first use."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
