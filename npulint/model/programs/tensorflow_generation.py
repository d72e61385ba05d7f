"""Which TensorFlow a program is written for: the graphs and sessions of 1.x, or the eager execution of 2.x.

What surely runs decides, above all in the entry script, then the packages that are installed, then all code that the
program imports. A helper module that is written for the graphs of 1.x does not make a program of 2.x another one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from npulint.core.lazy_regex import lazy_compile
from npulint.facts.model import Fact
from npulint.model.code.index import Index, table
from npulint.model.programs.program_fact import Tensorflow
from npulint.model.running.code_facts import CallFact

_KINDS = ("import", "call", "mention", "session", "train_step", "npu_open")
_SWITCHES: dict[str, Tensorflow] = {
    "enable_v2_behavior": "2",
    "disable_v2_behavior": "1",
    "disable_eager_execution": "1",
}
_IMAGE = lazy_compile(r"(?:^|[/-])tensorflow[\w-]*:(?:v|release-)?([12])\.|[:.-]tf([12])-py")
_PACKAGES = ("tensorflow", "tensorflow-gpu", "tensorflow-cpu")
_FIRST = lazy_compile(r"(?:==|~=|>=)v?([12])(?:\.|$)")
_OF_GRAPHS = ("placeholder", "ConfigProto", "enable_eager_execution", "get_variable", "Session")
_LEFT_BEHIND = frozenset(  # members of tensorflow 1.x that 2.x has under tf.compat.v1 or in another module only
    "Print Summary add_to_collection assign assign_add assign_sub ceil check_numerics confusion_matrix count_nonzero "
    "cross decode_csv decode_raw diag diag_part div erf get_collection get_default_graph global_variables "
    "global_variables_initializer is_finite is_inf is_nan lgamma log log1p log_sigmoid matrix_determinant "
    "matrix_inverse mod parse_single_example py_func random_normal random_shuffle random_uniform read_file "
    "reset_default_graph rsqrt set_random_seed sparse_tensor_to_dense string_join string_split to_double to_float "
    "to_int32 to_int64 trainable_variables truncated_normal unsorted_segment_sum variable_scope "
    "layers.batch_normalization layers.conv2d layers.dense layers.dropout nn.bidirectional_dynamic_rnn nn.dynamic_rnn "
    "nn.rnn_cell.BasicLSTMCell nn.rnn_cell.GRUCell nn.rnn_cell.LSTMCell nn.rnn_cell.MultiRNNCell "
    "train.AdadeltaOptimizer train.AdagradOptimizer train.AdamOptimizer train.FtrlOptimizer "
    "train.GradientDescentOptimizer train.MomentumOptimizer train.RMSPropOptimizer train.Saver "
    "train.exponential_decay train.get_or_create_global_step".split()
)
_NEW = frozenset(  # members of tensorflow that only 2.x has
    "config.experimental.enable_op_determinism config.list_logical_devices config.list_physical_devices "
    "config.run_functions_eagerly config.set_visible_devices keras.mixed_precision.set_global_policy "
    "keras.utils.set_random_seed random.set_seed summary.create_file_writer".split()
)


def generation(index: Index, entry: str, surely_runs: Callable[[Fact], bool]) -> Tensorflow:
    """The TensorFlow that a program is written for: ``1``, ``2`` or empty. `entry` is the path of its entry script,
    empty for a library; `surely_runs`: whether the program surely comes to a fact."""
    return (
        _of_adapter(index)
        or _switched(index, entry, surely_runs)
        or (_style(_part(index, lambda fact: fact.path == entry)) if entry else "")
        or (_style(_part(index, surely_runs)) if entry else "")
        or installed(index)
        or _elsewhere(index, entry)
    )


def _of_adapter(index: Index) -> Tensorflow:
    """The generation that the imported adapter of the NPU belongs to."""
    imports = index.names("import")
    opens = any(name == "npu_device" or name.startswith("npu_device.") for name in imports)
    if opens and not _compatible(index, imports):
        return "2"
    return "1" if any(name.startswith("npu_bridge") for name in imports) else ""


def _compatible(index: Index, imports: frozenset[str]) -> bool:
    """Whether a program of npu_device is a TensorFlow 1 program under TensorFlow 2; single names from compat.v1 are not
    enough."""
    if index.named("call", "enable_v1") or any(n.startswith("npu_device.compat.v1") for n in imports):
        return True
    if any(n.startswith("npu_bridge") for n in imports) and not index.of_kind("npu_open"):
        return True
    return not (_functional(index) or _fits(index)) and any("compat.v1" in n for n in imports)


def _switched(index: Index, entry: str, surely_runs: Callable[[Fact], bool]) -> Tensorflow:
    """What the program switches on: a call in its entry script, or one that surely runs."""
    for name, answer in _SWITCHES.items():
        calls = index.named("call", name)
        if any(not entry or call.path == entry or surely_runs(call) for call in calls):
            return answer
    return ""


def _part(index: Index, of_part: Callable[[Fact], bool]) -> Index:
    """The facts of a part of a program."""
    return Index([table(fact for kind in _KINDS for fact in index.of_kind(kind) if of_part(fact))])


def _style(part: Index) -> Tensorflow:
    """How the code of a part of a program is written: what only one TensorFlow has decides first."""
    imports = part.names("import")
    if any(name.startswith("tensorflow.contrib") for name in (*imports, *part.names("call"))):
        return "1"
    if any(_are_left_behind(part, _OF_GRAPHS)):
        return "1"
    if _functional(part) or _reads_arrays(part):
        return "2"
    if any(_are_left_behind(part, _LEFT_BEHIND)):
        return "1"
    if _calls_new_members(part):
        return "2"
    if any(name.startswith("tensorflow.compat.v2") for name in imports):
        return "2"
    if any("compat.v1" in name for name in imports) and "tensorflow" not in imports:
        return "1"
    return "1" if any(session.get("purpose") == "train" for session in part.of_kind("session")) else ""


def _elsewhere(index: Index, entry: str) -> Tensorflow:
    """What all code says that a program may run, where neither what surely runs nor the packages decide. Old names in
    modules that may be another program's do not count where a Keras model is trained."""
    answer = _style(index)
    if entry and answer != "2" and _fits(index):
        return "1" if any(_are_left_behind(index, (*_OF_GRAPHS, *_LEFT_BEHIND))) else ""
    is_graph = index.of_kind("session") or any(index.named("call", name) for name in _OF_GRAPHS)
    return answer or ("1" if is_graph else "")


