"""Which names hold devices, told by where their values go: to an argument for a device, directly, by another name, or
through a parameter of an own function."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from npulint.model.values.context import Context, once
from npulint.model.values.cursors import AssignmentSite, CallSite, Expr, Scope, module_scopes

KEYWORDS = ("device", "map_location", "device_type", "device_name", "devices", "accelerator")
"""How keywords for devices end."""
POSITIONS = {
    "torch.device": 0,
    "torch.load": 1,
    "torch.jit.load": 1,
    "torch.set_default_device": 0,
    "torch.autocast": 0,
    "torch.Generator": 0,
    "torch.amp.GradScaler": 0,
    "torch.get_device_module": 0,
    "torch.distributed.init_device_mesh": 0,
    "torch.distributed.device_mesh.init_device_mesh": 0,
    "torch.distributed.DeviceMesh": 0,
    "torch.distributed.device_mesh.DeviceMesh": 0,
    "torch.distributed.tensor.DeviceMesh": 0,
    "torch.distributed._tensor.DeviceMesh": 0,
}
"""Functions of PyTorch that take a device by position."""
MOVES = frozenset(("to", "to_empty"))
"""Methods of tensors and modules whose first argument may be a device."""
FOREIGN = ("numba.", "cupy.", "pycuda.", "jax.", "tensorflow.", "mxnet.", "paddle.", "mindspore.", "chainer.")
"""Packages with devices of their own."""
_MOST = 4000  # names of a project that are followed


class _Holders(NamedTuple):
    """What gives values to devices: assignments by file and record, parameters by function and name, and functions by
    what they return."""

    assignments: set[tuple[str, int]]
    parameters: set[tuple[Scope, str]]
    functions: set[Scope]


def holds_device(assignment: AssignmentSite) -> bool:
    """Whether what is assigned is used as a device."""
    return (assignment.scope.path, id(assignment.record)) in _holders(assignment.scope.context).assignments


def takes_device(function: Scope, parameter: str) -> bool:
    """Whether what a parameter of an own function gets is used as a device."""
    return (function, parameter) in _holders(function.context).parameters


def gives_device(function: Scope) -> bool:
    """Whether what an own function returns is used as a device."""
    return function in _holders(function.context).functions


@once
def _holders(context: Context) -> _Holders:
    """All names of a project whose values go to devices."""
    holders = _Holders(set(), set(), set())
    modules = [module for module in module_scopes(context) if module.module.code.devices]
    queue = [value for module in modules for value in _used(module)]
    for value in queue:
        if len(queue) > _MOST:
            break
        queue += value.alternatives
        if value.written:
            queue += _assigned(value, holders)
            queue += _passed(value, holders)
        target = None if value.call is None else value.call.target
        if target is not None and target not in holders.functions:
            holders.functions.add(target)
            queue += target.returns
    return holders


def _assigned(name: Expr, holders: _Holders) -> list[Expr]:
    """Adds the assignments of a name; the values of those that are new."""
    sites = {(assignment.scope.path, id(assignment.record)): assignment for assignment in name.assignments}
    fresh = sites.keys() - holders.assignments
    holders.assignments.update(fresh)
    return [assignment.value for key, assignment in sites.items() if key in fresh]


def _passed(name: Expr, holders: _Holders) -> list[Expr]:
    """Adds the parameter that a name is; what is passed for it if it is new."""
    function = name.passed_to
    if function is None or (function, name.written) in holders.parameters:
        return []
    holders.parameters.add((function, name.written))
    return [argument for _, argument in function.passed(name.written) if argument is not None]


def _used(module: Scope) -> Iterator[Expr]:
    """What the calls of a module take as devices."""
    for call in module.all_calls:
        yield from (value for key, value in call.keywords.items() if key in KEYWORDS and _may_take_device(call))
        position = 0 if call.last in MOVES else POSITIONS.get(call.name, -1)
        if 0 <= position < len(call.args):
            yield call.args[position]


def _may_take_device(call: CallSite) -> bool:
    """Whether a keyword of a call may be for a device of PyTorch: that of an own function is what its parameter is."""
    return call.target is None and not call.name.startswith(FOREIGN)
