"""The vocabulary of recipes for TensorFlow, the NPU adapter and host libraries: what counts as the same call."""

from __future__ import annotations

import ast
import os
import warnings
from typing import Any

import pytest

from npulint.data.names import canonical
from npulint.data.recipe import RecipeCall, recipe_call, setting_parts
from npulint.facts.recipe import ITEM_OF
from tests.tools import missing

pytestmark = pytest.mark.slow

_PREFIXES = {
    "tf": "tensorflow",
    "slim": "tensorflow.contrib.slim",
    "layers": "tensorflow.contrib.layers",
    "mixed": "tensorflow.contrib.mixed_precision",
    "npu": "npu_bridge.npu_init",
    "npu_ops": "npu_bridge.estimator.npu_ops",
    "hvd": "horovod.tensorflow",
    "np": "numpy",
    "dataset": "tensorflow.data.Dataset()",
    "optimizer": "?optimizer",
    "model": "?model",
    "image": "?image",
    "K": "tensorflow.keras.backend",
}


def dotted(node: ast.expr) -> str:
    """The canonical name of a dotted name, by the usual aliases of its root."""
    root, _, rest = ast.unparse(node).partition(".")
    name = f"{_PREFIXES.get(root, root)}.{rest}" if rest else _PREFIXES.get(root, root)
    return name if name.startswith("?") else canonical(name)


def value(node: ast.expr) -> object:
    try:
        return ast.literal_eval(node)
    except ValueError:
        return dotted(node) if isinstance(node, ast.Attribute) else ast.unparse(node)


def told(source: str) -> tuple[RecipeCall, dict[str, object]]:
    """What the vocabulary knows of a call that is written as text, and the values that it has."""
    call = ast.parse(source, mode="eval").body
    assert isinstance(call, ast.Call)
    known = recipe_call(dotted(call.func), "tensorflow")
    assert known is not None, source
    given = {known.parameter(place): value(one) for place, one in enumerate(call.args)}
    given |= {keyword.arg or "**": value(keyword.value) for keyword in call.keywords}
    effective = {name: tuple(v) if isinstance(v, list) else v for name, v in known.effective(given).items()}
    return known, effective


def compared(source: str) -> tuple[str, str, dict[str, object]]:
    known, values = told(source)
    return known.part, known.same_as, values


