"""Optimizers of PyTorch: stock ones, fused ones of torch_npu and apex, and their use."""

from __future__ import annotations

from collections.abc import Callable
from itertools import takewhile
from typing import Literal

from npulint.core.lazy_regex import lazy_compile
from npulint.core.suggest import closest_match
from npulint.facts.attributes import Flag, attribute, flag
from npulint.facts.kinds import fact_kind
from npulint.model.running.code_facts import AssignmentFact, CallFact
from npulint.model.running.guards import is_trial
from npulint.model.values.context import Context, once
from npulint.model.values.cursors import CallSite, Expr, Scope, assignment_at, module_scopes
from npulint.recognizers.registry import recognizes, recognizes_in_modules
from npulint.recognizers.torch.execution_order import exclusive
from npulint.recognizers.torch.optimizer_classes import (
    FUSED,
    PARAMETERS,
    Families,
    OptimizerFact,
    common_family,
    family,
    is_spelt_right,
    last_of,
    may_be,
)
from npulint.recognizers.torch.receiver_types import INITIALIZE, is_model, makers

_HINTS = frozenset(("foreach", "fused"))  # how a stock optimizer launches its kernels
_DROPPABLE = frozenset(("maximize", "capturable", "differentiable"))
_USES = frozenset(
    "zero_grad add_param_group step clip_grad_norm_fused_ clip_optimizer_grad_norm_fused "
    "clip_optimizer_grad_norm_fused_".split()
)
_NO_OPTIMIZER = lazy_compile(r"sched|warmup|profiler?\(?\)?\.step|prof\.step|env\.step")
_CONDITIONS = ("if", "else", "except", "try")
_PARTIAL = "functools.partial"


@fact_kind("optimizer")
class OptimizerCall(CallFact, OptimizerFact):
    """An optimizer is created, or its class is bound by ``functools.partial``; the name is its class."""

    via: Literal["call"] = "call"
    """How it is used: called."""

    @attribute
    def spelling(self) -> Literal["right", "wrong"]:
        """Whether the package of the class has a class of this name."""
        return "right" if is_spelt_right(self.name) else "wrong"

    @attribute
    def nearest(self) -> str:
        """The fused class with the most similar name, or nothing."""
        return closest_match(last_of(self.name), PARAMETERS)

    @attribute
    def extra(self) -> str:
        """The keywords that the fused class does not accept; for a stock optimizer those that change the result."""
        accepted = PARAMETERS[self.fused].split() if self.fused in PARAMETERS else None
        keywords = self.call.keywords.items() if accepted is not None else ()
        own = self.family in ("npu", "apex_npu")
        unknown = ((key, value) for key, value in keywords if key != "**" and key not in (accepted or ()))
        return ", ".join(key for key, value in unknown if own or not _may_be_dropped(key, value))

    @attribute
    def amp(self) -> Flag:
        """Whether apex's amp.initialize gets this optimizer; unknown if its class is one of several choices."""
        last = self.call.last
        if last != last_of(self.call.name) and all(
            import_record.alias != last for import_record in self.call.module.code.imports
        ):
            chosen = self.call.callee.assignments
            if len(chosen) != 1 or chosen[0].value.alternatives:
                return "unknown"
        passed = _passed_to_amp(self.call.context)
        return "yes" if self.call in passed else flag(None if None in passed else False)

    @attribute
    def scaler(self) -> bool:
        """Whether a gradient scaler steps it."""
        return self.call in _stepped_by_scalers(self.call.context)

    @attribute
    def called(self) -> Literal["dotted", "imported", "indirect"]:
        """How the class is named in the call: dotted, imported (by the imported name) or indirect."""
        written, last, module = self.call.written, last_of(self.name), self.call.module
        if "." in written:
            return "dotted" if written.rpartition(".")[2] == last else "indirect"
        imported = any(
            import_record.alias == written and import_record.name == last for import_record in module.code.imports
        )
        return "imported" if imported and written not in module.shadowed else "indirect"

    @attribute
    def replaced(self) -> bool:
        """Whether another branch of the same function creates a fused optimizer: this one is the alternative."""
        routine = self.call.scope.routine
        around = takewhile(lambda scope: scope is not routine, self.call.scope.ancestors)
        if all(scope.kind not in _CONDITIONS for scope in around):
            return False
        return any(FUSED.match(call.name) or (":" in call.name and "NpuFused" in call.name) for call in routine.calls)


