"""Optimizer classes that are passed on instead of called: in a table, as an argument, as a base class."""

from __future__ import annotations

from typing import Literal

from npulint.facts.attributes import attribute
from npulint.facts.code import NameUse
from npulint.facts.kinds import fact_kind
from npulint.facts.model import Span
from npulint.model.running.code_facts import PlaceFact
from npulint.model.values.cursors import CallSite, Expr, Scope
from npulint.model.values.walker import walker
from npulint.recognizers.registry import recognizes_in_modules
from npulint.recognizers.torch.optimizer_classes import FUSED, TABLED, OptimizerFact, family, last_of

_INSPECTING = frozenset(
    "isinstance issubclass hasattr type print callable signature getfullargspec getsource repr str id".split()
)
_NO_OPTIMIZERS = ("object", "Module", "Dataset")


@fact_kind("optimizer")
class NamedOptimizer(PlaceFact, OptimizerFact):
    """An optimizer class is named but not called, or a class is derived from it; the name is that of the optimizer
    class."""

    via: Literal["name", "subclass"] = "name"
    """How it is used: named, or as a base class."""
    extra: str = ""
    """Nothing, since only calls have keywords."""
    called: Literal["indirect"] = "indirect"
    """How the class is named where it is called: differently from here."""

    @attribute
    def replaced(self) -> bool:
        """Whether the module also names a fused class: a table with both."""
        if self.via == "subclass":
            return False
        used = (name_use for name_use in self.scope.module.code.name_uses if "Npu" in name_use.name)
        return any(FUSED.match(self.scope.used(name_use).name) for name_use in used)


@recognizes_in_modules
def named_optimizers(module: Scope) -> list[NamedOptimizer]:
    """The optimizer classes that are only named, unless the code also calls them by that name."""
    found = _named(module)
    if not found:
        return []
    handed = _handed_on(module)
    assigned = {written for assignment in module.assignments if (written := assignment.value.written)}
    calls = module.all_calls
    renamed = _called_by_other_names(calls) if assigned else set()
    lines = {(call.name, call.line) for call in calls}
    return [
        NamedOptimizer(module.at(record.block), Span.of(record), name)
        for name, record in found
        if (name, record.line) not in lines
        and (record.name in handed or (record.name in assigned and name not in renamed))
    ]


def _named(module: Scope) -> list[tuple[str, NameUse]]:
    """The names in a module that refer to optimizer classes, with their canonical names."""
    found = []
    for record in module.module.code.name_uses:
        if last_of(record.name) in TABLED or "." not in record.name:
            name = module.used(record).name
            if last_of(name) in TABLED and "()" not in name and family(module.context, name) is not None:
                found.append((name, record))
    return found


def _called_by_other_names(calls: list[CallSite]) -> set[str]:
    """The callees with another name than their own; another fact reports such calls."""
    return {call.name for call in calls if call.written and last_of(call.written) != last_of(call.name)}


def _handed_on(module: Scope) -> set[str]:
    """Names in a table or list, returned names, and arguments of calls that may call them."""
    values = [
        module.at(return_record.block).expr(return_record.value, return_record.line)
        for return_record in module.module.code.returns
    ]
    for assignment in module.assignments:
        if not assignment.value.written or assignment.target.endswith("]"):
            values.append(assignment.value)
    for call in module.all_calls:
        if call.last not in _INSPECTING and call.name != "functools.partial":
            values += call.arguments
    for record in module.module.blocks:
        values += [module.expr(value, record.line) for value in record.defaults]
    return {name for value in values for name in _names_in(value)}


@walker(depth=5, otherwise=list)
def _names_in(value: Expr) -> list[str]:
    """The names that an expression may evaluate to or contain in a display."""
    if value.written:
        return [value.written]
    parts = [*value.items, *(part for _, part in value.entries), *value.operands("if", "or")]
    return [name for part in parts for name in _names_in(part)]


@recognizes_in_modules
def derived_optimizers(module: Scope) -> list[NamedOptimizer]:
    """Project classes derived from a stock optimizer, except those with their own ``step``, which compute something
    else."""
    optimizers: list[NamedOptimizer] = []
    for block, record in enumerate(module.module.blocks):
        if record.kind != "class" or not record.bases or module.at(block).definition("step") is not None:
            continue
        for base in module.at(block).bases:
            if base.written and last_of(base.written) not in _NO_OPTIMIZERS:
                name = base.name
                if family(module.context, name) in ("stock", "apex_gpu"):
                    span = Span.at(record.line)
                    optimizers.append(NamedOptimizer(base.scope, span, name, "subclass"))
    return optimizers
