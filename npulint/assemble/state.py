"""What is so of a program as a whole: framework, mode, role, migration state, precision, devices."""

from __future__ import annotations

from collections.abc import Callable

from npulint.assemble.index import Index
from npulint.assemble.torch_state import migration, multi_device, precision
from npulint.facts.model import Fact
from npulint.facts.values import Known

_ADAPTERS = ("npu_bridge", "npu_device", "torch_npu")
_MIXED = frozenset(
    "allow_mix_precision allow_mix_precision_fp16 allow_mix_precision_bf16 mixed_float16 mixed_bfloat16 "
    "mixed_hif8".split()
)
_AMP = ("enable_mixed_precision_graph_rewrite",)
_PATCHING = (1, 9)  # the first adapter release whose import patches tf.Session


def describe(
    index: Index, entry_word: str, adapter: str, torch: str, may_run: Callable[[list[Fact]], bool]
) -> dict[str, str]:
    """The attributes of a program. `entry_word` is what its entry's name says it is for, `adapter` the
    adapter release to assume, `torch` that of PyTorch (empty: not known); `may_run` tells whether the program
    can come to any of some facts."""
    npu = _npu_imports(index)
    framework = _framework(index)
    trains = _trains(index, entry_word, may_run)
    patched = (
        "yes"
        if any(f.name.startswith("npu_bridge.npu_init") or f.name == "npu_bridge" for f in npu) and _at_least(adapter)
        else "no"
    )
    attrs = {
        "framework": framework,
        "npu": "yes" if npu else "no",
        "patched": patched,
        "trains": "yes" if trains else "no",
        "purpose": "train" if trains else entry_word,
        "evaluates": "yes" if entry_word == "evaluate" else "no",
        "exports": "yes" if entry_word == "export" else "no",
        "mode": " ".join(_modes(index)),
        "precision": _precision(index),
        "multi_device": _multi_device(index),
        "tensorflow": _generation(index),
        "torch": torch,
        "migration": migration(index) if framework == "torch" else "none",
    }
    attrs["state"] = _state(index, bool(npu), patched == "yes")
    if framework == "torch":
        attrs["precision"] = precision(index)
        attrs["multi_device"] = multi_device(index)
        attrs["state"] = "not_started" if attrs["migration"] == "none" else "migrated"
    return attrs


def _npu_imports(index: Index) -> list[Fact]:
    return [f for f in index.of_kind("import") if f.name.split(".", 1)[0] in _ADAPTERS]


def _framework(index: Index) -> str:
    roots = {f.name.split(".", 1)[0] for f in index.of_kind("import")}
    torch = bool(roots & {"torch", "torch_npu", "apex"})
    if roots & {"npu_bridge", "npu_device"}:
        return "tensorflow"
    if roots & {"tensorflow", "tf_slim", "keras"}:
        return "torch" if torch and _mostly_torch(index) else "tensorflow"
    return "torch" if torch else "none"


def _mostly_torch(index: Index) -> bool:
    """Whether a program that imports both frameworks is one of PyTorch, which borrows a callback or a logger."""
    names = [f.name for f in index.of_kind("call")]
    return sum(n.startswith("torch") for n in names) > sum(n.startswith(("tensorflow.", "keras.")) for n in names)


def _trains(index: Index, entry_word: str, may_run: Callable[[list[Fact]], bool]) -> bool:
    if entry_word in ("evaluate", "export", "data"):
        return False
    steps = [f for f in index.of_kind("train_step") if f.get("in_test") != "yes" and f.get("active") != "no"]
    return bool(steps) and may_run(steps)


def _modes(index: Index) -> list[str]:
    found = []
    if index.of_kind("session") or index.of_kind("run"):
        found.append("session")
    if index.of_kind("estimator"):
        found.append("estimator")
    if any(f.get("on") == "keras" for f in index.of_kind("train_step")):
        found.append("keras")
    if _generation(index) == "2":
        found.append("function")
    return found


def _generation(index: Index) -> str:
    """``1``, ``2`` or empty: which TensorFlow the program is written for."""
    imports = {f.name for f in index.of_kind("import")}
    if any(n == "npu_device" or n.startswith("npu_device.") for n in imports) and not any(
        "compat.v1" in n for n in imports
    ):
        return "2"
    if any("compat.v1" in n or ".contrib" in n or n.startswith("npu_bridge") for n in imports):
        return "1"
    if index.of_kind("session") or index.named("call", "placeholder") or index.named("call", "ConfigProto"):
        return "1"
    if any(f.name.startswith("tensorflow.contrib.") for f in index.of_kind("call")) or index.named(
        "call", "get_variable"
    ):
        return "1"
    if (
        index.named("call", "GradientTape")
        or index.named("mention", "function")
        or index.named("call", "set_memory_growth")
    ):
        return "2"
    return ""


def _precision(index: Index) -> str:
    """mixed, origin (kept), fp16, default (nothing said) or unknown."""
    values: set[str] = set()
    unknown = False
    for key in ("precision_mode", "precision_mode_v2"):
        for fact in index.named("setting", key):
            value = fact.get("value")
            if isinstance(value, Known) and value.values:
                values |= {str(v) for v in value.values}
            else:
                unknown = True
    if values & _MIXED or any(index.named("call", name) for name in _AMP):
        return "mixed"
    if unknown:
        return "unknown"
    if values & {"force_fp16", "fp16", "allow_fp32_to_fp16"}:
        return "fp16"
    return "origin" if values - {"None", ""} else "default"


def _multi_device(index: Index) -> str:
    values = [f.get("value") for f in index.named("environment", "RANK_SIZE")]
    sizes = {str(v.single if isinstance(v, Known) else v) for v in values}
    if any(s.isdigit() and int(s) > 1 for s in sizes):
        return "yes"
    stacks = {
        f.get("stack")
        for f in index.of_kind("distribution")
        if f.get("what") in ("optimizer", "broadcast", "allreduce")
    }
    if stacks & {"horovod", "npu"}:
        return "yes"
    return "no" if sizes == {"1"} else "unknown"


def _state(index: Index, npu: bool, patched: bool) -> str:
    if not npu:
        return "not_started"
    if patched:
        return "migrated"
    reached = [
        f.get("npu")
        for k in ("session", "estimator")
        for f in index.of_kind(k)
        if f.get("purpose") not in ("export", "data", "evaluate") and f.get("active") != "no"
    ]
    return "partial" if "no" in reached else "migrated"


def _at_least(adapter: str) -> bool:
    numbers = tuple(int(p) for p in adapter.lstrip("r").split(".")[:2] if p.isdigit())
    return numbers >= _PATCHING if numbers else True