EQUAL = """
tf.nn.dropout(x, 0.75) | tf.nn.dropout(x, rate=0.25)
tf.nn.dropout(x, 0.5) | npu_ops.dropout(x, keep_prob=0.5)
tf.nn.dropout(x, keep_prob=0.9, name='d') | npu_ops.dropout(x, 0.9)
tf.nn.dropout(x, rate=0.1) | npu.npu_ops.dropout(x, 0.9)
slim.dropout(x, 0.8) | layers.dropout(x, keep_prob=0.8, scope='drop')
tf.keras.layers.Dropout(0.3) | keras.layers.Dropout(rate=0.3, name='d')
tf.layers.conv2d(x, 64, 3) | tf.layers.conv2d(x, 64, [3, 3], strides=(1, 1), padding='VALID')
tf.layers.conv2d(x, 64, 3, activation=tf.nn.relu) | tf.layers.conv2d(x, filters=64, kernel_size=3, activation='relu')
tf.layers.conv2d(x, 8, 3, data_format='channels_first') | tf.layers.conv2d(x, 8, 3)
tf.layers.dense(x, 10, name='a', reuse=True) | tf.layers.dense(inputs=x, units=10, use_bias=True)
tf.layers.max_pooling2d(x, 2, 2) | tf.layers.max_pooling2d(x, [2, 2], (2, 2), 'valid')
tf.layers.batch_normalization(x, training=t, fused=True) | tf.layers.batch_normalization(x, momentum=0.99, training=t)
slim.conv2d(x, 32, [3, 3]) | layers.conv2d(x, 32, 3, stride=1, padding='same', scope='c')
slim.conv2d(x, 32, 3) | layers.convolution2d(x, 32, 3, activation_fn=tf.nn.relu)
slim.fully_connected(x, 10) | layers.fully_connected(x, num_outputs=10, scope='fc')
slim.batch_norm(x, fused=True) | layers.batch_norm(x, decay=0.999)
slim.l2_regularizer(0.0005) | layers.l2_regularizer(scale=0.0005)
slim.xavier_initializer() | layers.xavier_initializer_conv2d(uniform=True)
slim.variance_scaling_initializer() | layers.variance_scaling_initializer(factor=2.0, mode='FAN_IN')
slim.arg_scope([a], is_training=t) | tf.contrib.framework.arg_scope([b], is_training=t)
tf.keras.layers.Conv2D(8, 3) | keras.layers.Conv2D(8, (3, 3), padding='VALID', input_shape=(2, 2, 3))
tf.keras.layers.Conv2D(8, 3) | tf.keras.layers.Convolution2D(8, kernel_size=3, strides=1)
tf.keras.layers.Dense(10, activation='relu') | tf.keras.layers.Dense(units=10, activation=tf.nn.relu)
tf.keras.layers.CuDNNLSTM(128) | tf.keras.layers.LSTM(128)
keras.layers.core.Dense(3) | tf.keras.layers.Dense(3)
tf.contrib.rnn.BasicLSTMCell(64) | tf.nn.rnn_cell.BasicLSTMCell(64, forget_bias=1.0, state_is_tuple=True)
tf.contrib.rnn.DropoutWrapper(c, output_keep_prob=0.8) | tf.nn.rnn_cell.DropoutWrapper(c, 1.0, 0.8)
tf.reduce_sum(x, 1, keep_dims=True) | tf.reduce_sum(x, axis=1, keepdims=True)
tf.reduce_mean(x, reduction_indices=1) | tf.math.reduce_mean(x, axis=1)
tf.argmax(x, dimension=1) | tf.argmax(x, 1, output_type=tf.int32)
tf.nn.softmax(x, dim=-1) | tf.nn.softmax(x, axis=-1)
tf.nn.conv2d(x, w, [1, 1, 1, 1], 'SAME') | tf.nn.conv2d(x, filters=w, strides=[1, 1, 1, 1], padding='same')
tf.nn.conv2d(x, w, s, 'SAME', use_cudnn_on_gpu=False) | tf.nn.conv2d(x, w, s, 'SAME')
tf.set_random_seed(1) | tf.compat.v1.random.set_random_seed(1)
tf.set_random_seed(1) | tf.random.set_seed(seed=1)
tf.train.AdamOptimizer(1e-3) | tf.train.AdamOptimizer(0.001, beta1=0.9, beta2=0.999, epsilon=1e-8, name='a')
tf.train.MomentumOptimizer(lr, 0.9) | tf.train.MomentumOptimizer(lr, momentum=0.9, use_nesterov=False, use_locking=True)
tf.keras.optimizers.Adam(lr=0.01) | keras.optimizers.Adam(learning_rate=0.01)
tf.keras.optimizers.SGD(0.1, momentum=0.9, decay=0.0) | tf.optimizers.SGD(0.1, 0.9)
tf.keras.optimizers.legacy.Adam(0.1) | tf.keras.optimizers.Adam(0.1)
tf.train.piecewise_constant(s, b, v) | tf.compat.v1.train.piecewise_constant_decay(s, b, v, name='lr')
tf.train.exponential_decay(l, s, 100, 0.9) | tf.train.exponential_decay(l, s, 100, 0.9, staircase=False)
mixed.FixedLossScaleManager(128) | npu.FixedLossScaleManager(loss_scale=128, enable_overflow_check=False)
mixed.FixedLossScaleManager(128) | tf.train.experimental.FixedLossScale(128)
mixed.ExponentialUpdateLossScaleManager(32768, 1000) | npu.ExponentialUpdateLossScaleManager(32768, 1000, 2, 2, 0.8)
mixed.LossScaleOptimizer(o, m) | npu.NPULossScaleOptimizer(o, m, is_distributed=True)
tf.keras.mixed_precision.LossScaleOptimizer(o) | npu_device.train.optimizer.NpuLossScaleOptimizer(o)
tf.keras.mixed_precision.set_global_policy(p) | tf.keras.mixed_precision.experimental.set_policy(p)
hvd.DistributedOptimizer(o) | horovod.keras.DistributedOptimizer(o, compression=c)
npu.NPUDistributedOptimizer(o) | npu.npu_tf_optimizer(o)
npu.npu_distributed_optimizer_wrapper(o) | npu.NPUDistributedOptimizer(o, is_weight_update_sharding=False)
hvd.rank() | npu.get_npu_rank_id()
hvd.size() | hccl.manage.api.get_rank_size('hccl_world_group')
hvd.local_rank() | npu.get_npu_local_rank_id()
hvd.broadcast_global_variables(0) | npu.NPUBroadcastGlobalVariablesHook(0, rank)
tf.distribute.MirroredStrategy() | npu.npu_strategy.NPUStrategy('/cpu:0')
tf.estimator.Estimator(model_fn=f, model_dir=d) | npu.NPUEstimator(model_fn=g, config=c, params=p)
tf.contrib.tpu.TPUEstimator(use_tpu=False, model_fn=f, train_batch_size=8) | npu.NPUEstimator(model_fn=f)
tf.estimator.TrainSpec(f, max_steps=9, hooks=h) | tf.estimator.TrainSpec(input_fn=g, max_steps=9)
tf.contrib.data.map_and_batch(f, 32, num_parallel_calls=4) | tf.data.experimental.map_and_batch(g, batch_size=32)
dataset.batch(32) | dataset.batch(32, drop_remainder=False, num_parallel_calls=8)
dataset.map(f, num_parallel_calls=8) | dataset.map(g)
dataset.shuffle(100) | dataset.shuffle(buffer_size=100, seed=None)
tf.contrib.data.batch_and_drop_remainder(8) | dataset.batch(8, drop_remainder=True)
npu.npu_unary_ops.gelu(x) | npu_device.ops.gelu(x)
tf.keras.regularizers.l2(0.01) | tf.keras.regularizers.L2(l2=0.01)
tf.losses.softmax_cross_entropy(a, b) | tf.contrib.losses.softmax_cross_entropy(a, b, weight=1.0)
tf.nn.softmax_cross_entropy_with_logits(labels=a, logits=b) | tf.nn.softmax_cross_entropy_with_logits_v2(a, b)
tf.clip_by_global_norm(g, 5.0) | tf.clip_by_global_norm(g, clip_norm=5.0, name='c')
tf.nn.softmax(x) | tf.nn.softmax(x, axis=-1)
tf.to_float(x) | tf.cast(x, tf.float32)
tf.to_int32(x, name='i') | tf.cast(x, dtype='int32')
tf.pack([a, b]) | tf.stack([a, b], axis=0)
tf.mul(x, y) | tf.multiply(x, y)
tf.reduce_max(x, 1) | tf.reduce_max(x, 1, keepdims=False)
optimizer.minimize(loss) | optimizer.minimize(loss, global_step=step, colocate_gradients_with_ops=True)
model.fit(x, y, batch_size=8, epochs=2, verbose=0) | model.fit(a, b, 8, epochs=2, callbacks=c, workers=4)
cv2.resize(a, (4, 4)) | cv2.resize(b, dsize=(4, 4), interpolation=1)
np.absolute(x) | np.abs(x)
np.random.RandomState().shuffle(x) | np.random.shuffle(x)
image.resize((4, 4)) | PIL.Image.open().resize(size=(4, 4))
random.seed(3) | random.seed(a=3)
K.set_learning_phase(1) | keras.backend.set_learning_phase(1)
"""

