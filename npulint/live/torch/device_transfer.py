"""Moves everything that a step works on to another device, and restores it afterwards."""

from __future__ import annotations

import copy
import dataclasses
from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import torch

from npulint.live.torch.session import LiveError

_C: Any = torch._C
_PLAIN: Any = _C._disabled_torch_dispatch_impl
_LAZY = (torch.nn.UninitializedParameter, torch.nn.UninitializedBuffer)
_Packed: Any = torch.nn.utils.rnn.PackedSequence
_DEEPEST = 6  # nesting of batches
_MOST = 10_000  # parts of a batch
CONTAINERS = (dict, list, set, defaultdict, OrderedDict, deque)
"""Containers whose contents are restored."""

Place = Callable[[torch.Tensor], torch.Tensor]


class MovedObjects:
    """Moved modules, optimizers and tensors until `back`. `place` copies a tensor without gradient to its own memory on
    the device. Python objects keep their identity: their contents are exchanged and exchanged back, so closures,
    optimizers and hooks see the moved contents, and the originals stay unchanged."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._swapped: list[tuple[torch.Tensor, torch.Tensor]] = []
        self._undo: list[Callable[[], object]] = []
        self._known: set[int] = set()

    def back(self) -> None:
        """Restore everything."""
        while self._undo:
            self._undo.pop()()
        while self._swapped:
            _C._swap_tensor_impl(*self._swapped.pop())

    def note_parameters(self, note: Callable[[torch.Tensor], object]) -> None:
        """Call a function with each parameter that was moved."""
        for tensor, _ in self._swapped:
            if isinstance(tensor, torch.nn.Parameter):
                note(tensor)

    def module(self, module: torch.nn.Module) -> None:
        """Move a module with all submodules. Raises `LiveError` for modules on several devices or on none yet."""
        for part in module.modules():
            kind = type(part).__name__
            if isinstance(part, torch.nn.DataParallel):
                raise LiveError("data-parallel", kind=kind)
            if isinstance(part, torch.nn.parallel.DistributedDataParallel):
                raise LiveError("distributed", kind=kind)
            if id(part) in self._known:
                continue
            self._known.add(id(part))
            self._remember(part)
            for held in (part._parameters, part._buffers):
                for tensor in held.values():
                    if tensor is not None:
                        self.tensor(tensor)

    def tensor(self, tensor: torch.Tensor) -> None:
        """Move a leaf tensor; others are ignored."""
        if id(tensor) in self._known or not tensor.is_leaf:
            return
        self._known.add(id(tensor))
        if isinstance(tensor, _LAZY):
            raise LiveError("uninitialised")
        moved = self._of(tensor)
        if tensor.grad is not None:
            moved.grad = self._of(tensor.grad)
        _C._swap_tensor_impl(tensor, moved)
        self._swapped.append((tensor, moved))

    def optimizer(self, optimizer: torch.optim.Optimizer) -> None:
        """Save an optimizer's state and learning rates and move its state; parameters belong to modules."""
        if id(optimizer) in self._known:
            return
        self._known.add(id(optimizer))
        self._remember(optimizer)
        groups = [dict(group) for group in optimizer.param_groups]
        kept = optimizer.param_groups

        def undo() -> None:
            for group, old in zip(kept, groups, strict=False):
                group.clear()
                group.update(old)

        self._undo.append(undo)
        for group in groups:
            for parameter in group["params"]:
                self.tensor(parameter)
        state: Any = defaultdict(dict)
        for parameter, held in optimizer.state.items():
            state[parameter] = (
                {key: self._state(key, part) for key, part in held.items()} if isinstance(held, dict) else held
            )
        optimizer.state = state

    def other(self, held: Any) -> None:
        """Save the state of an object that a step may change, such as a gradient scaler."""
        if id(held) not in self._known:
            self._known.add(id(held))
            self._remember(held)
            for attribute in vars(held).values():
                if isinstance(attribute, torch.Tensor):
                    self.tensor(attribute)

    def attributes(self, held: Any) -> None:
        """Save the attributes of an object that a step may change, except tensors."""
        if id(held) not in self._known:
            self._known.add(id(held))
            self._remember(held)

    def contents(self, held: Any) -> None:
        """Save the contents of a container that a step may change."""
        self.later(partial(_refill, held, copy.copy(held)))

    def later(self, undo: Callable[[], object]) -> None:
        """Register a function that restores something."""
        self._undo.append(undo)

    def batch(self, inputs: Any, depth: int = 0) -> Any:
        """A copy of inputs with moved tensors, in containers, records and objects."""
        if isinstance(inputs, torch.Tensor):
            return self._of(inputs)
        if depth >= _DEEPEST:
            return inputs
        if isinstance(inputs, _Packed):
            parts = [part if place == 1 or part is None else self._of(part) for place, part in enumerate(inputs)]
            return _Packed(*parts)
        if isinstance(inputs, Mapping):
            return self._mapping(inputs, depth)
        if isinstance(inputs, (list, tuple)) and len(inputs) <= _MOST:
            items = [self.batch(part, depth + 1) for part in inputs]
            return type(inputs)(*items) if hasattr(inputs, "_fields") else type(inputs)(items)
        return self._record(inputs, depth)

    def _mapping(self, inputs: Mapping[Any, Any], depth: int) -> Any:
        parts = {key: self.batch(part, depth + 1) for key, part in inputs.items()}
        if type(inputs) is dict:
            return parts
        made: Any = copy.copy(inputs)
        held: Any = getattr(made, "data", made)
        try:
            if held is not made:
                made.data = parts
            else:
                held.update(parts)
        except (AttributeError, TypeError):
            return parts
        return made

    def _record(self, inputs: Any, depth: int) -> Any:
        if isinstance(inputs, (type, torch.nn.Module)) or callable(inputs) or not _holds_tensors(inputs, depth):
            return inputs
        made = copy.copy(inputs)
        for key, attribute in vars(inputs).items():
            object.__setattr__(made, key, self.batch(attribute, depth + 1))
        return made

    def _of(self, tensor: torch.Tensor) -> torch.Tensor:
        """A leaf tensor with the same values on the device."""
        if type(tensor).__torch_dispatch__ is not _PLAIN and not isinstance(tensor, torch.nn.Parameter):
            raise LiveError("subclass", kind=type(tensor).__name__)
        return self._place(tensor.detach()).requires_grad_(tensor.requires_grad)

    def _state(self, key: str, part: Any) -> Any:
        if not isinstance(part, torch.Tensor):
            return copy.copy(part) if isinstance(part, (list, dict)) else part
        return part.clone() if key == "step" and part.is_cpu else self._of(part)

    def _remember(self, held: Any) -> None:
        """Save the attributes of an object, including contents of its dictionaries and lists."""
        attributes = vars(held)
        old = dict(attributes)
        inner = {key: copy.copy(container) for key, container in old.items() if type(container) in CONTAINERS}

        def undo() -> None:
            attributes.clear()
            attributes.update(old)
            for key, contents in inner.items():
                _refill(old[key], contents)

        self._undo.append(undo)


def _refill(held: Any, old: Any) -> None:
    held.clear()
    if isinstance(held, (list, deque)):
        held.extend(old)
    else:
        held.update(old)


def _holds_tensors(inputs: Any, depth: int) -> bool:
    if dataclasses.is_dataclass(inputs):
        return True
    held: dict[str, Any] = getattr(inputs, "__dict__", None) or {}
    return any(
        isinstance(attribute, (torch.Tensor, list, tuple, dict)) or hasattr(attribute, "__dict__")
        for attribute in held.values()
    )
