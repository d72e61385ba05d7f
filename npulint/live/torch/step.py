"""One real step: forward, loss, backward and, if there is one, the optimizer."""

from __future__ import annotations

import inspect
import random
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import nullcontext
from functools import partial
from types import CellType, FunctionType, MethodType, ModuleType
from typing import Any

import msgspec
import torch

from npulint.live.sources import is_own
from npulint.live.torch.device_transfer import CONTAINERS, MovedObjects
from npulint.live.torch.session import LiveError
from npulint.live.torch.sites import outermost, unrecorded

# Finds what a function works on besides its arguments: modules, optimizers and tensors in its names, and other state
# that it may change: schedulers, generators, counters, lists of losses.

_MAX_NESTING = 4
_MOST = 1000
_SCHEDULES = "torch.optim.lr_scheduler"


def move_reached(function: Any, moved: MovedObjects) -> None:
    """Move what a function, method, partial or callable object references."""
    _visit(function, moved, set(), 0)


def _visit(value: Any, moved: MovedObjects, seen: set[int], depth: int) -> None:
    if id(value) in seen or depth > _MAX_NESTING:
        return
    seen.add(id(value))
    if isinstance(value, torch.nn.Module):
        moved.module(value)
    elif isinstance(value, torch.optim.Optimizer):
        moved.optimizer(value)
    elif isinstance(value, torch.Tensor):
        moved.tensor(value)
    elif type(value).__name__.endswith("GradScaler"):
        moved.other(value)
    elif not _kept_generator(value, moved):
        for part in _parts(value, moved):
            _visit(part, moved, seen, depth + 1)


def _kept_generator(value: Any, moved: MovedObjects) -> bool:
    """Whether `value` is a random generator; if so, its state is restored afterwards."""
    numpy: Any = getattr(sys.modules.get("numpy"), "random", None)
    if isinstance(value, random.Random):
        moved.later(partial(value.setstate, value.getstate()))
    elif isinstance(value, torch.Generator):
        moved.later(partial(value.set_state, value.get_state()))
    elif numpy is not None and isinstance(value, numpy.Generator):
        moved.later(partial(setattr, value.bit_generator, "state", value.bit_generator.state))
    elif numpy is not None and isinstance(value, numpy.RandomState):
        moved.later(partial(value.set_state, value.get_state()))
    else:
        return False
    return True


def _parts(value: Any, moved: MovedObjects) -> Iterable[Any]:
    """What a value references; state that a step may change is saved for restoring."""
    if isinstance(value, FunctionType):
        return _of_function(value, moved)
    if isinstance(value, MethodType):
        return value.__self__, value.__func__
    if isinstance(value, partial):
        return value.func, *value.args, *value.keywords.values()
    if type(value) in CONTAINERS:
        moved.contents(value)
    if isinstance(value, dict):
        return list(value.values())[:_MOST]
    if isinstance(value, (list, tuple)):
        return value[:_MOST]
    if isinstance(value, torch.utils.data.DataLoader):
        return value.generator, getattr(value.sampler, "generator", None)
    if not hasattr(value, "__dict__") or not _is_changed(value):
        return ()
    moved.attributes(value)
    return list(vars(value).values())


def _is_changed(value: Any) -> bool:
    """Whether a step may change an object: a learning rate scheduler, or one of a user class."""
    if isinstance(value, (type, ModuleType)):
        return False
    if any(base.__module__ == _SCHEDULES for base in type(value).__mro__):
        return True
    return any(
        isinstance(method, FunctionType) and is_own(method.__code__.co_filename)
        for made in type(value).__mro__
        for method in map(vars(made).get, ("__call__", "__init__"))
    )


def _of_function(function: FunctionType, moved: MovedObjects) -> list[Any]:
    values = list(function.__defaults__ or ()) + list((function.__kwdefaults__ or {}).values())
    for cell in function.__closure__ or ():
        try:
            values.append(cell.cell_contents)
        except ValueError:  # empty cell
            continue
        moved.later(partial(_refilled, cell, values[-1]))
    if is_own(function.__code__.co_filename):
        module_globals = function.__globals__
        for name in function.__code__.co_names:
            if name in module_globals:
                values.append(module_globals[name])
                moved.later(partial(module_globals.__setitem__, name, module_globals[name]))
    return values


def _refilled(cell: CellType, content: Any) -> None:
    cell.cell_contents = content


_LOSSES = ("loss", "total_loss")
_DEEPEST = 6