DIFFERENT = """
tf.nn.dropout(x, 0.5) | npu_ops.dropout(x, keep_prob=0.6)
tf.layers.conv2d(x, 64, 3) | tf.layers.conv2d(x, 64, 3, padding='same')
tf.layers.conv2d(x, 64, 3) | tf.layers.conv2d(x, 64, (3, 1))
tf.layers.conv2d(x, 64, 3, activation=tf.nn.relu) | tf.layers.conv2d(x, 64, 3, activation=tf.nn.elu)
slim.conv2d(x, 32, 3) | slim.conv2d(x, 32, 3, activation_fn=None)
tf.train.AdamOptimizer(0.001) | tf.train.AdamOptimizer(0.001, epsilon=1e-4)
tf.train.AdamOptimizer(0.001) | tf.train.GradientDescentOptimizer(0.001)
tf.keras.optimizers.SGD(0.1, momentum=0.9) | tf.keras.optimizers.SGD(0.1)
mixed.FixedLossScaleManager(128) | npu.FixedLossScaleManager(1024)
mixed.ExponentialUpdateLossScaleManager(32768, 1000) | npu.ExponentialUpdateLossScaleManager(32768, 1000, 3)
dataset.batch(32) | dataset.batch(32, drop_remainder=True)
dataset.shuffle(100) | dataset.shuffle(1000)
dataset.take(10) | dataset.skip(10)
tf.to_float(x) | tf.cast(x, tf.float16)
tf.estimator.TrainSpec(f, max_steps=9) | tf.estimator.TrainSpec(f, max_steps=10)
tf.reduce_sum(x, 1) | tf.reduce_sum(x, 1, keepdims=True)
tf.nn.softmax_cross_entropy_with_logits(a, b) | tf.nn.sigmoid_cross_entropy_with_logits(a, b)
tf.contrib.rnn.BasicLSTMCell(64) | tf.contrib.rnn.BasicLSTMCell(64, forget_bias=0.0)
cv2.resize(a, (4, 4)) | cv2.resize(a, (4, 4), interpolation=2)
tf.image.resize_bilinear(x, s) | tf.image.resize_nearest_neighbor(x, s)
model.fit(x, y, epochs=2) | model.fit(x, y, epochs=3)
model.fit(x, y) | model.fit(x, y, shuffle=False)
hvd.rank() | hvd.size()
tf.keras.layers.LSTM(64) | tf.keras.layers.GRU(64)
tf.random_normal_initializer(stddev=0.02) | tf.truncated_normal_initializer(stddev=0.02)
"""


