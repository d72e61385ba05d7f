"""What is so of a PyTorch program as a whole: how it comes to the NPU, and in which precision it computes."""

from __future__ import annotations

from npulint.assemble.index import Index
from npulint.facts.model import Fact
from npulint.facts.values import PossibleValues

# What replaces the CUDA names, itself or by importing what does.
TRANSFER = (
    "torch_npu.contrib.transfer_to_npu",
    "deepspeed_npu",
    "megatron_npu",
    "ascendspeed",
    "mindspeed.megatron_adaptor",
)
_AGNOSTIC = frozenset(("accelerate", "pytorch_lightning", "lightning", "lightning_fabric"))
_RUNNERS = ("mmcv.runner", "mmcv.parallel", "mmcv.engine", "mmengine.runner")  # of mmcv other parts are mere tools
TORCH_LAUNCHERS = ("torchrun", "torch.distributed.run", "torch.distributed.launch")
_AUTOCAST = ("torch.autocast", "torch.cuda.amp.autocast", "torch.npu.amp.autocast")
_SCALERS = ("torch.cuda.amp.GradScaler", "torch.amp.GradScaler", "torch.npu.amp.GradScaler")


def describe(index: Index, release: str) -> dict[str, str]:
    """The attributes that PyTorch programs have beside those of all; `release` is that of PyTorch, or empty."""
    way = migration(index)
    return {
        "patched": "no",
        "mode": "",
        "precision": precision(index),
        "multi_device": multi_device(index),
        "tensorflow": "",
        "torch": release,
        "migration": way,
        "state": _state(index, way),
    }


def _state(index: Index, way: str) -> str:
    """Whether the NPU is named at all, and in which way; a port by hand with CUDA left in its training step is
    half done."""
    if way == "none":
        return "not_started"
    left = [f for f in index.of_kind("cuda") if f.get("breaks") == "yes"] if way == "manual" else []
    return "partial" if any(f.get("step") == "yes" and _surely_runs(f) for f in left) else "migrated"


def _surely_runs(fact: Fact) -> bool:
    """Whether code is reached whatever the options are, with no way around it."""
    if fact.get("beside_npu") == "yes" or fact.get("guarded") == "yes" or fact.get("in_test") == "yes":
        return False
    return bool(fact.get("active") == "yes" and fact.get("behind") == "none")


def migration(index: Index) -> str:
    """``transfer`` (CUDA names are patched), ``manual`` (NPU names are written), ``agnostic`` (a library chooses
    the device) or ``none``."""
    imports = [fact.name for fact in index.of_kind("import")]
    if any(name.startswith(TRANSFER) for name in imports) or _is_set(index, "TORCHTRANSFER_TO_NPU"):
        return "transfer"
    if any(name.startswith(("torch_npu", "torch.npu")) for name in imports) or _speaks_npu(index):
        return "manual"
    if any(name.partition(".")[0] in _AGNOSTIC or name.startswith(_RUNNERS) for name in imports) or any(
        fact.name.startswith("torch.accelerator.") for fact in index.of_kind("call")
    ):
        return "agnostic"
    return "none"


def _is_set(index: Index, variable: str) -> bool:
    values = [fact.get("value") for fact in index.named("environment", variable)]
    return any(str(v.single if isinstance(v, PossibleValues) else v) not in ("0", "") for v in values)


def _speaks_npu(index: Index) -> bool:
    """Whether anything names the NPU without an import of torch_npu: it may be imported elsewhere."""
    if index.of_kind("npu"):
        return True
    return any(
        fact.name.startswith(("torch.npu.", "torch_npu.")) for k in ("call", "mention") for fact in index.of_kind(k)
    )


def precision(index: Index) -> str:
    """mixed, fp16 (the model is cast by hand) or default (nothing said)."""
    if any(fact.name == "apex.amp.initialize" for fact in index.named("call", "initialize")):
        return "mixed"
    if any(fact.name in _AUTOCAST for fact in [*index.named("call", "autocast"), *index.named("mention", "autocast")]):
        return "mixed"
    if any(fact.name in _SCALERS for fact in index.named("call", "GradScaler")):
        return "mixed"
    return "fp16" if index.of_kind("half_model") else "default"


def multi_device(index: Index) -> str:
    """``yes`` if several processes surely train together: a launcher starts them, or the model is replicated
    whatever the options are; ``no`` if nothing in the program could."""
    facts = [f for f in index.of_kind("distribution") if f.get("stack") == "torch" and f.get("in_test") != "yes"]
    joined = [f for f in facts if f.get("what") == "init"]
    replicated = [f for f in facts if f.get("what") == "ddp"]
    if not joined and not replicated:
        return "no"
    if any(f.get("active") == "yes" for f in joined) and any(f.get("active") == "yes" for f in replicated):
        return "yes"
    return "yes" if replicated and any(_starts_many(fact) for fact in index.of_kind("launch")) else "unknown"


def _starts_many(launch: Fact) -> bool:
    """Whether a launcher of torch starts more than one process."""
    if launch.get("launcher") not in TORCH_LAUNCHERS:
        return False
    options = launch.attrs.get("launcher_options")
    processes = options.get("nproc_per_node", "1") if isinstance(options, dict) else "1"
    return processes != "1"
