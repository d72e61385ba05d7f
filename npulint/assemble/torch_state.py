"""What is so of a PyTorch program as a whole: how it comes to the NPU, and in which precision it computes."""

from __future__ import annotations

from npulint.assemble.index import Index
from npulint.facts.values import Known

_TRANSFER = "torch_npu.contrib.transfer_to_npu"
_AGNOSTIC = frozenset(("accelerate", "pytorch_lightning", "lightning", "lightning_fabric"))
_AUTOCAST = ("torch.autocast", "torch.cuda.amp.autocast", "torch.npu.amp.autocast")
_SCALERS = ("torch.cuda.amp.GradScaler", "torch.amp.GradScaler", "torch.npu.amp.GradScaler")


def migration(index: Index) -> str:
    """``transfer`` (CUDA names are patched), ``manual`` (NPU names are written), ``agnostic`` (a library chooses
    the device) or ``none``."""
    imports = [fact.name for fact in index.of_kind("import")]
    if any(name.startswith(_TRANSFER) for name in imports) or _is_set(index, "TORCH_TRANSFER_TO_NPU"):
        return "transfer"
    if any(name.startswith(("torch_npu", "torch.npu")) for name in imports) or _speaks_npu(index):
        return "manual"
    if any(name.partition(".")[0] in _AGNOSTIC for name in imports) or any(
        fact.name.startswith("torch.accelerator.") for fact in index.of_kind("call")
    ):
        return "agnostic"
    return "none"


def _is_set(index: Index, variable: str) -> bool:
    values = [fact.get("value") for fact in index.named("environment", variable)]
    return any(str(v.single if isinstance(v, Known) else v) not in ("0", "") for v in values)


def _speaks_npu(index: Index) -> bool:
    """Whether anything names the NPU without an import of torch_npu: it may be imported elsewhere."""
    if index.of_kind("npu"):
        return True
    return any(
        fact.name.startswith(("torch.npu.", "torch_npu.")) for k in ("call", "mention") for fact in index.of_kind(k)
    )


def precision(index: Index) -> str:
    """mixed, fp16, bf16 or default (nothing said)."""
    if index.named("call", "initialize") and any(
        f.name == "apex.amp.initialize" for f in index.named("call", "initialize")
    ):
        return "mixed"
    if any(fact.name in _AUTOCAST for fact in [*index.named("call", "autocast"), *index.named("mention", "autocast")]):
        return "mixed"
    if any(fact.name in _SCALERS for fact in index.named("call", "GradScaler")):
        return "mixed"
    return "default"
