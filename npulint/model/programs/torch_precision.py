"""The precision of a PyTorch program on the NPU: in which type it computes its gradients and keeps its parameters, and
whether its loss is scaled."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from npulint.facts.attributes import Flag
from npulint.facts.model import Fact
from npulint.model.code.index import Index
from npulint.model.programs.precision import Computed, Precision, ProgramPrecision

_TRAINERS = (  # libraries that may choose the precision and scale the loss by themselves
    "deepspeed accelerate pytorch_lightning lightning lightning_fabric megatron mindspeed colossalai fairscale mmcv "
    "mmengine ignite catalyst"
).split()
_SCALING_CALLS = ("FP16_Optimizer", "ShardedGradScaler", "scale_loss")
_MENTIONS = frozenset(
    "torch.bfloat16 torch.float16 torch.half torch.autocast torch.cuda.amp.autocast torch.npu.amp.autocast".split()
)
_HALF_OPTIONS = "amp use_amp fp16 use_fp16 half bf16 mixed_precision apex enable_amp".split()
_SCALED_BY = ("scaler", "apex", "manual")
_LEVELS: dict[str, tuple[Precision, Computed, Computed]] = {  # of apex: kind, type of gradients, type of parameters
    "O1": ("mixed", "float16", "float32"),
    "O2": ("mixed", "float16", "float32"),
    "O3": ("fp16", "float16", "float16"),
}


class _Evidence(NamedTuple):
    """One reason for a precision: its kind, the type of the gradients, that of the parameters if it says so, whether it
    surely holds in training, and whether the loss is scaled for it, if that is known."""

    kind: Precision
    gradients: Computed
    parameters: Computed | None
    sure: bool
    scaled: Flag = "unknown"


def precision_of(index: Index, on_cuda_names: bool, surely_runs: Callable[[Fact], bool]) -> ProgramPrecision:
    """The precision of a program. `on_cuda_names`: what is written for CUDA works on the NPU, or is still to be ported;
    `surely_runs`: whether the program surely comes to a fact."""
    reasons = [
        *_autocasts(index, on_cuda_names, surely_runs),
        *_levels(index, surely_runs),
        *_casts(index, surely_runs),
        *_arguments(index, surely_runs),
    ]
    sure = [reason for reason in reasons if reason.sure]
    kinds = {reason.kind for reason in sure}
    scaled = _scaled(index, reasons, surely_runs)
    if not reasons and not _may_be_half(index):
        return ProgramPrecision("default", "chip", "float32", "float32", scaled)
    gradients = {reason.gradients for reason in reasons} if sure else set()
    return ProgramPrecision(
        "mixed" if "mixed" in kinds else "fp16" if "fp16" in kinds else "unknown",
        gradients.pop() if len(gradients) == 1 else "unknown",
        "unknown",
        _parameters(reasons),
        scaled,
    )


def _parameters(reasons: Iterable[_Evidence]) -> Computed:
    """The type of the parameters, where all reasons that speak of it agree and one is sure."""
    speaking = [reason for reason in reasons if reason.parameters is not None]
    types = {reason.parameters or "unknown" for reason in speaking}
    return types.pop() if len(types) == 1 and any(reason.sure for reason in speaking) else "unknown"


def _trains(fact: Fact) -> bool:
    """Whether a fact is about code that may take part in training; a function that trains may evaluate as well."""
    evaluates = fact.get("evaluates") == "yes" and fact.get("trains") != "yes"
    return fact.get("in_test") != "yes" and not evaluates


def _is_sure(fact: Fact, surely_runs: Callable[[Fact], bool]) -> bool:
    return fact.get("active") == "yes" and surely_runs(fact)


def _autocasts(index: Index, on_cuda_names: bool, surely_runs: Callable[[Fact], bool]) -> Iterator[_Evidence]:
    """What autocast contexts say, but those that are switched off or only evaluate."""
    for fact in filter(_trains, index.of_kind("autocast")):
        enabled, device, dtype = fact.get("enabled"), fact.get("device"), fact.get("dtype")
        if device == "cpu" or (enabled == "no" and not _is_chosen(fact)):
            continue
        gradients: Computed = "unknown"
        if enabled == "yes" and dtype != "unknown":
            gradients = "bfloat16" if dtype == "bfloat16" else "float16"
        effective = device != "cuda" or on_cuda_names or fact.get("alternative") == "yes"
        sure = effective and enabled != "no" and fact.get("trains") == "yes" and _is_sure(fact, surely_runs)
        yield _Evidence("mixed", gradients, None, sure)


def _is_chosen(autocast: Fact) -> bool:
    """Whether an option or the like says whether an autocast is enabled."""
    value = autocast.args.argument_value("enabled", -1)
    return value is not None and bool(value.symbol)


def _levels(index: Index, surely_runs: Callable[[Fact], bool]) -> Iterator[_Evidence]:
    """What ``amp.initialize`` of apex says."""
    for fact in filter(_trains, index.of_kind("apex_amp")):
        level = str(fact.get("level"))
        kind, gradients, parameters = _LEVELS.get(level, ("mixed", "unknown", "unknown"))
        if level != "O0":
            yield _Evidence(kind, gradients, parameters, level in _LEVELS and _is_sure(fact, surely_runs))


def _casts(index: Index, surely_runs: Callable[[Fact], bool]) -> Iterator[_Evidence]:
    """What models say that are cast to half precision."""
    for fact in filter(_trains, index.of_kind("half_model")):
        computed: Computed = "bfloat16" if fact.name == "bfloat16" else "float16"
        sure = fact.get("trained") == "yes" and _is_sure(fact, surely_runs)
        yield _Evidence("fp16", computed, computed, sure)


def _arguments(index: Index, surely_runs: Callable[[Fact], bool]) -> Iterator[_Evidence]:
    """What arguments of training frameworks say."""
    for fact in index.of_kind("training_argument"):
        half = fact.get("half")
        if half in ("float16", "bfloat16"):
            computed: Computed = "float16" if half == "float16" else "bfloat16"
            cast = fact.get("casts") == "yes"
            scaled: Flag = "yes" if half == "float16" and not cast else "no"
            sure = fact.get("guarded") == "no" and surely_runs(fact)
            yield _Evidence("fp16" if cast else "mixed", computed, computed if cast else None, sure, scaled)


def _may_be_half(index: Index) -> bool:
    """Whether something of the program may compute in half precision in a way that is not known."""
    if _has_trainer(index) or index.of_kind("grad_scaler") or not _MENTIONS.isdisjoint(index.names("mention")):
        return True
    return any(index.named("option", name) for name in _HALF_OPTIONS) or _is_scaled_elsewhere(index)


def _has_trainer(index: Index) -> bool:
    """Whether the program imports a library that may choose the precision and scale the loss."""
    return any(name.partition(".")[0] in _TRAINERS for name in index.names("import"))


def _is_scaled_elsewhere(index: Index) -> bool:
    """Whether a library of the program scales the loss, in a way that is not followed."""
    if any(index.named("call", name) for name in _SCALING_CALLS):
        return True
    return any(name.startswith(("apex.amp", "apex.fp16_utils")) for name in index.names("call"))


def _scaled(index: Index, reasons: Iterable[_Evidence], surely_runs: Callable[[Fact], bool]) -> Flag:
    """Whether the loss is scaled: surely somewhere, or surely nowhere, as far as the code and its frameworks show."""
    if any(reason.sure and reason.scaled == "yes" for reason in reasons):
        return "yes"
    steps = [fact for fact in index.of_kind("train_step") if fact.get("in_test") != "yes"]
    scaled = [step for step in steps if step.get("scaled") in _SCALED_BY]
    scalers = [fact.get("enabled") for fact in index.of_kind("grad_scaler") if fact.get("in_test") != "yes"]
    is_on = not scalers or set(scalers) != {"no"}
    if is_on and scaled and (scaled == steps or any(_is_sure(step, surely_runs) for step in scaled)):
        return "yes"
    used = any(index.named("scaler_use", name) for name in ("scale", "step", "update"))
    if scaled or used or _is_scaled_elsewhere(index) or any(reason.scaled == "yes" for reason in reasons):
        return "unknown"
    if any(reason.sure and reason.scaled == "no" for reason in reasons):
        return "no"
    ways = {step.get("scaled") for step in steps}
    return "no" if ways == {"no"} and not _has_trainer(index) else "unknown"
