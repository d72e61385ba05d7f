"""Optimizer classes: their families, and their fused counterparts for the NPU."""

from __future__ import annotations

from typing import Literal

from npulint.core.lazy_regex import lazy_compile
from npulint.facts.attributes import attribute
from npulint.facts.code import NameUse
from npulint.facts.kinds import fact_kind
from npulint.facts.model import Span
from npulint.model.running.adaptors import patched
from npulint.model.running.code_facts import CodeFact, PlaceFact
from npulint.model.values.context import Context
from npulint.model.values.cursors import CallSite, Expr, Scope, scope_named
from npulint.model.values.walker import walker
from npulint.recognizers.registry import recognizes_in_modules

Family = Literal["stock", "npu", "apex_npu", "apex_gpu", "other"]
Families = Literal[Family, "mixed", "unknown"]

_ADAM = "params lr betas eps weight_decay amsgrad"
# The fused classes that torch_npu.optim and apex.optimizers of Ascend have, with their parameters.
PARAMETERS = {
    "NpuFusedSGD": "params lr momentum dampening weight_decay nesterov",
    "NpuFusedAdam": _ADAM,
    "NpuFusedAdamW": _ADAM,
    "NpuFusedRMSprop": "params lr alpha eps weight_decay momentum centered",
    "NpuFusedAdadelta": "params lr rho eps weight_decay",
    "NpuFusedLamb": "params lr betas eps weight_decay adam use_global_grad_norm",
    "NpuFusedBertAdam": "params lr warmup t_total schedule b1 b2 e weight_decay max_grad_norm",
    "NpuFusedAdamP": "params lr betas eps weight_decay delta wd_ratio nesterov",
    "NpuFusedRMSpropTF": "params lr alpha eps weight_decay momentum centered decoupled_decay lr_in_momentum",
}
_STOCK = ("SGD", "Adam", "AdamW", "RMSprop", "Adadelta")
# Optimizers of other packages and of projects that have a fused counterpart, by their class names.
_OTHERS = {
    "Lamb": "NpuFusedLamb",
    "LAMB": "NpuFusedLamb",
    "JITLamb": "NpuFusedLamb",
    "BertAdam": "NpuFusedBertAdam",
    "AdamP": "NpuFusedAdamP",
    "RMSpropTF": "NpuFusedRMSpropTF",
}
_CUDA_FUSED = {"FusedSGD": "NpuFusedSGD", "FusedAdam": "NpuFusedAdamW", "FusedLAMB": "NpuFusedLamb"}
_APEX = frozenset((*_CUDA_FUSED, "FusedNovoGrad", "FusedAdagrad", "FusedMixedPrecisionLamb"))
_BASES = frozenset(("NpuFusedOptimizerBase",))
_OTHER_ROOTS = (
    "timm.",
    "transformers.",
    "adamp.",
    "torch_optimizer.",
    "pytorch_pretrained_bert.",
    "pytorch_transformers.",
)
TABLED = frozenset(name for names in (_STOCK, _OTHERS, _CUDA_FUSED) for name in names)
FUSED = lazy_compile(r"^(?:torch_npu\.optim|apex\.optimizers)\.(?:Npu|NPU|npu)_?[Ff]used\w*$")


def may_be(name: str) -> bool:
    """Whether a canonical name may be a constructor that `family` knows."""
    last = name.rpartition(".")[2]
    if last in TABLED or "NpuFused" in last:
        return True
    return ":" in name and name.rpartition(":")[2] in _OTHERS


def family(context: Context, name: str) -> Family | None:
    """The family of a constructor by its canonical name; None for anything else."""
    head, _, last = name.rpartition(".")
    if FUSED.match(name):
        return "apex_npu" if head == "apex.optimizers" else "npu"
    if head == "torch.optim":
        return "stock" if last in _STOCK else None
    if head == "apex.optimizers":
        return "apex_gpu" if last in _CUDA_FUSED and patched(context, name) is None else None
    if name.startswith(_OTHER_ROOTS):
        return "other" if last in _OTHERS or (last == "AdamW" and name.startswith("transformers.")) else None
    return "other" if ":" in name and _is_own_optimizer(context, name) else None


def _is_own_optimizer(context: Context, name: str) -> bool:
    """Whether a project class is an optimizer with a fused counterpart."""
    owner = scope_named(context, name) if name.rpartition(":")[2] in _OTHERS else None
    if owner is None or owner.kind != "class":
        return False
    return any(base.name.rpartition(".")[2] == "Optimizer" for base in owner.bases)


def counterpart(name: str) -> str:
    """The fused class that replaces an optimizer class, or nothing."""
    last = last_of(name)
    if last in PARAMETERS:
        return last
    if last in _STOCK:
        return f"NpuFused{last}"
    return _OTHERS.get(last) or _CUDA_FUSED.get(last, "")


def last_of(name: str) -> str:
    """The last segment of a canonical name."""
    return name.replace(":", ".").rpartition(".")[2]


def is_spelt_right(name: str) -> bool:
    """Whether the package has a class of this name."""
    last = last_of(name)
    if not name.startswith(("torch_npu.optim.", "apex.optimizers.")):
        return True
    return last in PARAMETERS or last in _APEX or last in _BASES


def common_family(constructors: list[CallSite]) -> Families:
    """The family of several constructors, ``mixed``, or ``unknown``."""
    families = {family(call.context, call.name) for call in constructors}
    if not families or None in families:
        return "unknown"
    return families.pop() or "unknown" if len(families) == 1 else "mixed"


class OptimizerFact(CodeFact):
    """The attributes of facts about an optimizer class, by its canonical name."""

    @attribute
    def what(self) -> Literal["torch"]:
        """The framework of the optimizer: PyTorch."""
        return "torch"

    @attribute
    def family(self) -> Family | None:
        """The package of the optimizer: stock (``torch.optim``), npu (``torch_npu.optim``), apex_npu (Ascend's apex),
        apex_gpu (apex for CUDA), or other (another package, or the project)."""
        return family(self.scope.context, self.name)

    @attribute
    def fused(self) -> str:
        """The fused class of Ascend that replaces it, or nothing."""
        return counterpart(self.name)


# Optimizer classes that are passed on instead of called: in a table, as an argument, as a base class.

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
    uses = _named(module)
    if not uses:
        return []
    handed = _handed_on(module)
    assigned = {written for assignment in module.assignments if (written := assignment.value.written)}
    calls = module.all_calls
    renamed = _called_by_other_names(calls) if assigned else set()
    lines = {(call.name, call.line) for call in calls}
    return [
        NamedOptimizer(module.at(record.block), Span.of(record), name)
        for name, record in uses
        if (name, record.line) not in lines
        and (record.name in handed or (record.name in assigned and name not in renamed))
    ]


def _named(module: Scope) -> list[tuple[str, NameUse]]:
    """The names in a module that refer to optimizer classes, with their canonical names."""
    uses = []
    for record in module.module.code.name_uses:
        if last_of(record.name) in TABLED or "." not in record.name:
            name = module.used(record).name
            if last_of(name) in TABLED and "()" not in name and family(module.context, name) is not None:
                uses.append((name, record))
    return uses


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
