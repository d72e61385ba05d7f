"""The recorder for ordinary CPU or GPU tensors: records the operators that reach a backend. Composite operators that
the NPU runs as a whole are recorded as a whole, by kernels above autograd; their parts, also in the gradient, are
attributed to them. Operators that only the CPU or a GPU has are recorded under the name of the NPU's."""

from __future__ import annotations

import functools
import sys
from bisect import bisect_right
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from threading import get_ident
from typing import Any

import torch
from torch.nn.utils import rnn
from torch.optim import optimizer
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.weak import WeakIdKeyDictionary

from npulint.live.torch.kernels import falls_apart, is_composite, kernel_set, tensors_in
from npulint.live.torch.recorder import KEY_ARGS, TO_CPU, KeyArgs, Recorder, op_name

# Which tensors of a loop on the CPU would be on the device: there every tensor is on the host, but training moves
# only some, and the host waits only for these.

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
        values = [tensor for tensor in tensors_in(args) if self.holds(tensor)]
        if values:
            surely = any(map(self._surely, values))
            for tensor in tensors_in(out if isinstance(out, (list, tuple)) else (out,)):
                self._marked[tensor] = surely

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
        for either in (tensor, out):
            if isinstance(either, torch.Tensor):
                self._marked.pop(either, None)


_C: Any = torch._C
_node: Any = _C._current_autograd_node
_sequence: Any = getattr(torch.autograd, "_get_sequence_nr", None) or (lambda: 0)
_task: Any = getattr(_C, "_current_graph_task_id", None) or (lambda: 0)
_Mode: Any = TorchDispatchMode
_Library: Any = torch.library.Library
_composite: Any = _C.DispatchKey.CompositeImplicitAutograd

_SDPA = "aten.scaled_dot_product_attention.default"
_ELSEWHERE = {
    "mkldnn_convolution": "aten.convolution.default",
    "cudnn_convolution": "aten.convolution.default",
    "miopen_convolution": "aten.convolution.default",
    "mkldnn_rnn_layer": "aten.lstm.input",
    "mkldnn_rnn_layer_backward": "aten.lstm.input",
    "_cudnn_rnn": "aten.lstm.input",
    "_cudnn_rnn_backward": "aten.lstm.input",
    "cudnn_batch_norm": "aten.native_batch_norm.default",
    "miopen_batch_norm": "aten.native_batch_norm.default",
    "cudnn_batch_norm_backward": "aten.native_batch_norm_backward.default",
    "miopen_batch_norm_backward": "aten.native_batch_norm_backward.default",
    "_cudnn_ctc_loss": "aten._ctc_loss.default",
    "_ctc_loss": "aten._ctc_loss.default",
    "_ctc_loss_backward": "aten._ctc_loss_backward.default",
    "mkldnn_linear": "aten.linear.default",
}
"""Operators that only other devices have, and the NPU's equivalents."""

_READING = "aten._local_scalar_dense.default"
_PACKING = (rnn.__file__, torch.nn.modules.rnn.__file__)  # these read lengths, which are always on the host
_COUNTING = optimizer.__file__  # reads counters of steps, which are on the host as long as they are there
_NOWHERE = ("profiler.", "prim.", "aten.lift", "aten.detach", "aten._assert_")


