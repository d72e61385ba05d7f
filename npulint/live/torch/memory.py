"""The memory of device tensors over a recorded run: what is made and freed, and of which class it is.

A storage has a token, an attribute that is deleted with it. What a tensor is for may be known only later (a result
becomes a gradient when the optimizer finds it as one), so events are noted first, and added up at the end."""

from __future__ import annotations

import weakref
from array import array
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import torch

from npulint.judge.summaries.step_summary import CLASSES
from npulint.live.course import Course

PARAMETERS, GRADIENTS, OPTIMIZER, ACTIVATIONS, OTHER = range(len(CLASSES))
_MOST = 2_000_000  # events
_POINTS = 240  # of the curve


class _Token:
    """Lives as long as a storage."""

    __slots__ = ("_ledger", "number")

    def __init__(self, ledger: Ledger, number: int) -> None:
        self._ledger = ledger
        self.number = number

    def __del__(self) -> None:
        self._ledger.freed(self.number)


class Ledger:
    """Notes the device storages of a run. `operators` is the number of operators recorded so far; `keeps` says whether
    the current operator computes something that the backward pass may need."""

    def __init__(self) -> None:
        self.operators = 0
        self.keeps = False
        self.followed = False
        self._sizes = array("q")
        self._classes = array("b")
        self._events = array("q")  # number of a storage that is made; its complement if freed
        self._when = array("q")  # the value of `operators` at each event
        self._steps = [0]
        self._parameters: list[weakref.ref[torch.Tensor]] = []
        self._modules: weakref.WeakSet[torch.nn.Module] = weakref.WeakSet()

    def holds(self, storage: Any) -> None:
        """Note a new storage."""
        if not self.followed or len(self._events) >= _MOST:
            return
        number = len(self._sizes)
        self._sizes.append(storage.nbytes())
        self._classes.append(ACTIVATIONS if self.keeps else OTHER)
        self._note(number)
        storage.token = _Token(self, number)

    def results(self, out: Any) -> None:
        """Note the storages of results that are not known yet."""
        for tensor in out if isinstance(out, (list, tuple)) else (out,):
            if isinstance(tensor, torch.Tensor) and tensor.layout is torch.strided:
                storage: Any = tensor.untyped_storage()
                if not hasattr(storage, "token"):
                    self.holds(storage)

    def freed(self, number: int) -> None:
        """Note the end of a storage."""
        if len(self._events) < 2 * _MOST:
            self._note(~number)

    def _note(self, event: int) -> None:
        self._events.append(event)
        self._when.append(self.operators)

    def stepped(self) -> None:
        """A step has ended."""
        self._steps.append(self.operators)

    def is_parameter(self, parameter: torch.Tensor) -> None:
        """Note a parameter of a module."""
        self._parameters.append(weakref.ref(parameter))

    def classify(self, optimizer: Any = None) -> None:
        """Note what storages are for: those of parameters and their gradients, and of the state of an optimizer."""
        parameters = [parameter for parameter in (ref() for ref in self._parameters) if parameter is not None]
        parameters += [
            parameter for module in self._modules for parameter in module._parameters.values() if parameter is not None
        ]
        if optimizer is not None:
            parameters += [parameter for group in optimizer.param_groups for parameter in group["params"]]
            for held in list(optimizer.state.values()):
                self._all(OPTIMIZER, held.values() if isinstance(held, dict) else ())
        self._all(PARAMETERS, parameters)
        self._all(GRADIENTS, (parameter.grad for parameter in parameters))

    def _all(self, kind: int, tensors: Iterable[Any]) -> None:
        for tensor in tensors:
            if not isinstance(tensor, torch.Tensor) or tensor.layout is not torch.strided:
                continue
            storage: Any = tensor.untyped_storage()
            token = getattr(storage, "token", None)
            if token is None and self._is_ours(tensor):
                self.holds(storage)
                token = getattr(storage, "token", None)
            if token is not None:
                self._classes[token.number] = kind

    def _is_ours(self, tensor: torch.Tensor) -> bool:
        """Whether a tensor without a token was made before: parameters of a watched loop."""
        return isinstance(tensor, torch.nn.Parameter)

    @contextmanager
    def following(self, modules: bool = True) -> Iterator[None]:
        """Context manager that follows storages, and finds out what they are for before and after steps of optimizers.
        Does nothing where PyTorch reports no steps."""
        handles = self.follow(modules)
        try:
            yield
        finally:
            self.followed = False
            for handle in handles:
                handle.remove()

    def follow(self, modules: bool = True) -> list[Any]:
        """Begin to follow storages; returns handles of what was registered. With `modules`, parameters are known when
        a module gets them."""
        from torch.optim import optimizer

        names = ("register_optimizer_step_pre_hook", "register_optimizer_step_post_hook")
        if not all(hasattr(optimizer, name) for name in names):
            return []
        self.followed = True

        def at_step(stepping: Any, args: Any, kwargs: Any) -> None:
            self.classify(stepping)

        handles = [getattr(optimizer, name)(at_step) for name in names]
        if modules:
            register: Any = torch.nn.modules.module.register_module_parameter_registration_hook
            handles.append(register(lambda module, name, parameter: self._modules.add(module)))  # it may replace them
        return handles

    def course(self, sequence: list[int], places: dict[int, int], complete: bool) -> Course:
        """The course of the last whole step, whose operators are `sequence`; `places` are numbers of nodes by those in
        it."""
        ran = [places.get(number, -1) for number in sequence]
        begin = self._steps[-2] if complete and len(self._steps) > 1 else self._steps[-1]
        end = begin + len(sequence)
        if not self._events:
            return Course(tuple(ran), complete)
        held, peak, most, kept = [0] * len(CLASSES), [0] * len(CLASSES), 0, 0
        points: list[tuple[int, tuple[int, ...]]] = []
        for event, when in zip(self._events, self._when, strict=True):
            number = event if event >= 0 else ~event
            held[self._classes[number]] += self._sizes[number] if event >= 0 else -self._sizes[number]
            total = sum(held)
            if total > most:
                peak, most = list(held), total
            kept = max(kept, held[ACTIVATIONS])
            if begin <= when <= end:
                points.append((when - begin, tuple(held)))
        return Course(tuple(ran), complete, tuple(thinned(points, len(ran))), tuple(peak), kept)


def thinned(points: list[tuple[int, tuple[int, ...]]], length: int) -> list[tuple[int, tuple[int, ...]]]:
    """At most `_POINTS` points, of each stretch the one with the most bytes."""
    best: dict[int, tuple[int, tuple[int, ...]]] = {}
    for point in points:
        stretch = point[0] * _POINTS // max(length, 1)
        if stretch not in best or sum(point[1]) > sum(best[stretch][1]):
            best[stretch] = point
    return list(best.values())
