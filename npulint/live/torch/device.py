"""The fake NPU: a device whose tensors hold CPU data.

Such a tensor belongs to the PrivateUse1 backend and has real strides; its storage, a Python object that lives as long
as the storage itself, refers to the CPU tensor with the data. Views, ``detach``, saved tensors and everything else that
shares a storage therefore share the data.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Iterable
from importlib import import_module
from typing import Any

import torch

from npulint.live.torch.session import FakeNpuError, LiveError

# The numbers of the fake NPUs: which of them a tensor is on.

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
        template = self._templates.get((index, dtype))
        if template is None:
            template = self._templates[index, dtype] = self._template(index, dtype)
        copied: torch.Tensor = _alias.redispatch(self._native, template)
        return copied

    def of_call(self, args: tuple[Any, ...], kwargs: dict[str, Any], mixing: bool, op: str) -> torch.device:
        """The device of an operator: the one it names, otherwise that of its tensors, otherwise the current one.
        Raises `FakeNpuError` for tensors of several devices, and `RuntimeError` in a process that may not use them."""
        if self.refused:
            raise RuntimeError(self.refused)
        chosen: Any = None
        for tensor in _on(self._name, (*args, *kwargs.values())):
            if chosen is None:
                chosen = tensor.device
            elif tensor.device != chosen and not mixing:
                raise FakeNpuError("mixed", op)
        named = kwargs.get("device")
        if named is not None and named.type == self._name:
            chosen = named if named.index is not None else None
        return chosen if chosen is not None else torch.device(self._name, self.current)

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


class _device_number_Tensor(ctypes.Structure):
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
    _fields_ = [("tensor", _device_number_Tensor), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]


_kept: list[Any] = []  # DLPack refers to this memory


def _from_dlpack(index: int) -> torch.Tensor:
    """An empty float32 tensor on a device."""
    shape, strides = (ctypes.c_int64 * 1)(0), (ctypes.c_int64 * 1)(1)
    tensor = _device_number_Tensor(0, _Device(_EXTENSION, index), 1, _DataType(_FLOAT, _BITS, 1), shape, strides, 0)
    managed = _Managed(tensor, 0, 0)
    _kept.append((managed, shape, strides))
    capsule: Any = ctypes.pythonapi.PyCapsule_New
    capsule.restype, capsule.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    made: torch.Tensor = _C._from_dlpack(capsule(ctypes.addressof(managed), _NAME, None))
    return made


NAME = "npu"
FAKE = "__npulint_fake__"
"""The member by which a fake torch_npu is known from the real one."""
_Key: Any = _C.DispatchKey
_UNNAMED = "privateuseone"

_Tensor: Any = torch.Tensor
_device: Any = None
_make: Any = None
_storage_at: Any = None
_ledger: Any = None
_set: Any = torch.ops.aten.set_.source_Storage_storage_offset
_native: Any = _C.DispatchKeySet(_Key.CPU)
"""Kernels of the CPU that only handle sizes and storages do so for any device."""


class _Module:
    """A stand-in for `torch.npu` without torch_npu."""

    active = False

    def is_initialized(self) -> bool:
        return True

    def is_available(self) -> bool:
        return self.active

    def device_count(self) -> int:
        return numbers.count if self.active else 0

    def current_device(self) -> int:
        return numbers.current

    def set_device(self, device: Any) -> None:
        """Make a device the one that ``npu`` without a number means."""
        numbers.choose(torch.device(NAME, device) if isinstance(device, int) else torch.device(device))

    def synchronize(self, device: Any = None) -> None:
        """Does nothing: all work is synchronous."""

    def empty_cache(self) -> None:
        """Does nothing: nothing is cached."""

    def manual_seed_all(self, seed: int) -> None:
        """Does nothing: `torch.manual_seed` has seeded the CPU generator, which is used."""

    manual_seed = manual_seed_all

    def get_rng_state(self, device: Any = None) -> torch.Tensor:
        return torch.get_rng_state()

    def set_rng_state(self, state: torch.Tensor, device: Any = None) -> None:
        torch.set_rng_state(state)

    def get_amp_supported_dtype(self) -> list[torch.dtype]:
        return [torch.float16, torch.bfloat16]

    def is_bf16_supported(self) -> bool:
        return True

    def _is_in_bad_fork(self) -> bool:
        return False

    class device:
        """The context in which ``npu`` without a number means another device."""

        def __init__(self, device: Any = None) -> None:
            self.idx = device if isinstance(device, int) else getattr(torch.device(device or NAME), "index", None)

        def __enter__(self) -> None:
            self._before = numbers.current
            if self.idx is not None and self.idx >= 0:
                numbers.choose(torch.device(NAME, self.idx))

        def __exit__(self, *raised: object) -> None:
            numbers.current = self._before


_module = _Module()
numbers = Numbers(NAME)
"""The devices, and which of them new tensors are on."""


def why_not() -> str:
    """A key for why there can be no fake NPU in this process; empty if there can."""
    if "torch_npu" in sys.modules and not hasattr(sys.modules["torch_npu"], FAKE):
        return "real-npu"
    if _C._get_privateuse1_backend_name() not in (_UNNAMED, NAME) or (
        _device is None and _C._get_privateuse1_backend_name() == NAME
    ):
        return "other-backend"
    registration = sys.modules.get("torch.utils.backend_registration")
    if not hasattr(registration, "_setup_privateuseone_for_python_backend"):
        return "old-torch"
    needed = (("_acc", "create_empty_tensor"), ("_construct_storage_from_data_pointer",), ("_swap_tensor_impl",))
    return "" if all(_has(path) for path in needed) else "old-torch"


def prepare() -> Any:
    """The fake NPU, registered on the first call, which cannot be undone in this process. Raises `LiveError` when
    another backend is registered, or torch does not support it."""
    global _device, _make, _storage_at
    reason = why_not()
    if reason:
        raise LiveError(reason, backend=_C._get_privateuse1_backend_name(), version=torch.__version__)
    if _device is None:
        registration: Any = import_module("torch.utils.backend_registration")
        registration._setup_privateuseone_for_python_backend(NAME, backend_module=_module, hook=_hook())
        _make, _storage_at = numbers.empty, _C._construct_storage_from_data_pointer
        _device = numbers.here = torch.device(NAME, 0)
        _give_storage()
    return _device


def activate(active: bool) -> None:
    """Set `torch.npu.is_available()`; memory is pinned only while it is false."""
    if active != _module.active:
        _module.active = active
        if active:
            _Tensor.pin_memory = _unpinned
        else:
            del _Tensor.pin_memory  # uncovers the inherited method


def follow(ledger: Any) -> None:
    """Report new storages of the device to a ledger (`npulint.live.torch.memory`), None: to none."""
    global _ledger
    _ledger = ledger


def _unpinned(tensor: torch.Tensor, device: Any = None) -> torch.Tensor:
    """The tensor itself: CPU memory needs no pinning. Raises `RuntimeError` for another device, as PyTorch does."""
    if device is not None and torch.device(device).type == "cuda":
        raise RuntimeError("Cannot initialize CUDA without ATen_cuda library")
    return tensor


def _give_storage() -> None:
    """Register a CPU allocator for the device; without one, a new storage would abort the process."""
    storages: Any = torch.UntypedStorage
    original = storages.__new__

    def new(cls: Any, *args: Any, **kwargs: Any) -> Any:
        device = kwargs.get("device")
        if device is None or torch.device(device).type != NAME:
            return original(cls, *args, **kwargs)
        size = args[0] if args and isinstance(args[0], int) else 0
        memory = torch.zeros(size, dtype=torch.uint8)
        numbered = getattr(torch.device(device), "index", None) is not None
        made = _storage_at(memory.data_ptr(), torch.device(device) if numbered else numbers.here, size)
        made.held = memory
        if _ledger is not None:
            _ledger.holds(made)
        return made

    storages.__new__ = new


def _has(path: tuple[str, ...]) -> bool:
    owner = _C
    for part in path:
        if not hasattr(owner, part):
            return False
        owner = getattr(owner, part)
    return True


def _hook() -> Any:
    class Hook(_C._acc.PrivateUse1Hooks):
        def is_available(self) -> bool:
            return _module.active

        def has_primary_context(self, index: int) -> bool:
            return True

        def is_built(self) -> bool:
            return True

    return Hook()


def to_device(held: torch.Tensor) -> torch.Tensor:
    """A device tensor that shares the data of `held`, a plain CPU tensor."""
    if held.layout is not torch.strided:
        raise FakeNpuError("sparse", str(held.layout))
    if torch._is_zerotensor(held):
        held = torch.zeros(held.shape, dtype=held.dtype)
    conjugated, negated = held.is_conj(), held.is_neg()
    base = torch._conj(held) if conjugated else held
    base = torch._neg_view(base) if negated else base
    memory: Any = base.untyped_storage()
    storage = _storage_at(memory.data_ptr(), numbers.here, memory.nbytes())
    storage.held = base
    if _ledger is not None:
        _ledger.holds(storage)
    made = _make(base.dtype)
    _set.redispatch(_native, made, storage, base.storage_offset(), base.shape, base.stride())
    return _marked(made, conjugated, negated) if conjugated or negated else made


def viewed(held: torch.Tensor, storage: Any) -> torch.Tensor:
    """As `to_device`, for a tensor that shares an existing device storage."""
    made = _make(held.dtype)
    _set.redispatch(_native, made, storage, held.storage_offset(), held.shape, held.stride())
    return _marked(made, held.is_conj(), held.is_neg())


def held_by(tensor: torch.Tensor) -> torch.Tensor:
    """The CPU tensor with the data of a device tensor, of the same sizes and strides."""
    storage: Any = tensor.untyped_storage()
    base: torch.Tensor = storage.held
    if base.dtype is not tensor.dtype:
        memory = base.untyped_storage()
        empty: Any = torch.empty(0, dtype=tensor.dtype)
        host = empty.set_(memory, tensor.storage_offset(), tensor.shape, tensor.stride())
    else:
        host = base.as_strided(tensor.shape, tensor.stride(), tensor.storage_offset())
    if tensor.is_conj():
        host = torch._conj(host)
    return torch._neg_view(host) if tensor.is_neg() else host


def renew(tensor: torch.Tensor, held: torch.Tensor) -> None:
    """Update a device tensor after its CPU tensor was resized."""
    fresh = to_device(held)
    _set.redispatch(_native, tensor, fresh.untyped_storage(), held.storage_offset(), held.shape, held.stride())


def _marked(made: torch.Tensor, conjugated: bool, negated: bool) -> torch.Tensor:
    if conjugated:
        _C._set_conj(made, True)
    if negated:
        _C._set_neg(made, True)
    return made
