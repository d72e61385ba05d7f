"""Canonical names: every spelling of a framework member meets in one."""

from __future__ import annotations

import subprocess
import sys

import pytest

from npulint.data.names import canonical, star_exports

INIT = "npu_bridge.npu_init"
PAIRS = [
    # another door to the same package
    ("tensorflow.compat.v1.Session", "tensorflow.Session"),
    ("tensorflow_core.nn.top_k", "tensorflow.nn.top_k"),
    ("tensorflow.compat.v1.keras.layers.Dropout", "tensorflow.keras.layers.Dropout"),
    ("tensorflow.python.keras.layers.Dropout", "tensorflow.keras.layers.Dropout"),
    ("tf_slim.conv2d", "tensorflow.contrib.slim.conv2d"),
    ("tf_slim.layers.layers.dropout", "tensorflow.contrib.slim.dropout"),
    ("tensorflow.contrib.slim.python.slim.learning.train", "tensorflow.contrib.slim.learning.train"),
    ("tensorflow.app.flags.DEFINE_string", "tensorflow.flags.DEFINE_string"),
    ("tensorflow.python.platform.flags.FLAGS", "tensorflow.flags.FLAGS"),
    ("tensorflow.optimizers.Adam", "tensorflow.keras.optimizers.Adam"),
    ("tensorflow.losses.MeanSquaredError", "tensorflow.keras.losses.MeanSquaredError"),
    ("tensorflow.metrics.accuracy", "tensorflow.metrics.accuracy"),
    # second public spellings
    ("tensorflow.math.top_k", "tensorflow.nn.top_k"),
    ("tensorflow.math.reduce_sum", "tensorflow.reduce_sum"),
    ("tensorflow.compat.v1.math.reduce_sum", "tensorflow.reduce_sum"),
    ("tensorflow.random.uniform", "tensorflow.random_uniform"),
    ("tensorflow.io.gfile.GFile", "tensorflow.gfile.GFile"),
    ("tensorflow.math.is_nan", "tensorflow.is_nan"),
    ("tensorflow.io.TFRecordWriter", "tensorflow.python_io.TFRecordWriter"),
    ("tensorflow.initializers.global_variables", "tensorflow.global_variables_initializer"),
    ("tensorflow.keras.layers.MaxPool2D", "tensorflow.keras.layers.MaxPooling2D"),
    ("tensorflow.keras.models.Sequential", "tensorflow.keras.Sequential"),
    # private modules
    ("tensorflow.python.ops.control_flow_ops.cond", "tensorflow.cond"),
    ("tensorflow.python.ops.control_flow_ops.while_loop", "tensorflow.while_loop"),
    ("tensorflow.python.ops.nn_ops.dropout", "tensorflow.nn.dropout"),
    ("tensorflow.python.ops.nn_ops.top_k", "tensorflow.nn.top_k"),
    ("tensorflow.python.ops.nn.relu", "tensorflow.nn.relu"),
    ("tensorflow.python.ops.array_ops.where", "tensorflow.where"),
    ("tensorflow.python.ops.array_ops.reshape", "tensorflow.reshape"),
    ("tensorflow.python.ops.math_ops.reduce_mean", "tensorflow.reduce_mean"),
    ("tensorflow.python.ops.data_flow_ops.FIFOQueue", "tensorflow.FIFOQueue"),
    ("tensorflow.python.ops.script_ops.py_func", "tensorflow.py_func"),
    ("tensorflow.python.ops.lookup_ops.index_table_from_file", "tensorflow.contrib.lookup.index_table_from_file"),
    ("tensorflow.python.ops.lookup_ops.StaticHashTable", "tensorflow.lookup.StaticHashTable"),
    ("tensorflow.python.client.session.Session", "tensorflow.Session"),
    ("tensorflow.python.training.supervisor.Supervisor", "tensorflow.train.Supervisor"),
    ("tensorflow.python.training.adam.AdamOptimizer", "tensorflow.train.AdamOptimizer"),
    ("tensorflow.python.estimator.estimator.Estimator", "tensorflow.estimator.Estimator"),
    ("tensorflow.python.keras.layers.core.Dropout", "tensorflow.keras.layers.Dropout"),
    ("tensorflow.python.keras.optimizer_v2.adam.Adam", "tensorflow.keras.optimizers.Adam"),
    ("tensorflow.contrib.layers.python.layers.layers.batch_norm", "tensorflow.contrib.layers.batch_norm"),
    ("tensorflow.contrib.framework.python.ops.arg_scope.arg_scope", "tensorflow.contrib.framework.arg_scope"),
    ("tensorflow.core.protobuf.config_pb2.ConfigProto", "tensorflow.ConfigProto"),
    # plain Keras keeps its own name
    ("keras.layers.Dropout", "keras.layers.Dropout"),
    ("keras.layers.core.Dropout", "keras.layers.Dropout"),
    ("keras.models.Model", "keras.Model"),
    ("keras.backend.tensorflow_backend.set_session", "keras.backend.set_session"),
    # 2.x names stay apart only where a call would mean something else
    ("tensorflow.compat.v2.nn.dropout", "tensorflow.compat.v2.nn.dropout"),
    ("tensorflow.python.ops.nn_ops.dropout_v2", "tensorflow.compat.v2.nn.dropout"),
    ("tensorflow.compat.v2.nn.relu", "tensorflow.nn.relu"),
    ("tensorflow.compat.v2.math.reduce_sum", "tensorflow.reduce_sum"),
    ("tensorflow.compat.v2.keras.layers.Dense", "tensorflow.keras.layers.Dense"),
    ("tensorflow.compat.v2.data.Dataset", "tensorflow.data.Dataset"),
    ("tensorflow.image.resize", "tensorflow.image.resize"),
    ("tensorflow.image.resize_images", "tensorflow.image.resize_images"),
    ("tensorflow.image.resize_bilinear", "tensorflow.image.resize_bilinear"),
    # the adapter
    ("npu_bridge.estimator.npu.npu_config.NPURunConfig", f"{INIT}.NPURunConfig"),
    ("npu_bridge.estimator.npu.npu_estimator.NPUEstimator", f"{INIT}.NPUEstimator"),
    ("npu_bridge.estimator.npu.npu_loss_scale_optimizer.NPULossScaleOptimizer", f"{INIT}.NPULossScaleOptimizer"),
    ("npu_bridge.estimator.npu.npu_loss_scale_manager.FixedLossScaleManager", f"{INIT}.FixedLossScaleManager"),
    ("npu_bridge.estimator.npu.util.set_iteration_per_loop", f"{INIT}.util.set_iteration_per_loop"),
    ("npu_bridge.estimator.npu_ops.dropout", f"{INIT}.npu_ops.dropout"),
    ("npu_bridge.estimator.npu_unary_ops.npu_unary_ops.gelu", f"{INIT}.npu_unary_ops.gelu"),
    ("npu_bridge.npu_init.get_rank_size", "hccl.manage.api.get_rank_size"),
    ("npu_bridge.npu_init.tf.nn.dropout", "tensorflow.nn.dropout"),
    ("npu_bridge.npu_init.RewriterConfig.OFF", "tensorflow.core.protobuf.rewriter_config_pb2.RewriterConfig.OFF"),
    # what follows a call or subscript stays
    ("tensorflow.contrib.lookup.HashTable().lookup", "tensorflow.contrib.lookup.HashTable().lookup"),
    ("tensorflow.compat.v1.data.Dataset.range().map", "tensorflow.data.Dataset.range().map"),
    ("tensorflow.math.reduce_sum[].x", "tensorflow.reduce_sum[].x"),
    # no framework of ours
    ("torch.nn.Linear", "torch.nn.Linear"),
    ("tensorflowjs.nn.dropout", "tensorflowjs.nn.dropout"),
    ("models.layers:Net.forward", "models.layers:Net.forward"),
    ("", ""),
    ("tensorflow", "tensorflow"),
    ("tensorflow..nn", "tensorflow..nn"),
]