class TrainingStep(msgspec.Struct, frozen=True):
    """The step to run. `inputs` and `targets` are those of the caller; `autocast` is an element type or empty."""

    model: torch.nn.Module | None = None
    inputs: Any = None
    train: bool = True
    loss: Callable[..., Any] | None = None
    targets: Any = None
    optimizer: Any = None
    function: Callable[..., Any] | None = None
    autocast: str = ""


def move(step: TrainingStep, moved: MovedObjects) -> tuple[Any, Any]:
    """Move what a step works on; returns moved copies of inputs and targets."""
    if step.model is not None:
        moved.module(step.model)
    for optimizer in _optimizers(step.optimizer):
        moved.optimizer(optimizer)
    for function in (step.function, step.loss):
        if function is not None:
            move_reached(function, moved)
    return moved.batch(step.inputs), moved.batch(step.targets)


@outermost
def run_step(step: TrainingStep, inputs: Any, targets: Any, device: str) -> Any:
    """Run one step on moved inputs and return the loss (for evaluation: the output)."""
    if step.model is not None:
        step.model.train(step.train)
    cast = torch.autocast(device, getattr(torch, step.autocast)) if step.autocast else nullcontext()
    with cast, torch.set_grad_enabled(step.train):
        out = _called(step.function or step.model, inputs, step.function is not None)
        loss = _loss(step, out, targets) if step.train and step.function is None else None
    if loss is None:
        return out
    loss.backward(_one(loss))
    for optimizer in _optimizers(step.optimizer):
        optimizer.step()
    return loss


def _optimizers(optimizers: Any) -> list[Any]:
    return [] if optimizers is None else list(optimizers) if isinstance(optimizers, (list, tuple)) else [optimizers]


@outermost
def _called(function: Any, inputs: Any, is_step: bool) -> Any:
    """The result of the function for example inputs: a tuple of positional or a mapping of keyword arguments."""
    if inputs is None and is_step:
        return function()
    args, kwargs = _spread(function, inputs)
    return function(*args, **kwargs)


def _spread(function: Any, inputs: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    ways: list[tuple[tuple[Any, ...], dict[str, Any]]] = [((inputs,), {})]
    if type(inputs) is tuple:
        ways.insert(0, (inputs, {}))
    elif isinstance(inputs, Mapping) and all(isinstance(key, str) for key in inputs):
        ways.insert(0, ((), dict(inputs)))
    elif type(inputs) is list:
        ways.append((tuple(inputs), {}))
    called = function.forward if isinstance(function, torch.nn.Module) else function
    try:
        signature = inspect.signature(called)
    except (TypeError, ValueError):
        return ways[0]
    for args, kwargs in ways:
        try:
            signature.bind(*args, **kwargs)
        except TypeError:
            continue
        return args, kwargs
    return ways[0]


@outermost
def _loss(step: TrainingStep, out: Any, targets: Any) -> Any:
    if step.loss is not None:
        loss = step.loss(out) if step.targets is None else step.loss(out, targets)
    else:
        loss = _own_loss(out)
    loss = _total(loss) if not isinstance(loss, torch.Tensor) or loss.dim() else loss
    if loss is None or not loss.requires_grad:
        raise LiveError("no-gradient")
    return loss


def _own_loss(out: Any) -> Any:
    """The loss that a model returns, else its whole output."""
    for name in _LOSSES:
        loss = out.get(name) if isinstance(out, Mapping) else getattr(out, name, None)
        if isinstance(loss, torch.Tensor) and loss.requires_grad:
            return loss
    first = out[0] if isinstance(out, tuple) and out else None
    if isinstance(first, torch.Tensor) and first.dim() == 0 and first.requires_grad:
        return first
    return out


@unrecorded
def _one(loss: torch.Tensor) -> torch.Tensor:
    return torch.ones_like(loss)


@unrecorded
def _total(out: Any) -> torch.Tensor | None:
    """The sum of all outputs that depend on parameters; None without any."""
    total: torch.Tensor | None = None
    for output in _floating(out, 0):
        part = (output.abs() if output.is_complex() else output).sum()
        total = part if total is None else total + part
    return total


def _floating(out: Any, depth: int) -> Iterator[torch.Tensor]:
    if isinstance(out, torch.Tensor):
        if out.requires_grad and (out.is_floating_point() or out.is_complex()):
            yield out
    elif depth < _DEEPEST:
        parts = out.values() if isinstance(out, Mapping) else out if isinstance(out, (list, tuple)) else ()
        held = parts or (vars(out).values() if hasattr(out, "__dict__") and not isinstance(out, type) else ())
        for member in held:
            yield from _floating(member, depth + 1)
