"""Operations that the adapter leaves on the host, and where in the graph they stand."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from npulint.assemble.context import Context
from npulint.assemble.flow import argument
from npulint.assemble.module import Module
from npulint.data.host_ops import HostOp, host_ops
from npulint.facts.model import Fact

if TYPE_CHECKING:
    from npulint.assemble.placement import Placement

_CELLS = "fused_cell"  # made once, used by the loop around it


def matches(name: str) -> bool:
    """Interfaces whose operators may stay on the host."""
    return name in host_ops()


def facts_for_call(context: Context, module: Module, index: int, name: str) -> list[Fact]:
    """The ``host_op`` fact of a call."""
    for op in host_ops()[name]:
        if _holds(context, module, index, op):
            place = partial(_place, context, module, index, op.family == _CELLS)
            attrs = {"where": op.where, "ops": op.ops, "family": op.family, "place": place}
            return [context.call_fact("host_op", name, module, index, **attrs)]
    return []


def _place(context: Context, module: Module, index: int, cell: bool) -> str:
    """Where a call stands; a cell surely in the middle if it is made by default."""
    if not cell:
        return placed(context, module, index)
    return "path" if context.guards.active(module, module.code.calls[index].block) == "yes" else "unknown"


def placed(context: Context, module: Module, index: int) -> str:
    """``input`` for a call of the input pipeline, else where it stands in the graph."""
    if context.reach.in_input(module, module.code.calls[index].block) == "yes":
        return "input"
    placement = context.memoize("placement", partial(_placement, context))
    return context.memoize(("place", module.path, index), lambda: placement.place(module, index))


def _placement(context: Context) -> Placement:
    from npulint.assemble.placement import Placement  # few projects ask

    return Placement(context.flow)


def _holds(context: Context, module: Module, index: int, op: HostOp) -> bool:
    """Whether the argument that decides is as it must be."""
    if not op.argument:
        return True
    call = module.code.calls[index]
    value = argument(call, op.argument, op.position)
    if op.values == ("-",):
        return value is None and not any(key == "**" for key, _ in call.keywords)
    return value is not None and context.known(module, value, call).single in op.values
