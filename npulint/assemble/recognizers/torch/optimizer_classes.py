"""The optimizer classes that matter on the NPU: which family one belongs to and which fused class stands for it."""

from __future__ import annotations

from npulint.assemble.context import Context
from npulint.assemble.flow import Site
from npulint.lazy_regex import lazy_compile

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
    """Whether a canonical name may be that of a constructor that `family` knows."""
    last = name.rpartition(".")[2]
    if last in TABLED or "NpuFused" in last:
        return True
    return ":" in name and name.rpartition(":")[2] in _OTHERS


def family(context: Context, name: str) -> str | None:
    """stock, npu, apex_npu, apex_gpu or other for the canonical name of a constructor; None for anything else."""
    head, _, last = name.rpartition(".")
    if FUSED.match(name):
        return "apex_npu" if head == "apex.optimizers" else "npu"
    if head == "torch.optim":
        return "stock" if last in _STOCK else None
    if head == "apex.optimizers":
        return "apex_gpu" if last in _CUDA_FUSED else None
    if name.startswith(_OTHER_ROOTS):
        return "other" if last in _OTHERS or (last == "AdamW" and name.startswith("transformers.")) else None
    return _own_family(context, name) if ":" in name else None


def _own_family(context: Context, name: str) -> str | None:
    last = name.rpartition(":")[2]
    target = context.names.function(name) if last in _OTHERS else None
    if target is None or target[0].blocks[target[1]].kind != "class":
        return None
    home, block = target
    record = home.blocks[block]
    bases = [context.names.of_value(home, base, record.parent, record.line) for base in record.bases]
    return "other" if any(base.rpartition(".")[2] == "Optimizer" for base in bases) else None


def counterpart(name: str) -> str:
    """The fused class that stands for an optimizer class, or nothing."""
    last = last_of(name)
    if last in PARAMETERS:
        return last
    if last in _STOCK:
        return f"NpuFused{last}"
    return _OTHERS.get(last) or _CUDA_FUSED.get(last, "")


def last_of(name: str) -> str:
    """The last segment of a canonical name."""
    return name.replace(":", ".").rpartition(".")[2]


def spelling(name: str) -> str:
    """right or wrong: whether the package that a class is taken from has one of this name."""
    last = last_of(name)
    if not name.startswith(("torch_npu.optim.", "apex.optimizers.")):
        return "right"
    return "right" if last in PARAMETERS or last in _APEX or last in _BASES else "wrong"


def families(context: Context, sites: list[Site]) -> str:
    """The common family of several constructors, ``mixed``, or ``unknown``."""
    kinds = {family(context, context.names.of_call(home, at)) for home, at in sites}
    if not kinds or None in kinds:
        return "unknown"
    return str(kinds.pop()) if len(kinds) == 1 else "mixed"
