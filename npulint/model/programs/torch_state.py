"""Attributes of a PyTorch program as a whole: how it was migrated to the NPU, and its precision."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Literal

from npulint.core.lazy_regex import lazy_compile
from npulint.data.frameworks import adaptors, chooses_device, is_trainer
from npulint.facts.attributes import Flag
from npulint.facts.model import Fact
from npulint.facts.values import PossibleValues
from npulint.model.code.index import Index
from npulint.model.programs.program_fact import Migration, MigrationState, ProgramFact
from npulint.model.programs.torch_precision import precision_of
from npulint.read.launcher_facts import LaunchFact

TORCH_LAUNCHERS = ("torchrun", "torch.distributed.run", "torch.distributed.launch")
_ASKING = ("torch.accelerator.", "torch._utils._get_available_device_type", "torch._C._get_accelerator")
_DEEPSPEED = "deepspeed.accelerator.get_accelerator()."
_PLACING = lazy_compile(r"^(?:set_device|(?:current_)?device(?:_name)?|on_device|\w+Tensor|pin_memory)$")
_MEGATRON = tuple(
    f"megatron.{part}" for part in "training legacy initialize model core.models core.transformer".split()
)
_MEGATRON_ADAPTORS = tuple(
    "mindspeed mindspeed_llm mindspeed_mm mindspeed_rl modellink ascendspeed deepspeed_npu megatron_npu swift".split()
)


SurelyRuns = Callable[[Fact], bool]
"""Whether a program surely reaches a fact."""


def describe(
    fact: ProgramFact,
    index: Index,
    release: str,
    adapted: bool,
    surely_runs: SurelyRuns,
    is_loaded: Callable[[Fact], bool],
) -> None:
    """Sets the attributes that only PyTorch programs have; `release` is that of PyTorch, or empty; `adapted`: packages
    of the project apply an adaptor to it; `surely_runs`: whether the program surely reaches a fact; `is_loaded`:
    whether an import may run in the processes that train."""
    fact.multi_device = multi_device(index)
    fact.torch = release
    fact.adapted = adapted
    fact.device_by = _device_by(index)
    fact.migration = "transfer" if adapted else migration(index, surely_runs, is_loaded)
    fact.computes(precision_of(index, fact.migration != "manual", surely_runs))
    fact.state = state(index, fact.migration)


def megatron(
    index: Index, paths: Iterable[str], is_in_any_case: Callable[[Fact], bool]
) -> Literal["no", "installed", "copied"]:
    """Whether a program builds its model with Megatron, without MindSpeed or another adaptor: with the package that is
    installed, or with a copy in the project. `paths` are the modules that it reaches; an import proves nothing unless
    it `is_in_any_case`."""
    copied = "\n".join(path.rpartition(".")[0].replace("/", ".") for path in paths)
    imported = "\n".join(index.names("import"))
    if _names_any(imported, _MEGATRON_ADAPTORS) or _names_any(copied, _MEGATRON_ADAPTORS):
        return "no"
    if _names_any(imported, _MEGATRON) and any(
        is_in_any_case(fact) for fact in index.of_kind("import") if _names_any(fact.name, _MEGATRON)
    ):
        return "installed"
    return "copied" if _names_any(copied, _MEGATRON) else "no"


def _names_any(names: str, packages: tuple[str, ...]) -> bool:
    """Whether a line of dotted names, which may begin with folders, is one of these packages or in it."""
    return any(
        package in names and re.search(rf"(?m)(?:^|\.){re.escape(package)}(?:\.|$)", names) is not None
        for package in packages
    )


def state(index: Index, way: Migration) -> MigrationState:
    """The migration state; a manual migration with CUDA left in its training step is partial."""
    if way == "none":
        return "not_started"
    left = [f for f in index.of_kind("cuda") if f.get("breaks") == "yes"] if way == "manual" else []
    return "partial" if any(f.get("step") == "yes" and _surely_runs(f) for f in left) else "migrated"


def _surely_runs(fact: Fact) -> bool:
    """Whether code is reached unconditionally, whatever the options are."""
    if fact.get("beside_npu") == "yes" or fact.get("guarded") == "yes" or fact.get("in_test") == "yes":
        return False
    return bool(fact.get("active") == "yes" and fact.get("behind") == "none")


def migration(index: Index, surely_runs: SurelyRuns, is_loaded: Callable[[Fact], bool]) -> Migration:
    """``transfer`` (CUDA names are patched in the processes that train), ``manual`` (NPU names are written),
    ``agnostic`` (a library or ``torch.accelerator`` chooses the device) or ``none``."""
    imports = index.names("import")
    patching = [fact for fact in index.of_kind("import") if fact.name.startswith(adaptors())]
    if any(map(is_loaded, patching)) or _is_set(index, "TORCH_TRANSFER_TO_NPU"):
        return "transfer"
    if any(name.startswith(("torch_npu", "torch.npu")) for name in imports) or _uses_npu(index):
        return "manual"
    return "agnostic" if _device_by(index) or _asks_accelerator(index, surely_runs) else "none"


def _device_by(index: Index) -> str:
    """The packages that choose the device of a program, which uses a class of theirs that trains, separated by
    spaces."""
    names = (*index.names("import"), *filter(is_trainer, index.names("call")))
    return " ".join(sorted({name.partition(".")[0] for name in names if chooses_device(name)}))


def _asks_accelerator(index: Index, surely_runs: SurelyRuns) -> bool:
    """Whether the program asks ``torch.accelerator`` or DeepSpeed's ``get_accelerator()`` for its device: surely, or
    perhaps while it surely reaches nothing that requires CUDA. One helper that asks, in code for CUDA, chooses the
    device of nothing else."""
    if not any(map(_gives_device, index.names("call"))):
        return False
    asking = (fact for fact in index.of_kind("call") if _gives_device(fact.name))
    if any(map(surely_runs, asking)):
        return True
    return not any(_requires_cuda(fact) and surely_runs(fact) for fact in index.of_kind("cuda"))


def _gives_device(call: str) -> bool:
    """Whether a call gives the device of the accelerator that is there, or puts something on it."""
    member = call.removeprefix(_DEEPSPEED)
    return call.startswith(_ASKING) if member == call else _PLACING.match(member) is not None


def _requires_cuda(fact: Fact) -> bool:
    return bool(fact.get("breaks") == "yes" and fact.get("active") != "no" and fact.get("guarded") != "yes")


def _is_set(index: Index, variable: str) -> bool:
    values = [fact.get("value") for fact in index.named("environment", variable)]
    return any(str(v.single if isinstance(v, PossibleValues) else v) not in ("0", "") for v in values)


def _uses_npu(index: Index) -> bool:
    """Whether any code names the NPU without importing torch_npu, which may be imported elsewhere."""
    if index.of_kind("npu"):
        return True
    return any(name.startswith(("torch.npu.", "torch_npu.")) for k in ("call", "mention") for name in index.names(k))


def multi_device(index: Index) -> Flag:
    """``yes`` if several processes certainly train together: a launcher starts them, or the model is replicated
    unconditionally; ``no`` if nothing in the program can start several."""
    facts = [f for f in index.of_kind("distribution") if f.get("stack") == "torch" and f.get("in_test") != "yes"]
    joined = [f for f in facts if f.get("what") == "init"]
    replicated = [f for f in facts if f.get("what") == "ddp"]
    if not joined and not replicated:
        return "no"
    if any(f.get("active") == "yes" for f in joined) and any(f.get("active") == "yes" for f in replicated):
        return "yes"
    return "yes" if replicated and any(map(_starts_processes, index.of_kind("launch"))) else "unknown"


def _starts_processes(launch: Fact) -> bool:
    """Whether a PyTorch launcher starts more than one process."""
    if not isinstance(launch, LaunchFact) or launch.launcher not in TORCH_LAUNCHERS:
        return False
    return launch.record.launcher_options.get("nproc_per_node", "1") != "1"
