"""Operators of torch_npu that are to be removed, however they are spelt."""

from __future__ import annotations

from npulint.assemble.context import Context
from npulint.assemble.module import Module
from npulint.data.libraries import retired_op
from npulint.facts.model import Fact

_ROOTS = ("torch_npu.", "torch.npu_", "torch.ops.npu.", "torch.one_", "torch.copy_memory_", "torch.empty_with_format")


def matches(name: str) -> bool:
    """Calls of retired operators."""
    if not name.startswith(_ROOTS):
        return False
    return "()" not in name and retired_op(name.rpartition(".")[2]) is not None


def facts_for_call(context: Context, module: Module, index: int, name: str) -> list[Fact]:
    """A ``retired_op`` fact."""
    known = retired_op(name.rpartition(".")[2])
    if known is None:
        return []
    return [context.call_fact("retired_op", name, module, index, status=known.status, substitute=known.substitute)]


def facts_for_module(context: Context, module: Module) -> list[Fact]:
    """No facts."""
    return []
