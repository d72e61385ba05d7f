"""Which tensors of a loop on the CPU would be on the device: there every tensor is on the host, but training moves only
some, and the host waits only for these."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch.utils.weak import WeakIdKeyDictionary

from npulint.live.torch.kernels import tensors_in

_Tensor: Any = torch.Tensor
_MOVING = ("to", "cuda")
_FETCHING = ("cpu", "numpy", "tolist")


class DeviceValues:
    """Context manager, not twice at a time, that marks what is moved to a device (``x.to(device)``, ``x.cuda()``), and
    takes the mark from what is fetched (``x.cpu()``). Parameters are on the device, and so is what is computed from
    such values. `refuse` is called where a value that is surely on the device is passed to numpy."""

    def __init__(self, refuse: Callable[[], object] = lambda: None) -> None:
        self._marked: Any = WeakIdKeyDictionary()  # whether surely: it is computed from parameters, and nowhere moved
        self._refuse = refuse
        self._depth = 0

    def __enter__(self) -> DeviceValues:
        self._depth += 1
        if self._depth == 1:
            for name in _MOVING:
                self._cover(name, self._moved)
            for name in _FETCHING:
                self._cover(name, self._fetched)
        return self

    def __exit__(self, *raised: object) -> None:
        self._depth -= 1
        if not self._depth:
            for name in (*_MOVING, *_FETCHING):
                delattr(_Tensor, name)  # uncovers the inherited method

    def computed(self, out: Any, args: Iterable[Any]) -> None:
        """Note an operator with its results."""
        values = [one for one in tensors_in(args) if self.holds(one)]
        if values:
            surely = any(map(self._surely, values))
            for one in tensors_in(out if isinstance(out, (list, tuple)) else (out,)):
                self._marked[one] = surely

    def _surely(self, tensor: torch.Tensor) -> bool:
        return isinstance(tensor, torch.nn.Parameter) or self._marked.get(tensor, False) is True

    def holds(self, tensor: torch.Tensor) -> bool:
        """Whether a tensor would be on the device."""
        return isinstance(tensor, torch.nn.Parameter) or tensor in self._marked

    def _cover(self, name: str, note: Callable[..., None]) -> None:
        """Let a method of tensors report its calls."""
        original = getattr(_Tensor, name)

        @functools.wraps(original)
        def called(tensor: Any, *args: Any, **kwargs: Any) -> Any:
            out = original(tensor, *args, **kwargs)
            note(name, tensor, out, args, kwargs)
            return out

        setattr(_Tensor, name, called)

    def _moved(self, name: str, tensor: Any, out: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        devices = (*args, kwargs.get("device"))
        if name == "cuda" or any(isinstance(device, (str, torch.device)) for device in devices):
            self._marked[out] = False  # on a CPU ``to`` may move to the device or back

    def _fetched(self, name: str, tensor: Any, out: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        if name == "numpy" and self.holds(tensor) and self._surely(tensor) and not kwargs.get("force"):
            self._refuse()
        for one in (tensor, out):
            if isinstance(one, torch.Tensor):
                self._marked.pop(one, None)
