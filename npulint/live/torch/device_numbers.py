"""The numbers of the fake NPUs: which of them a tensor is on.

PyTorch lets Python make tensors of the device number 0 only. Those of another number are copies of an empty tensor that
DLPack made."""

from __future__ import annotations

import ctypes
from collections.abc import Iterable
from typing import Any

import torch

from npulint.live.torch.errors import FakeNpuError

_C: Any = torch._C
_EXTENSION = 12  # the device type of PrivateUse1 in DLPack
_FLOAT, _BITS = 2, 32
_NAME = b"dltensor"


class Numbers:
    """The devices of a process: their `count`, the `current` one, and the one that new tensors are put on (`here`)."""

    def __init__(self, name: str) -> None:
        self._name = name
        self.count = 1
        self.current = 0
        self.here: Any = None
        self.refused = ""  # why this process may not use the devices
        self._templates: dict[tuple[int, torch.dtype], torch.Tensor] = {}
        self._native: Any = _C.DispatchKeySet(_C.DispatchKey.CPU)

    @property
    def watched(self) -> bool:
        """Whether the devices of operators matter."""
        return self.count > 1 or bool(self.refused)

    def choose(self, device: torch.device) -> None:
        """Make a device the current one."""
        if device.index is not None:
            self.current = device.index
            self.here = torch.device(self._name, device.index)

    def empty(self, dtype: torch.dtype) -> torch.Tensor:
        """An empty tensor on the device `here`."""
        index = self.here.index
        if not index:
            made: torch.Tensor = _C._acc.create_empty_tensor([0], dtype)
            return made
        found = self._templates.get((index, dtype))
        if found is None:
            found = self._templates[index, dtype] = self._template(index, dtype)
        copied: torch.Tensor = _alias.redispatch(self._native, found)
        return copied

    def of_call(self, args: tuple[Any, ...], kwargs: dict[str, Any], mixing: bool, op: str) -> torch.device:
        """The device of an operator: the one it names, otherwise that of its tensors, otherwise the current one.
        Raises `FakeNpuError` for tensors of several devices, and `RuntimeError` in a process that may not use them."""
        if self.refused:
            raise RuntimeError(self.refused)
        found: Any = None
        for one in _on(self._name, (*args, *kwargs.values())):
            if found is None:
                found = one.device
            elif one.device != found and not mixing:
                raise FakeNpuError("mixed", op)
        named = kwargs.get("device")
        if named is not None and named.type == self._name:
            found = named if named.index is not None else None
        return found if found is not None else torch.device(self._name, self.current)

    def _template(self, index: int, dtype: torch.dtype) -> torch.Tensor:
        with torch.inference_mode(False):
            made = _from_dlpack(index)
            return made if dtype is torch.float32 else _view.redispatch(self._native, made, dtype)


_alias: Any = torch.ops.aten.alias.default
_view: Any = torch.ops.aten.view.dtype


def _on(name: str, values: Iterable[Any]) -> Iterable[torch.Tensor]:
    for value in values:
        if isinstance(value, torch.Tensor):
            if value.device.type == name:
                yield value
        elif isinstance(value, (list, tuple)):
            yield from _on(name, value)


class _Device(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int32), ("index", ctypes.c_int32)]


class _DataType(ctypes.Structure):
    _fields_ = [("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16)]


class _Tensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device", _Device),
        ("dimensions", ctypes.c_int32),
        ("dtype", _DataType),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("offset", ctypes.c_uint64),
    ]


class _Managed(ctypes.Structure):
    _fields_ = [("tensor", _Tensor), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]


_kept: list[Any] = []  # DLPack refers to this memory


def _from_dlpack(index: int) -> torch.Tensor:
    """An empty float32 tensor on a device."""
    shape, strides = (ctypes.c_int64 * 1)(0), (ctypes.c_int64 * 1)(1)
    tensor = _Tensor(0, _Device(_EXTENSION, index), 1, _DataType(_FLOAT, _BITS, 1), shape, strides, 0)
    managed = _Managed(tensor, 0, 0)
    _kept.append((managed, shape, strides))
    capsule: Any = ctypes.pythonapi.PyCapsule_New
    capsule.restype, capsule.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    made: torch.Tensor = _C._from_dlpack(capsule(ctypes.addressof(managed), _NAME, None))
    return made
