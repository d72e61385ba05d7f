"""What the migration tool rewrites, as programs that were written for a GPU and their migrated twins."""

from __future__ import annotations

from collections.abc import Mapping
from textwrap import dedent, indent

import msgspec

MARK = "# here"
SESSION = """\
import tensorflow as tf
<imports>


def network(images):
    hidden = tf.layers.dense(images, 128)
    <model>
    return tf.layers.dense(hidden, 10)


def pairs(path):
    dataset = tf.data.TFRecordDataset(path).map(parse).repeat()
    <data>
    return dataset.make_one_shot_iterator().get_next()


<settings>
images, labels = pairs("train.tfrecord")
loss = tf.reduce_mean(tf.losses.sparse_softmax_cross_entropy(labels, network(images)))
<optimizer>
<session>
    <first>
    for _ in range(1000):
        sess.run(step)
"""
ESTIMATOR = """\
import tensorflow as tf
<imports>


def input_fn():
    dataset = tf.data.TFRecordDataset("train.tfrecord").map(parse).repeat()
    <data>
    return dataset


def model_fn(features, labels, mode):
    loss = tf.losses.sparse_softmax_cross_entropy(labels, tf.layers.dense(features, 10))
    <optimizer>
    step = optimizer.minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=step)


<settings>
<estimator>
<run>
"""
KERAS1 = """\
import tensorflow as tf
from tensorflow.contrib import summary
<imports>
<settings>
model = tf.keras.Sequential([tf.keras.layers.Dense(10)])
<model>
<compile>
<run>
"""
KERAS2 = """\
import tensorflow as tf
<imports>
<settings>


@tf.function
def twice(x):
    return 2 * x


model = tf.keras.Sequential([tf.keras.layers.Dense(10)])
<model>
<optimizer>
model.compile(optimizer, loss="mse")
<run>
"""
BATCH = "dataset = dataset.batch(32, drop_remainder=True)"
ON_GPU: dict[str, dict[str, str]] = {
    SESSION: {
        "imports": "",
        "model": "",
        "data": BATCH,
        "settings": "",
        "optimizer": "step = tf.train.AdamOptimizer(1e-3).minimize(loss)",
        "session": "with tf.Session() as sess:",
        "first": "sess.run(tf.global_variables_initializer())",
    },
    ESTIMATOR: {
        "imports": "",
        "data": BATCH,
        "optimizer": "optimizer = tf.train.AdamOptimizer(1e-3)",
        "settings": "run_config = tf.estimator.RunConfig(save_summary_steps=0)",
        "estimator": "estimator = tf.estimator.Estimator(model_fn, config=run_config)",
        "run": "estimator.train(input_fn, steps=1000)",
    },
    KERAS1: {
        "imports": "",
        "settings": "",
        "model": "",
        "compile": 'model.compile("adam", loss="mse")',
        "run": "model.fit(pictures, numbers, epochs=10)",
    },
    KERAS2: {
        "imports": "",
        "settings": "",
        "model": "",
        "optimizer": "optimizer = tf.keras.optimizers.Adam(1e-3)",
        "run": "model.fit(pictures, numbers, epochs=10)",
    },
}
ON_NPU: dict[str, dict[str, str]] = {
    SESSION: {
        "imports": "from npu_bridge.npu_init import *",
        "session": "with tf.Session(config=npu_config_proto()) as sess:",
    },
    ESTIMATOR: {
        "imports": "from npu_bridge.npu_init import *",
        "estimator": "estimator = tf.estimator.Estimator(model_fn, config=npu_run_config_init(run_config=run_config))",
    },
    KERAS1: {
        "imports": "from npu_bridge.npu_init import *",
        "settings": "npu_session = set_keras_session_npu_config()",
    },
    KERAS2: {"imports": "import npu_device as npu\nnpu.open().as_default()"},
}
HOROVOD = "import horovod.tensorflow as hvd"


class Shape(msgspec.Struct, frozen=True):
    """Code that a rule of the tool matches, in `program`. `gpu` are the parts that show it, with `MARK` at the
    line that `check` must report; `npu` are those of the migrated twin, where the check is silent."""

    rule: str
    check: str
    program: str
    gpu: dict[str, str]
    npu: dict[str, str] = {}
    launcher: str = ""
    target: str = ""


def filled(program: str, *layers: Mapping[str, str]) -> str:
    """A program with its parts filled in; later layers win."""
    parts: dict[str, str] = {}
    for layer in layers:
        parts.update(layer)
    for name, part in parts.items():
        line = next(line for line in program.split("\n") if line.strip() == f"<{name}>")
        margin = line[: len(line) - len(line.lstrip())]
        program = program.replace(line, indent(dedent(part).strip(), margin))
    return program


def on_gpu(shape: Shape) -> str:
    """The program as it was written for a GPU."""
    return filled(shape.program, ON_GPU[shape.program], shape.gpu)


def on_npu(shape: Shape) -> str:
    """Its migrated twin."""
    return filled(shape.program, ON_GPU[shape.program], ON_NPU[shape.program], shape.npu)
