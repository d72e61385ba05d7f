"""Finds what a function works on besides its arguments: modules, optimizers and tensors in its names, and other state
that it may change: schedulers, generators, counters, lists of losses."""

from __future__ import annotations

import random
import sys
from collections.abc import Iterable
from functools import partial
from types import CellType, FunctionType, MethodType, ModuleType
from typing import Any

import torch

from npulint.live.sources import is_own
from npulint.live.torch.device_transfer import CONTAINERS, MovedObjects

_DEEPEST = 4
_MOST = 1000
_SCHEDULES = "torch.optim.lr_scheduler"


def move_reached(function: Any, moved: MovedObjects) -> None:
    """Move what a function, method, partial or callable object references."""
    _visit(function, moved, set(), 0)


def _visit(value: Any, moved: MovedObjects, seen: set[int], depth: int) -> None:
    if id(value) in seen or depth > _DEEPEST:
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
    if any(one.__module__ == _SCHEDULES for one in type(value).__mro__):
        return True
    return any(
        isinstance(one, FunctionType) and is_own(one.__code__.co_filename)
        for made in type(value).__mro__
        for one in map(vars(made).get, ("__call__", "__init__"))
    )


def _of_function(function: FunctionType, moved: MovedObjects) -> list[Any]:
    found = list(function.__defaults__ or ()) + list((function.__kwdefaults__ or {}).values())
    for cell in function.__closure__ or ():
        try:
            found.append(cell.cell_contents)
        except ValueError:  # empty cell
            continue
        moved.later(partial(_refilled, cell, found[-1]))
    if is_own(function.__code__.co_filename):
        known = function.__globals__
        for name in function.__code__.co_names:
            if name in known:
                found.append(known[name])
                moved.later(partial(known.__setitem__, name, known[name]))
    return found


def _refilled(cell: CellType, content: Any) -> None:
    cell.cell_contents = content