class Watching(_Mode):
    """Context manager that reports operators to the recorder, composite ones as in PyTorch `release`. `accelerated`
    says whether accelerator tensors took part: then CPU-only operators belong to the host. After `limit` steps (0:
    none), counted in `steps` by the caller, nothing more is reported. `values` are those that training has on a device,
    if the code works with others too: the host does not wait for the others."""

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False  # its wrapper would import the compiler

    def __init__(self, recorder: Recorder, release: str, values: DeviceValues | None = None) -> None:
        super().__init__()
        self.recorder = recorder
        self._values = values
        self.accelerated = False
        self.steps = 0
        self.limit = 0
        self._names: dict[Any, str] = {}
        self._wholes = _Wholes()
        kernels = kernel_set(release)
        self._kept = frozenset(kernels)
        self._composites = [op for op in kernels if is_composite(op)]
        self._library: Any = None
        self._threads = True
        self._thread = get_ident()

    def __enter__(self) -> Any:
        self._thread = get_ident()
        self._library = _Library("aten", "IMPL")
        with ExitStack() as undo:
            undo.callback(self._forget)
            for op in self._composites:
                for key in ("AutogradCPU", "AutogradCUDA")[: 1 + torch.cuda.is_available()]:
                    self._library.impl(op, self._whole(op), key)
            self._threads = torch._C._is_multithreading_enabled()
            torch._C._set_multithreading_enabled(False)
            if self._values is not None:
                undo.enter_context(self._values)
            entered = super().__enter__()
            undo.pop_all()
        return entered

    def __exit__(self, *raised: Any) -> None:
        try:
            super().__exit__(*raised)
        finally:
            if self._values is not None:
                self._values.__exit__(*raised)
            self._forget()

    def _forget(self) -> None:
        torch._C._set_multithreading_enabled(self._threads)
        if self._library is not None:
            self._library._destroy()
            self._library = None

    @property
    def over(self) -> bool:
        """Whether the requested number of steps has run."""
        return bool(self.limit) and self.steps >= self.limit

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if self.over:
            return func(*args, **kwargs)
        if func not in self._kept and falls_apart(func):  # not decomposed without gradients
            with self:
                return func.decompose(*args, **kwargs)
        ledger = self.recorder.ledger
        ledger.keeps = torch.is_grad_enabled() and any(tensor.requires_grad for tensor in tensors_in(args))
        out = func(*args, **kwargs)
        if self._values is not None:
            self._values.computed(out, args)
        if ledger.followed and not self.recorder.paused:
            self._noted(out)
        name = self._names.get(func)
        if name is None:
            name = self._names[func] = _elsewhere(func)
        if name and not (name == _READING and self._of_host(args[0], sys._getframe(1).f_code.co_filename)):
            self._report(name, out, args, kwargs)
        return out

    def _noted(self, out: Any) -> None:
        """Note the memory of results that would be on a device."""
        values = self._values
        for tensor in tensors_in(out if isinstance(out, (list, tuple)) else (out,)):
            if not tensor.is_cpu or (not self.accelerated and (values is None or values.holds(tensor))):
                self.recorder.ledger.results(tensor)

    def _of_host(self, value: torch.Tensor, caller: str) -> bool:
        """Whether a value that is read would be on the host in training on a device, too."""
        values = self._values
        if caller in _PACKING or (caller == _COUNTING and value.is_cpu is True):
            return True
        return values is not None and value.is_cpu is True and not values.holds(value)

    def _report(self, name: str, out: Any, args: Any, kwargs: Any) -> None:
        node = _node() if self._wholes else None
        made = None if node is None else self._wholes.holding(node)
        if made is not None:
            if made.unseen(_task()):
                self.recorder.put(made.name, out, made.site, "backward")
            return
        host = _on_host(out) and (not args or _on_host(args[0]))
        self.accelerated = self.accelerated or not host
        device = kwargs.get("device")
        read_key_args = KEY_ARGS.get(name.split(".")[1])
        key_args: KeyArgs = () if read_key_args is None else read_key_args(args, kwargs)
        if device is not None and torch.device(device).type == "cpu" and args and not _on_host(args[0]):
            key_args = TO_CPU
        if name == "aten.copy_.default" and _on_host(args[0]) and not _on_host(args[1]):
            key_args = TO_CPU
        self.recorder.add(name, out, key_args, host=host)

    def _whole(self, op: Any) -> Any:
        name = op_name(op)
        recorder = self.recorder

        def kernel(*args: Any, **kwargs: Any) -> Any:
            if recorder.paused or self.over or get_ident() != self._thread:
                return op._op_dk(_composite, *args, **kwargs)
            site, phase = recorder.sites.here()
            first = _sequence()
            recorder.paused += 1
            try:
                out = op._op_dk(_composite, *args, **kwargs)
            finally:
                recorder.paused -= 1
            host = _on_host(out)
            self.accelerated = self.accelerated or not host
            recorder.put(name, out, site, phase, host=host)
            self._wholes.add(first, _sequence(), name, site)
            return out

        return kernel


class _Made:
    """The autograd nodes of a composite operator, numbered from `first` to before `end`."""

    def __init__(self, end: int, name: str, site: int) -> None:
        self.end, self.name, self.site = end, name, site
        self._task: Any = None

    def unseen(self, task: Any) -> bool:
        """Whether this is the first of its nodes in a backward pass."""
        fresh: bool = task != self._task
        self._task = task
        return fresh


class _Wholes:
    """The autograd nodes of all composite operators."""

    def __init__(self) -> None:
        self._first: list[int] = []
        self._made: list[_Made] = []

    def __bool__(self) -> bool:
        return bool(self._first)

    def add(self, first: int, end: int, name: str, site: int) -> None:
        if end > first and (not self._first or first >= self._first[-1]):
            self._first.append(first)
            self._made.append(_Made(end, name, site))

    def holding(self, node: Any) -> _Made | None:
        number = node._sequence_nr()
        place = bisect_right(self._first, number) - 1
        return self._made[place] if place >= 0 and number < self._made[place].end else None


def _elsewhere(op: Any) -> str:
    """The name of the NPU's operator; empty for operators that no device computes."""
    name = op_name(op)
    if name.startswith(_NOWHERE):
        return ""
    base = name.split(".")[1]
    if base.startswith("_scaled_dot_product_") and "fused" not in base:
        return _SDPA
    return _ELSEWHERE.get(base, name) if name.startswith("aten.") else name


def _on_host(values: Any) -> bool:
    """Whether the first tensor is on the CPU; true without tensors."""
    if isinstance(values, torch.Tensor):
        return values.is_cpu is True
    return _on_host(values[0]) if isinstance(values, (list, tuple)) and values else True
