"""Operators of torch_npu that are deprecated for removal, however they are spelled."""

from __future__ import annotations

from npulint.assemble.code_facts import CallFact
from npulint.assemble.cursors import CallSite
from npulint.assemble.recognizers.registry import recognizes
from npulint.data.libraries import Removal, retired_op
from npulint.facts.kinds import fact_kind

_ROOTS = ("torch_npu.", "torch.npu_", "torch.ops.npu.", "torch.one_", "torch.copy_memory_", "torch.empty_with_format")


@fact_kind("retired_op")
class RetiredOperator(CallFact):
    """An operator of torch_npu that is to be removed is called; the name is its canonical name."""

    status: Removal
    """Whether its removal is planned, or its kernel is unmaintained (without fixes)."""
    substitute: str
    """What replaces it, or nothing."""


@recognizes(matching=lambda name: name.startswith(_ROOTS) and "()" not in name)
def retired_operators(call: CallSite) -> list[RetiredOperator]:
    """The calls of operators that are recorded as retired."""
    known = retired_op(call.name.rpartition(".")[2])
    return [] if known is None else [RetiredOperator(call, call.name, known.status, known.substitute)]
