"""Members of torch_npu: misspelled functions, which no release of it has, and operators that are to be removed."""

from __future__ import annotations

from npulint.data.libraries import Removal, retired_op
from npulint.data.names import npu_members
from npulint.facts.attributes import attribute
from npulint.facts.kinds import fact_kind
from npulint.model.running.code_facts import CallFact
from npulint.model.values.cursors import CallSite, module_scopes
from npulint.recognizers.registry import recognizes

_ROOTS = ("torch_npu.", "torch.npu_", "torch.ops.npu.", "torch.one_", "torch.copy_memory_", "torch.empty_with_format")
_HOME = "torch.npu."
_ALIKE = 0.8  # minimum similarity of a misspelling; below, it may be a name of a newer release


@fact_kind("npu_member")
class UnknownNpuMember(CallFact):
    """A member of ``torch.npu`` that no release of torch_npu has is called; the name is ``torch.npu.<member>``."""

    @attribute
    def nearest(self) -> str:
        """The member with the most similar name, or nothing."""
        from difflib import get_close_matches  # expensive, and only needed for wrong names

        close = get_close_matches(_member(self.name), sorted(npu_members()), n=1, cutoff=_ALIKE)
        return close[0] if close else ""


def _is_unknown(name: str) -> bool:
    return name.startswith(_HOME) and _member(name) not in npu_members() and not _member(name).startswith("_")


@recognizes(matching=_is_unknown)
def unknown_members(call: CallSite) -> list[UnknownNpuMember]:
    """Calls of an unknown member, unless the project defines it or tests whether it exists."""
    member = _member(call.name)
    return [] if _is_set(call, member) or _is_tested(call, member) else [UnknownNpuMember(call, _HOME + member)]


def _member(name: str) -> str:
    return name.removeprefix(_HOME).partition("(")[0].partition("[")[0].partition(".")[0]


def _is_set(call: CallSite, member: str) -> bool:
    targets = [f"{home}.npu.{member}" for home in ("torch", "torch_npu")]
    return any(
        target in module_scope.module.dotted for module_scope in module_scopes(call.context) for target in targets
    )


def _is_tested(call: CallSite, member: str) -> bool:
    tests = call.scope.calls_named("hasattr", "getattr")
    return any(value.text == member for test in tests for value in test.args)


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
    retired = retired_op(call.name.rpartition(".")[2])
    return [] if retired is None else [RetiredOperator(call, call.name, retired.status, retired.substitute)]