def pairs(text: str) -> list[Any]:
    lines = [line for line in text.split("\n") if "|" in line]
    return [pytest.param(*(side.strip() for side in line.split("|")), id=line) for line in lines]


@pytest.mark.parametrize(("one", "other"), pairs(EQUAL))
def test_equal_calls_are_compared_alike(one: str, other: str) -> None:
    first, second = compared(one), compared(other)
    assert first[:2] == second[:2]
    names = first[2].keys() | second[2].keys()
    values = {name: (first[2].get(name), second[2].get(name)) for name in names}
    assert {name: both for name, both in values.items() if not _alike(*both)} == {}


def _alike(one: object, other: object) -> bool:
    """Whether values are equal; a variable of an example, which has one letter, stands for anything."""
    return one == other or all(value is None or (isinstance(value, str) and len(value) == 1) for value in (one, other))


@pytest.mark.parametrize(("one", "other"), pairs(DIFFERENT))
def test_different_calls_are_not(one: str, other: str) -> None:
    assert compared(one) != compared(other)


@pytest.mark.parametrize(
    ("name", "part"),
    [
        ("tensorflow.train.AdamOptimizer().minimize", "update"),
        ("npu_bridge.npu_init.NPULossScaleOptimizer().apply_gradients", "update"),
        ("?tape.gradient", ""),
        ("tensorflow.GradientTape().gradient", "update"),
        ("?dataset.repeat", "repeat"),
        ("tensorflow.train.Saver().restore", "checkpoint"),
        ("tensorflow.train.ExponentialMovingAverage().apply", "average"),
        ("tensorflow.contrib.slim.learning.create_train_op", "update"),
        ("tensorflow.keras.layers.Dense()", "layer"),
        ("keras.layers.Dropout()", "dropout"),
        ("npu_bridge.npu_init.util.set_iteration_per_loop", "iterations_per_loop"),
        ("npu_bridge.npu_init.npu_scope.keep_dtype_scope", "mix_list"),
        ("tensorflow.stop_gradient", "frozen"),
        ("tensorflow.image.random_flip_left_right", "transform"),
        ("tensorflow.train.piecewise_constant", "schedule"),
        ("tensorflow.contrib.layers.l2_regularizer", "regularisation"),
        ("tensorflow.metrics.accuracy", "evaluation"),
        ("sklearn.model_selection.train_test_split", "split"),
        ("numpy.random.shuffle", "shuffle"),
        ("numpy.load().astype", "transform"),
        ("PIL.Image.open().convert().resize", "transform"),
    ],
)
def test_calls_belong_to_their_part(name: str, part: str) -> None:
    known = recipe_call(name, "tensorflow")
    assert (known.part if known else "") == part