def _functional(part: Index) -> bool:
    """Whether code has gradient tapes or compiled functions."""
    named: Iterable[Fact] = (*part.named("mention", "function"), *part.named("call", "function"))
    return bool(part.named("call", "GradientTape")) or any(f.name == "tensorflow.function" for f in named)


def _reads_arrays(part: Index) -> bool:
    """Whether arrays are read from the results of TensorFlow, which have one in eager execution only."""
    return any(fact.name.startswith(("tensorflow.", "keras.")) for fact in part.named("call", "numpy"))


def _fits(part: Index) -> bool:
    """Whether a Keras model is trained."""
    return any(fact.get("on") == "keras" for fact in part.of_kind("train_step"))


def _are_left_behind(part: Index, members: Iterable[str]) -> Iterator[bool]:
    """For calls of members that 2.x no longer has under this name, such as ``tf.log`` and ``tf.Session``, whether the
    module imports plain ``tensorflow``, so that only 1.x can run it."""
    imported: dict[str, set[str]] = {}
    for fact in part.of_kind("import"):
        imported.setdefault(fact.path, set()).add(fact.name)
    for name in members:
        for fact in part.named("call", name.rpartition(".")[2]):
            if fact.name.startswith("tensorflow.") and _written_as_member(fact, name):
                names = imported.get(fact.path, set())
                yield "tensorflow" in names and not any(module.startswith("tensorflow.compat.v") for module in names)


def _written_as_member(fact: Fact, name: str) -> bool:
    """Whether a call is written as one of a member of the package: ``tf.log``, not ``tf.compat.v1.log``."""
    return isinstance(fact, CallFact) and fact.call.written.partition(".")[2] == name


def _calls_new_members(part: Index) -> bool:
    """Whether members are called that only 2.x has; growing memory is that, as far as scripts go."""
    if part.named("call", "set_memory_growth"):
        return True
    return any(
        fact.name == f"tensorflow.{member}" for member in _NEW for fact in part.named("call", member.rpartition(".")[2])
    )


def installed(index: Index) -> Tensorflow:
    """The generation of TensorFlow that the project's images and requirements install, if they agree."""
    images = [_IMAGE.search(fact.name) for fact in index.of_kind("base_image")]
    named = [fact for name in _PACKAGES for fact in index.of_kind("dependency") if fact.name == name]
    versions = [_FIRST.match(str(fact.get("version"))) for fact in named]
    majors = {next(part for part in match.groups() if part) for match in (*images, *versions) if match}
    return "1" if majors == {"1"} else "2" if majors == {"2"} else ""