def _may_be_dropped(key: str, value: Expr) -> bool:
    """Whether a stock optimizer computes the same result without a keyword."""
    values = value.known
    return key in _HINTS or (key in _DROPPABLE and values.exact and bool(values.values) and not any(values.values))


@recognizes(matching=lambda name: name == _PARTIAL or may_be(name))
def optimizers(call: CallSite) -> list[OptimizerCall]:
    """Created optimizers, except in modules that only test their own classes when started."""
    if call.name == _PARTIAL:
        bound = call.args[0].name if call.args else "?"
        return [OptimizerCall(call, bound)] if family(call.context, bound) is not None else []
    if family(call.context, call.name) is None or _is_partial(call.callee):
        return []
    return [] if is_trial(call.scope) else [OptimizerCall(call, call.name)]


def _is_partial(callee: Expr) -> bool:
    """Whether the callee is a ``functools.partial``, which is reported itself."""
    made = callee.sites if callee.written or callee.call is not None else []
    return any(call.name == _PARTIAL for call in made)


@once
def _passed_to_amp(context: Context) -> set[CallSite | None]:
    """The constructors of the optimizers passed to amp.initialize; includes None if one is unknown."""
    calls: set[CallSite | None] = set()
    for call in _calls_where(context, "initialize", lambda name: name == INITIALIZE):
        value = call.argument("optimizers", 1)
        if value is not None:
            made = makers(value)
            calls.update(
                constructor
                for constructor in made
                if not (constructor.module is call.module and exclusive(constructor.scope, call.scope))
            )
            if not any(family(context, constructor.name) for constructor in made):
                calls.add(None)
    return calls


@once
def _stepped_by_scalers(context: Context) -> set[CallSite]:
    """The constructors of the optimizers that a gradient scaler steps."""
    steps = _calls_where(context, "step", lambda name: "scaler" in name.lower())
    return {made for call in steps if call.args for made in makers(call.args[0])}


def _calls_where(context: Context, last: str, matches: Callable[[str], bool]) -> list[CallSite]:
    """The calls of a project whose callee, as written, ends with `last`, and whose canonical name satisfies
    `matches`."""
    return [call for module in module_scopes(context) for call in module.calls_named(last) if matches(call.name)]


# -- uses -------------------------------------------------------------------------------------------


@recognizes(matching=lambda name: name.rpartition(".")[2] in _USES and _NO_OPTIMIZER.search(name) is None)
@fact_kind("optimizer_use")
class OptimizerUse(CallFact):
    """A method of an optimizer that fused classes change is called (possibly on another object: see `family` and
    `model`); the name is the method."""

    def __post_init__(self) -> None:
        self.name = self.name.rpartition(".")[2]

    @attribute
    def family(self) -> Families:
        """The family of the optimizer; mixed if there may be several."""
        receiver = self.call.receiver
        if receiver is None or not _names_fused(self.call.context):
            return "unknown"
        return common_family(makers(receiver))

    @attribute
    def closure(self) -> Flag:
        """Whether ``step`` gets a closure."""
        value = self.call.argument("closure", 0) if self.name == "step" else None
        if value is None or value.is_literal:
            return "no"
        if value.functions:
            return "yes"
        return flag(None if "closure" in value.written or self.call.has_keyword("closure") else False)

    @attribute
    def model(self) -> bool:
        """Whether the receiver is a model."""
        return is_model(self.call.receiver)


@once
def _names_fused(context: Context) -> bool:
    """Whether the project names any fused optimizer of the NPU."""
    for module in context.project.modules.values():
        code = module.code
        names = [import_record.name for import_record in code.imports] + [name_use.name for name_use in code.name_uses]
        if any("NpuFused" in name for name in names) or module.calls_where(lambda last: "NpuFused" in last):
            return True
    return False


@fact_kind("optimizer_use")
class ReplacedGradient(AssignmentFact):
    """A gradient is replaced by an assignment (``p.grad = None``); the name is ``grad``."""


@recognizes_in_modules
def replaced_gradients(module: Scope) -> list[ReplacedGradient]:
    """``p.grad = None``: afterwards the gradient is not part of a fused optimizer's combined tensor."""
    return [
        ReplacedGradient(assignment_at(module.context, module.module, record), "grad")
        for target, records in module.module.dotted.items()
        if target.endswith((".grad", ".grad.data")) and not target.startswith("self.grad")
        for record in records
    ]