@pytest.mark.parametrize(
    "name",
    [
        "tensorflow.Session",
        "tensorflow.summary.scalar",
        "tensorflow.train.Saver",
        "tensorflow.placeholder",
        "tensorflow.variable_scope",
        "keras.layers.Input",
        "tensorflow.gfile.GFile",
        "tensorflow.keras.callbacks.ModelCheckpoint",
        "tensorflow.keras.Model().summary",
        "tensorflow.data.Iterator().get_next",
        "npu_bridge.npu_init.close_session",
        "hccl.split.api.set_split_strategy_by_idx",
        "train:Model().fit",
        "json.load().get",
        "multiprocessing.Pool().map",
        "cv2.imshow",
        "numpy.zeros",
        "re.compile",
        "?",
        "",
    ],
)
def test_what_decides_no_numbers_is_left_out(name: str) -> None:
    assert recipe_call(name, "tensorflow") is None


@pytest.mark.parametrize(
    ("name", "argument"),
    [
        ("npu_bridge.npu_init.npu_config_proto", "config_proto"),
        ("npu_bridge.npu_init.npu_hooks_append", "hooks_list"),
        ("tensorflow.identity", "input"),
        ("numpy.asarray", "object"),
        ("tensorflow.data.Dataset().prefetch", "self"),
        ("npu_bridge.npu_init.util.set_graph_exec_config", "fetch"),
    ],
)
def test_passing_calls_name_what_they_give_on(name: str, argument: str) -> None:
    known = recipe_call(name)
    assert known is not None
    assert known.transparent
    assert known.through == argument


def test_a_wrapper_that_decides_something_is_no_mere_passing() -> None:
    known = recipe_call("npu_bridge.npu_init.NPULossScaleOptimizer")
    assert known is not None
    assert (known.part, known.through, known.transparent, known.adapter) == ("loss_scale", "opt", False, True)


def test_arguments_have_parts_of_their_own() -> None:
    parts = {
        ("tensorflow.train.AdamOptimizer", "learning_rate"): "learning_rate",
        ("tensorflow.train.AdamOptimizer", "epsilon"): "optimizer",
        ("tensorflow.train.MomentumOptimizer", "momentum"): "momentum",
        ("tensorflow.layers.conv2d", "kernel_regularizer"): "regularisation",
        ("tensorflow.layers.conv2d", "trainable"): "frozen",
        ("tensorflow.layers.conv2d", "filters"): "layer",
        ("?model.fit", "epochs"): "epochs",
        ("?model.fit", "batch_size"): "batch_size",
        ("tensorflow.data.Dataset().batch", "drop_remainder"): "drop_remainder",
        ("npu_bridge.npu_init.NPURunConfig", "iterations_per_loop"): "iterations_per_loop",
        ("npu_bridge.npu_init.NPURunConfig", "precision_mode"): "precision_mode",
        ("keras.optimizers.Adam", "lr"): "learning_rate",
        ("tensorflow.truncated_normal_initializer", "seed"): "seed",
    }
    known = {key: recipe_call(key[0]) for key in parts}
    assert {key: call.role(key[1]) for key, call in known.items() if call is not None} == parts


def test_values_of_both_frameworks_meet_under_neutral_names() -> None:
    for source in (
        "tf.train.AdamOptimizer(0.1, 0.8, epsilon=1e-6)",
        "tf.keras.optimizers.Adam(0.1, 0.8, epsilon=1e-6)",
    ):
        known, values = told(source)
        found = known.neutral_values(values)
        assert known.neutral == "adam"
        assert {k: found[k] for k in ("learning_rate", "beta1", "beta2", "epsilon")} == {
            "learning_rate": 0.1,
            "beta1": 0.8,
            "beta2": 0.999,
            "epsilon": 1e-6,
        }


def test_settings_belong_to_parts() -> None:
    assert setting_parts()["precision_mode"] == "precision_mode"
    assert setting_parts()["modify_mixlist"] == "mix_list"
    assert set(setting_parts().values()) <= ITEM_OF.keys()
    assert "model_dir" not in setting_parts()


@pytest.fixture(scope="module")
def recorded() -> dict[str, str]:
    """What the installed TensorFlow says today."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            import tensorflow  # noqa: F401
        except ImportError:
            missing("tensorflow")
        from scripts.record_signatures import tensorflow as record

        return record()


def test_recorded_signatures_are_those_of_the_library(recorded: dict[str, str]) -> None:
    from npulint.data.recipe_tables import _signatures

    committed = _signatures("tensorflow")
    assert len(committed) > 800
    both = committed.keys() & recorded.keys()
    assert len(both) > 0.95 * len(committed)  # another release has lost or gained some
    assert {name: (committed[name], recorded[name]) for name in both if committed[name] != recorded[name]} == {}
