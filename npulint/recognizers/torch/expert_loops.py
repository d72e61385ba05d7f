"""Mixtures of experts whose experts are called one after another in a loop."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Literal

from npulint.core.lazy_regex import lazy_compile
from npulint.facts.kinds import fact_kind
from npulint.facts.model import Span
from npulint.model.running.code_facts import PlaceFact
from npulint.model.values.cursors import CallSite, Expr, Scope
from npulint.recognizers.registry import recognizes_in_modules

Selection = Literal["indices", "mask"]
_EXPERTS = lazy_compile(r"(?i)expert|(?:^|[._])moe|mixture")
_INDICES = frozenset(("nonzero", "argwhere"))


@fact_kind("expert_loop")
class ExpertLoop(PlaceFact):
    """A loop goes over experts and gives each the tokens that were routed to it; the name is how they are selected:
    indices (``torch.where``, ``nonzero``) or a boolean mask."""


@recognizes_in_modules
def expert_loops(module: Scope) -> Iterator[ExpertLoop]:
    """The loops over experts in a file."""
    called: dict[Scope | None, list[CallSite]] = defaultdict(list)
    for call in module.all_calls:
        called[call.scope.loop].append(call)
    for loop in module.blocks_of("loop"):
        if loop.function is None or loop not in called:
            continue
        calls, assigned = called[loop], _assigned_in(loop)
        experts = [call for call in calls if _calls_expert(call, loop, assigned)]
        how = _selection(calls, experts) if experts else None
        if how is not None:
            yield ExpertLoop(loop, Span.at(loop.record.line), how)


def _assigned_in(loop: Scope) -> frozenset[str]:
    """The last segments of the names that a loop assigns."""
    module = loop.module
    records = module.assignments_in.get(module.function_of(loop.block), ())
    return frozenset(
        [record.target.rpartition(".")[2] for record in records if module.loop_of(record.block) == loop.block]
    )


def _calls_expert(call: CallSite, loop: Scope, assigned: frozenset[str]) -> bool:
    """Whether a call is one of an expert that the loop chooses; `assigned` are the names that it assigns."""
    if not call.arguments or (call.written and call.last not in assigned):
        return False
    callee = call.callee
    chosen = (
        [callee]
        if not callee.written
        else [assignment.value for assignment in callee.assignments if assignment.scope.loop == loop]
    )
    for value in chosen:
        holder = value.subscript[0] if value.subscript is not None else value
        if any(_EXPERTS.search(part.written) for part in holder.mentioned if part.written):
            return True
        if value.subscript is not None and holder.written.startswith("self."):
            return _EXPERTS.search(loop.qualname) is not None
    return False


def _selection(calls: list[CallSite], experts: list[CallSite]) -> Selection | None:
    """How a loop selects the tokens of its experts; None if it does not."""
    for call in calls:
        if call.last in _INDICES or (call.name == "torch.where" and len(call.arguments) == 1):
            return "indices"
    given = (part.subscript for call in experts for value in call.arguments for part in value.mentioned)
    return "mask" if any(_compares(key) for _, key in filter(None, given)) else None


def _compares(key: Expr) -> bool:
    """Whether a subscript is computed from a comparison."""
    values = [assignment.value for assignment in key.assignments] if key.written else [key]
    return any(part.operator == "==" for value in values for part in (*value.mentioned, *_receivers(value)))


def _receivers(value: Expr) -> Iterator[Expr]:
    """What the methods in a chain of calls are called on."""
    call = value.call
    while call is not None and call.receiver is not None:
        yield call.receiver
        call = call.receiver.call


__all__ = ["ExpertLoop", "expert_loops"]
