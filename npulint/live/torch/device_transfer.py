"""What a step works on, moved to another device while it lasts, and put back as it was."""

from __future__ import annotations

import copy
import dataclasses
from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import torch

from npulint.live.torch.errors import LiveError

_C: Any = torch._C
_PLAIN: Any = _C._disabled_torch_dispatch_impl
_LAZY = (torch.nn.UninitializedParameter, torch.nn.UninitializedBuffer)
_Packed: Any = torch.nn.utils.rnn.PackedSequence
_DEEPEST = 6  # batches within batches
_MOST = 10_000  # parts of a batch
CONTAINERS = (dict, list, set, defaultdict, OrderedDict, deque)
"""What is put back with its contents."""

Place = Callable[[torch.Tensor], torch.Tensor]


class Moved:
    """Modules, optimizers and tensors whose contents are elsewhere until `back`. `place` makes of a tensor without
    gradient one of its own memory where the step shall run.

    Every Python object stays the one it is: what it leads to is exchanged, and exchanged again afterwards. So closures,
    optimizers and hooks see the moved contents, and the originals are not touched.
    """

    def __init__(self, place: Place) -> None:
        self._place = place
        self._swapped: list[tuple[torch.Tensor, torch.Tensor]] = []
        self._undo: list[Callable[[], object]] = []
        self._known: set[int] = set()

    def back(self) -> None:
        """Everything as it was."""
        while self._undo:
            self._undo.pop()()
        while self._swapped:
            _C._swap_tensor_impl(*self._swapped.pop())

    def module(self, module: torch.nn.Module) -> None:
        """A module with all its parts. Raises `LiveError` for modules that run on several devices, or not yet."""
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
                for one in held.values():
                    if one is not None:
                        self.tensor(one)

    def tensor(self, tensor: torch.Tensor) -> None:
        """A tensor that stands at the beginning of the computation; others are left alone."""
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
        """An optimizer with its state and its rates; its parameters belong to modules."""
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
        for parameter, known in optimizer.state.items():
            state[parameter] = (
                {key: self._state(key, one) for key, one in known.items()} if isinstance(known, dict) else known
            )
        optimizer.state = state

    def other(self, held: Any) -> None:
        """An object whose attributes a step may change, such as a scaler of gradients."""
        if id(held) not in self._known:
            self._known.add(id(held))
            self._remember(held)
            for one in vars(held).values():
                if isinstance(one, torch.Tensor):
                    self.tensor(one)

    def attributes(self, held: Any) -> None:
        """An object whose attributes a step may change, but for the tensors that they hold."""
        if id(held) not in self._known:
            self._known.add(id(held))
            self._remember(held)

    def contents(self, held: Any) -> None:
        """A container that a step may change."""
        self.later(partial(_refill, held, copy.copy(held)))

    def later(self, undo: Callable[[], object]) -> None:
        """What puts something back as it is now."""
        self._undo.append(undo)

    def batch(self, given: Any, depth: int = 0) -> Any:
        """A copy of inputs whose tensors are moved: tensors, containers, records and objects of them."""
        if isinstance(given, torch.Tensor):
            return self._of(given)
        if depth >= _DEEPEST:
            return given
        if isinstance(given, _Packed):
            parts = [one if place == 1 or one is None else self._of(one) for place, one in enumerate(given)]
            return _Packed(*parts)
        if isinstance(given, Mapping):
            return self._mapping(given, depth)
        if isinstance(given, (list, tuple)) and len(given) <= _MOST:
            items = [self.batch(one, depth + 1) for one in given]
            return type(given)(*items) if hasattr(given, "_fields") else type(given)(items)
        return self._record(given, depth)

    def _mapping(self, given: Mapping[Any, Any], depth: int) -> Any:
        parts = {key: self.batch(one, depth + 1) for key, one in given.items()}
        if type(given) is dict:
            return parts
        made: Any = copy.copy(given)
        held: Any = getattr(made, "data", made)
        try:
            if held is not made:
                made.data = parts
            else:
                held.update(parts)
        except (AttributeError, TypeError):
            return parts
        return made

    def _record(self, given: Any, depth: int) -> Any:
        if isinstance(given, (type, torch.nn.Module)) or callable(given) or not _holds_tensors(given, depth):
            return given
        made = copy.copy(given)
        for key, one in vars(given).items():
            object.__setattr__(made, key, self.batch(one, depth + 1))
        return made

    def _of(self, tensor: torch.Tensor) -> torch.Tensor:
        """The same numbers elsewhere, as the beginning of a computation."""
        if type(tensor).__torch_dispatch__ is not _PLAIN and not isinstance(tensor, torch.nn.Parameter):
            raise LiveError("subclass", kind=type(tensor).__name__)
        return self._place(tensor.detach()).requires_grad_(tensor.requires_grad)

    def _state(self, key: str, one: Any) -> Any:
        if not isinstance(one, torch.Tensor):
            return copy.copy(one) if isinstance(one, (list, dict)) else one
        return one.clone() if key == "step" and one.is_cpu else self._of(one)

    def _remember(self, held: Any) -> None:
        """The attributes of an object as they are now, also what is in its dictionaries and lists."""
        attributes = vars(held)
        old = dict(attributes)
        inner = {key: copy.copy(one) for key, one in old.items() if type(one) in CONTAINERS}

        def undo() -> None:
            attributes.clear()
            attributes.update(old)
            for key, one in inner.items():
                _refill(old[key], one)

        self._undo.append(undo)


def _refill(held: Any, old: Any) -> None:
    held.clear()
    if isinstance(held, (list, deque)):
        held.extend(old)
    else:
        held.update(old)


def _holds_tensors(given: Any, depth: int) -> bool:
    if dataclasses.is_dataclass(given):
        return True
    held: dict[str, Any] = getattr(given, "__dict__", None) or {}
    return any(isinstance(one, (torch.Tensor, list, tuple, dict)) or hasattr(one, "__dict__") for one in held.values())
