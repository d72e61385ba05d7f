"""Optimizer classes: their families, and their fused counterparts for the NPU."""

from __future__ import annotations

from typing import Literal

from npulint.core.lazy_regex import lazy_compile
from npulint.facts.attributes import attribute
from npulint.model.running.adaptors import patched
from npulint.model.running.code_facts import CodeFact
from npulint.model.values.context import Context
from npulint.model.values.cursors import CallSite, scope_named

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
    found = {family(call.context, call.name) for call in constructors}
    if not found or None in found:
        return "unknown"
    return found.pop() or "unknown" if len(found) == 1 else "mixed"


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
