"""Attributes of a TensorFlow program as a whole: mode, migration state, precision, devices."""

from __future__ import annotations

from npulint.core.lazy_regex import lazy_compile
from npulint.facts.attributes import Flag
from npulint.facts.model import Fact
from npulint.facts.values import PossibleValues
from npulint.model.code.index import Index
from npulint.model.programs.program_fact import MigrationState, Precision, ProgramFact, Tensorflow
from npulint.model.running.code_facts import CallFact

_MIXED = frozenset(
    "allow_mix_precision allow_mix_precision_fp16 allow_mix_precision_bf16 mixed_float16 mixed_bfloat16 "
    "mixed_hif8".split()
)
_AMP = ("enable_mixed_precision_graph_rewrite",)
_OF_GRAPHS = ("placeholder", "ConfigProto", "enable_eager_execution", "get_variable")
_SWITCHES: dict[str, Tensorflow] = {
    "enable_v2_behavior": "2",
    "disable_v2_behavior": "1",
    "disable_eager_execution": "1",
}
_IMAGE = lazy_compile(r"(?:^|[/-])tensorflow[\w-]*:(?:v|release-)?([12])\.|[:.-]tf([12])-py")
_PACKAGES = ("tensorflow", "tensorflow-gpu", "tensorflow-cpu")
_FIRST = lazy_compile(r"(?:==|~=|>=)v?([12])(?:\.|$)")
_LEFT_BEHIND = frozenset(  # members of tensorflow 1.x that 2.x has under tf.compat.v1 or in another module only
    "Print Summary add_to_collection assign assign_add assign_sub ceil check_numerics confusion_matrix count_nonzero "
    "cross decode_csv decode_raw diag diag_part div erf get_collection get_default_graph global_variables "
    "global_variables_initializer is_finite is_inf is_nan lgamma log log1p log_sigmoid matrix_determinant "
    "matrix_inverse mod parse_single_example py_func random_normal random_shuffle random_uniform read_file "
    "reset_default_graph rsqrt set_random_seed sparse_tensor_to_dense string_join string_split to_double to_float "
    "to_int32 to_int64 trainable_variables truncated_normal unsorted_segment_sum variable_scope".split()
)
_PATCHING = (1, 9)  # the first adapter release whose import patches tf.Session


def describe(fact: ProgramFact, index: Index, adapter: str) -> None:
    """Sets the attributes that only TensorFlow programs have; `adapter` is the release to assume."""
    imports = index.names("import")
    npu = any(name.partition(".")[0] in ("npu_bridge", "npu_device") for name in imports)
    own = any(name == "npu_bridge" or name.startswith("npu_bridge.npu_init") for name in imports)
    fact.patched = own and _at_least(adapter)
    fact.tensorflow = _generation(index)
    fact.mode = " ".join(_modes(index, fact.tensorflow))
    fact.precision = _precision(index)
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


def _generation(index: Index) -> Tensorflow:
    """The TensorFlow version that the program is written for: ``1``, ``2`` or empty."""
    imports = index.names("import")
    if any(n == "npu_device" or n.startswith("npu_device.") for n in imports) and not _compatible(index, imports):
        return "2"
    if any(n.startswith(("tensorflow.contrib", "npu_bridge")) for n in imports):
        return "1"
    switched = [answer for name, answer in _SWITCHES.items() if index.named("call", name)]
    if switched:
        return switched[0]
    if index.of_kind("session"):
        return "1"
    if any(index.named("call", name) for name in _OF_GRAPHS):
        return "1"
    if any(f.name.startswith("tensorflow.contrib.") for f in index.of_kind("call")):
        return "1"
    if _functional(index) or index.named("call", "set_memory_growth"):
        return "2"
    if any(n.startswith("tensorflow.compat.v2") for n in imports):
        return "2"
    if any("compat.v1" in n for n in imports) and "tensorflow" not in imports:
        return "1"
    return _installed(index) or ("1" if _calls_what_2_left_behind(index) else "")


def _calls_what_2_left_behind(index: Index) -> bool:
    """Whether a module that imports plain ``tensorflow`` calls one of its members that 2.x no longer has there
    (``tf.log``)."""
    imported: dict[str, set[str]] = {}
    for fact in index.of_kind("import"):
        imported.setdefault(fact.path, set()).add(fact.name)
    for name in _LEFT_BEHIND:
        for fact in index.named("call", name):
            if not isinstance(fact, CallFact) or fact.call.written.partition(".")[2] != name:
                continue
            names = imported.get(fact.path, set())
            if "tensorflow" in names and not any(module.startswith("tensorflow.compat.v") for module in names):
                return True
    return False


def _installed(index: Index) -> Tensorflow:
    """The TensorFlow generation that the project's images and requirements install, if they agree."""
    images = [_IMAGE.search(fact.name) for fact in index.of_kind("base_image")]
    named = [fact for name in _PACKAGES for fact in index.of_kind("dependency") if fact.name == name]
    versions = [_FIRST.match(str(fact.get("version"))) for fact in named]
    majors = {next(part for part in match.groups() if part) for match in (*images, *versions) if match}
    return "1" if majors == {"1"} else "2" if majors == {"2"} else ""


def _functional(index: Index) -> bool:
    """Whether a program has gradient tapes or compiled functions."""
    named = (*index.named("mention", "function"), *index.named("call", "function"))
    return bool(index.named("call", "GradientTape")) or any(f.name == "tensorflow.function" for f in named)


def _compatible(index: Index, imports: frozenset[str]) -> bool:
    """Whether a program of npu_device is a TensorFlow 1 program under TensorFlow 2; single names from compat.v1 are not
    enough."""
    if index.named("call", "enable_v1") or any(n.startswith("npu_device.compat.v1") for n in imports):
        return True
    if any(n.startswith("npu_bridge") for n in imports) and not index.of_kind("npu_open"):
        return True
    eager = _functional(index) or any(f.get("on") == "keras" for f in index.of_kind("train_step"))
    return not eager and any("compat.v1" in n for n in imports)


def _precision(index: Index) -> Precision:
    """mixed, origin (unchanged), fp16, default (not set) or unknown."""
    values: set[str] = set()
    unknown = False
    for key in ("precision_mode", "precision_mode_v2"):
        for fact in index.named("setting", key):
            value = fact.get("value")
            if isinstance(value, PossibleValues) and value.values:
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
