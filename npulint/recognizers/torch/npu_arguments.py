"""Calls of torch_npu's operators whose arguments do not fit their parameters."""

from __future__ import annotations

from npulint.data.npu_signatures import Signature, signature
from npulint.facts.attributes import attribute
from npulint.facts.kinds import fact_kind
from npulint.model.running.code_facts import CallFact
from npulint.model.values.cursors import CallSite
from npulint.recognizers.registry import recognizes

_ROOTS = ("torch_npu.npu_", "torch.ops.npu.npu_", "torch.npu_")


@fact_kind("npu_arguments")
class WrongArguments(CallFact):
    """An operator of torch_npu gets arguments that its parameters do not fit; the name is the operator."""

    _signature: Signature

    @attribute
    def unknown(self) -> str:
        """The first keyword that no parameter has; empty if there is none."""
        return next((key for key in self.call.keywords if key != "**" and not self._signature.takes(key)), "")

    @attribute
    def meant(self) -> str:
        """The parameter that the unknown keyword stands for; empty if that is unclear."""
        return self._signature.meant(self.unknown) if self.unknown else ""

    @attribute
    def missing(self) -> str:
        """The first parameter without a default that is not given; empty if there is none."""
        return _missing(self.call, self._signature)

    @attribute
    def surplus(self) -> str:
        """The first keyword-only parameter among those that are given by position; empty if there is none."""
        return _surplus(self.call, self._signature)


@recognizes(matching=lambda name: name.startswith(_ROOTS) and "()" not in name)
def wrong_arguments(call: CallSite) -> list[WrongArguments]:
    """The calls of recorded operators that raise TypeError."""
    operator = call.name.rpartition(".")[2]
    expected = signature(operator)
    if expected is None:
        return []
    fact = WrongArguments(call, operator, expected)
    return [fact] if fact.unknown or fact.missing or fact.surplus else []


def _missing(call: CallSite, expected: Signature) -> str:
    if call.starred:
        return ""
    given = {*expected.positional[: len(call.args)], *call.keywords, *(name for name, _ in call.spread)}
    if "input" in given:
        given.add("self")
    return next(
        (name for name in (*expected.positional, *expected.keywords) if name in expected.needed and name not in given),
        "",
    )


def _surplus(call: CallSite, expected: Signature) -> str:
    if call.starred or len(call.args) <= len(expected.positional):
        return ""
    return expected.keywords[0] if expected.keywords else "*"


__all__ = ["WrongArguments", "wrong_arguments"]
