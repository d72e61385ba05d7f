"""Classes of torch.optim that are chosen by a computed name."""

from __future__ import annotations

from npulint.facts.attributes import attribute
from npulint.facts.kinds import fact_kind
from npulint.model.running.code_facts import CallFact
from npulint.model.running.guards import is_trial
from npulint.model.values.context import once_per_file
from npulint.model.values.cursors import CallSite, Scope
from npulint.recognizers.registry import recognizes

_HOME = "torch.optim"
_NO_PARAMETERS = frozenset(("**", "foreach", "fused", "maximize", "capturable", "differentiable"))


@fact_kind("optimizer_lookup")
class OptimizerLookup(CallFact):
    """A class of torch.optim is looked up by a computed name, ``getattr(torch.optim, name)``; the name is the module
    that it is taken from."""

    @attribute
    def fusable(self) -> bool:
        """Whether the class is only called, with arguments that the fused classes of torch_npu take as well."""
        calls = _created(self.call)
        return bool(calls) and all(map(_is_accepted, calls))

    @attribute
    def replaced(self) -> bool:
        """Whether the function around it also looks classes of torch_npu up, or names a fused one."""
        routine = self.call.scope.routine
        names = (part.name for call in routine.calls for part in (call.callee, *call.args))
        return any("torch_npu" in name or "NpuFused" in name for name in names)


@recognizes(matching=lambda name: name == "getattr")
def optimizer_lookups(call: CallSite) -> list[OptimizerLookup]:
    """Lookups in torch.optim itself without a default, by a name that is not written there."""
    if len(call.args) != 2 or call.args[0].name != _HOME or call.args[1].is_literal or is_trial(call.scope):
        return []
    return [OptimizerLookup(call, _HOME)]


def _created(call: CallSite) -> list[CallSite]:
    """The calls of what a lookup gives, in its file; none if its function also hands the class out."""
    function = call.scope.function
    if function is not None and any(call in expr.sites for expr in function.returns):
        return []
    return [indirect_call for indirect_call in _indirect_calls(call.scope) if call in indirect_call.callee.sites]


@once_per_file
def _indirect_calls(module: Scope) -> list[CallSite]:
    """The calls of a file whose callee is what another call gives."""
    return [call for call in module.all_calls if call.callee.call is not None or call.callee.assignments]


def _is_accepted(call: CallSite) -> bool:
    given = call.has_keyword("lr") or len(call.args) > 1
    return given and not any(key in _NO_PARAMETERS for key in call.keywords)
