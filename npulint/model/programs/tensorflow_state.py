"""Attributes of a TensorFlow program as a whole: mode, migration state, precision, devices."""

from __future__ import annotations

from collections.abc import Callable

from npulint.facts.attributes import Flag
from npulint.facts.model import Fact
from npulint.facts.values import PossibleValues
from npulint.model.code.index import Index
from npulint.model.programs.program_fact import MigrationState, ProgramFact, Tensorflow
from npulint.model.programs.tensorflow_generation import generation, installed
from npulint.model.programs.tensorflow_precision import precision_of

_PATCHING = (1, 9)  # the first adapter release whose import patches tf.Session


def describe(fact: ProgramFact, index: Index, adapter: str, entry: str, surely_runs: Callable[[Fact], bool]) -> None:
    """Sets the attributes that only TensorFlow programs have; `adapter` is the release to assume, `entry` the path of
    the entry script, empty for a library; `surely_runs`: whether the program surely comes to a fact."""
    imports = index.names("import")
    npu = any(name.partition(".")[0] in ("npu_bridge", "npu_device") for name in imports)
    own = any(name == "npu_bridge" or name.startswith("npu_bridge.npu_init") for name in imports)
    fact.patched = own and _at_least(adapter)
    fact.tensorflow = generation(index, entry, surely_runs)
    fact.tensorflow_installed = installed(index)
    fact.mode = " ".join(_modes(index, fact.tensorflow))
    fact.computes(precision_of(index))
    fact.multi_device = _multi_device(index)
    fact.state = _state(index, npu, fact.patched, fact.tensorflow)
    fact.only_moved = npu and not index.of_kind("loss_scale") and not any(map(_is_of_adapter, index.of_kind("setting")))


def _is_of_adapter(setting: Fact) -> bool:
    """Whether a setting is an option of the adapter."""
    return setting.get("via") in ("session_key", "run_config", "npu_options")


def _modes(index: Index, generation: Tensorflow) -> list[str]:
    modes = []
    if index.of_kind("session") or index.of_kind("run"):
        modes.append("session")
    if index.of_kind("estimator"):
        modes.append("estimator")
    if any(f.get("on") == "keras" for f in index.of_kind("train_step")):
        modes.append("keras")
    if generation == "2":
        modes.append("function")
    return modes


def _multi_device(index: Index) -> Flag:
    values = [f.get("value") for f in index.named("environment", "RANK_SIZE")]
    sizes = {str(v.single if isinstance(v, PossibleValues) else v) for v in values}
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


def _state(index: Index, npu: bool, patched: bool, generation: Tensorflow) -> MigrationState:
    if not npu:
        return "not_started"
    if patched or (index.of_kind("npu_open") and generation == "2"):
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
