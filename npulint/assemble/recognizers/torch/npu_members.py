"""Functions of ``torch.npu`` that no release of torch_npu has: misspelt ones."""

from __future__ import annotations

from functools import partial

from npulint.assemble.context import Context
from npulint.assemble.module import Module
from npulint.data.torch_names import npu_members
from npulint.facts.code import Const
from npulint.facts.model import Fact

_HOME = "torch.npu."
_ALIKE = 0.8  # part of their letters that two spellings of one name share; less may be the name of a newer release


def matches(name: str) -> bool:
    """Calls of a member that is not known."""
    return name.startswith(_HOME) and _member(name) not in npu_members() and not _member(name).startswith("_")


def facts_for_call(context: Context, module: Module, index: int, name: str) -> list[Fact]:
    """An ``npu_member`` fact, unless the project itself puts the member there, or asks whether it is there."""
    member = _member(name)
    if _is_set(context, member) or _is_asked_for(module, member):
        return []
    return [context.call_fact("npu_member", _HOME + member, module, index, nearest=partial(_nearest, member))]


def facts_for_module(context: Context, module: Module) -> list[Fact]:
    """No facts."""
    return []


def _member(name: str) -> str:
    return name.removeprefix(_HOME).partition("(")[0].partition("[")[0].partition(".")[0]


def _is_set(context: Context, member: str) -> bool:
    spellings = [f"{home}.npu.{member}" for home in ("torch", "torch_npu")]
    return any(text in module.dotted for module in context.project.modules.values() for text in spellings)


def _is_asked_for(module: Module, member: str) -> bool:
    calls = (module.code.calls[index] for index in module.calls_of("hasattr", "getattr"))
    return any(Const(member) in call.args for call in calls)


def _nearest(member: str) -> str:
    from difflib import get_close_matches  # only mistakes pay for it

    close = get_close_matches(member, sorted(npu_members()), n=1, cutoff=_ALIKE)
    return close[0] if close else ""
