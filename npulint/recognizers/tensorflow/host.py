"""Operations that the adapter leaves on the host, and where in the graph they are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from npulint.data.host_ops import Family, HostOp, Residence, host_ops
from npulint.facts.attributes import attribute
from npulint.facts.kinds import fact_kind
from npulint.model.running.code_facts import CallFact
from npulint.model.running.surroundings import surroundings_of
from npulint.model.values.context import Context, once
from npulint.model.values.cursors import CallSite
from npulint.recognizers.registry import recognizes

if TYPE_CHECKING:
    from npulint.model.running.placement import Placement

Placed = Literal["input", "path", "edge", "unknown"]


@fact_kind("host_op")
class HostOperation(CallFact):
    """An interface builds operators that the adapter leaves on the host; the name is its canonical name."""

    where: Residence
    """When they stay there: always, with an older operator package, or only in mixed computing."""
    ops: str
    """The types of the operators."""
    family: Family
    """The operator family."""

    @attribute
    def place(self) -> Placed:
        """Where it stands: in the input pipeline, on the path between layers and loss, or at the edge (only inputs
        before it, or only what is shown or fetched behind it)."""
        if self.family == "fused_cell":  # created once, used by the loop around it
            return "path" if self.active == "yes" else "unknown"
        return placed(self.call)

    @attribute
    def feeds_model(self) -> bool:
        """Whether layers, losses or optimizers certainly use its result, outside the input pipeline."""
        return feeds_model(self.call)


@recognizes(matching=lambda name: name in host_ops())
def host_operations(call: CallSite) -> list[HostOperation]:
    """A fact for each recorded call: the first record whose argument condition holds."""
    name = call.name
    fitting = [op for op in host_ops()[name] if _fits(call, op)]
    return [HostOperation(call, name, op.where, op.ops, op.family) for op in fitting[:1]]


@once
def placed(call: CallSite) -> Placed:
    """``input`` for a call in the input pipeline, else the placement of the call."""
    if surroundings_of(call.scope).in_input == "yes":
        return "input"
    return _placement(call.context).place(call)


@once
def feeds_model(call: CallSite) -> bool:
    """Whether layers, losses or optimizers certainly use the result of a call, outside the input pipeline."""
    return placed(call) != "input" and _placement(call.context).feeds_model(call)


@once
def measures(call: CallSite) -> bool:
    """Whether a call is part of a metric, so that nothing is trained by its result."""
    return _placement(call.context).measures(call)


@once
def _placement(context: Context) -> Placement:
    from npulint.model.running.placement import Placement  # rarely needed

    return Placement(context)


def _fits(call: CallSite, op: HostOp) -> bool:
    """Whether the argument condition of a record holds."""
    if not op.argument:
        return True
    value = call.argument(op.argument, op.position)
    if op.values == ("-",):
        return value is None and not call.has_unknown_options
    return value is not None and value.single in op.values