@pytest.mark.parametrize(("spelling", "name"), PAIRS, ids=[s or "empty" for s, _ in PAIRS])
def test_a_spelling_has_one_canonical_name(spelling: str, name: str) -> None:
    assert canonical(spelling) == name


@pytest.mark.parametrize("name", sorted({n for _, n in PAIRS}))
def test_a_canonical_name_is_its_own(name: str) -> None:
    assert canonical(name) == name


@pytest.mark.parametrize(("spelling", "name"), PAIRS, ids=[s or "empty" for s, _ in PAIRS])
def test_a_name_may_be_resolved_one_attribute_at_a_time(spelling: str, name: str) -> None:
    if any(mark in spelling for mark in ("(", "[", "..", "arg_scope.arg_scope")):
        pytest.skip("not an attribute of an attribute in Python either")
    found = ""
    for part in spelling.split("."):
        found = canonical(f"{found}.{part}" if found else part)
    assert found == name


@pytest.mark.parametrize(
    ("module", "members"),
    [
        (INIT, "npu_config_proto NPURunConfig NPULossScaleOptimizer npu_ops RewriterConfig get_rank_size tf util"),
        ("npu_bridge.estimator.npu.npu_config", "NPURunConfig DumpConfig ExperimentalConfig"),
        ("tensorflow", "Session nn placeholder ConfigProto contrib keras"),
        ("tensorflow.compat.v1", "Session nn placeholder ConfigProto"),
        ("tensorflow.contrib.slim", "conv2d dropout arg_scope learning"),
        ("tf_slim", "conv2d dropout arg_scope learning"),
        ("tensorflow.keras.layers", "Dense Dropout Conv2D"),
        ("tensorflow.python.keras.layers", "Dense Dropout Conv2D"),
        ("keras.layers", "Dense Dropout Conv2D"),
    ],
    ids=str,
)
def test_a_star_import_brings_the_names_of_its_module(module: str, members: str) -> None:
    assert set(members.split()) <= star_exports(module)


@pytest.mark.parametrize("module", ["torch.unknown", "numpy", "project.helpers", ""])
def test_a_star_import_of_an_unrecorded_module_brings_nothing(module: str) -> None:
    assert star_exports(module) == frozenset()


def test_what_npu_init_exports_has_a_canonical_name_that_stays() -> None:
    for name in star_exports(INIT):
        found = canonical(f"{INIT}.{name}")
        assert canonical(found) == found


def test_a_project_without_private_names_never_reads_their_table() -> None:
    code = (
        "from npulint.data import names\n"
        "names.canonical('tensorflow.compat.v1.nn.relu'), names.canonical('keras.layers.Dense')\n"
        "print(names._private.cache_info().currsize, names._exports.cache_info().currsize)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["0", "0"]
