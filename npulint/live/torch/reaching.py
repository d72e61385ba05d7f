"""What a function works on beside its arguments: modules, optimizers and tensors that its names lead to."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from types import FunctionType, MethodType
from typing import Any

import torch

from npulint.live.sources import is_own
from npulint.live.torch.moving import Moved

_DEEPEST = 4
_MOST = 1000


def move_reached(function: Any, moved: Moved) -> None:
    """Move what a function, method, partial or callable object leads to."""
    _visit(function, moved, set(), 0)


def _visit(value: Any, moved: Moved, seen: set[int], depth: int) -> None:
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
    else:
        for one in _parts(value):
            _visit(one, moved, seen, depth + 1)


def _parts(value: Any) -> Iterable[Any]:
    if isinstance(value, FunctionType):
        return _of_function(value)
    if isinstance(value, MethodType):
        return value.__self__, value.__func__
    if isinstance(value, partial):
        return value.func, *value.args, *value.keywords.values()
    if isinstance(value, dict):
        return list(value.values())[:_MOST]
    if isinstance(value, (list, tuple)):
        return value[:_MOST]
    code = vars(type(value)).get("__call__") or vars(type(value)).get("__init__")
    own = isinstance(code, FunctionType) and is_own(code.__code__.co_filename)
    return list(vars(value).values()) if own and hasattr(value, "__dict__") else ()


def _of_function(function: FunctionType) -> list[Any]:
    found = list(function.__defaults__ or ()) + list((function.__kwdefaults__ or {}).values())
    for cell in function.__closure__ or ():
        try:
            found.append(cell.cell_contents)
        except ValueError:  # not filled yet
            continue
    if is_own(function.__code__.co_filename):
        names = function.__code__.co_names
        found += [function.__globals__[name] for name in names if name in function.__globals__]
    return found
