"""Graphs that TensorFlow itself builds, by name.

Importing this needs TensorFlow, and takes seconds.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy
import tensorflow as tf
from tensorflow.core.framework import graph_pb2

v1 = tf.compat.v1


def _dense(x: Any, units: int, name: str, resource_variables: bool) -> Any:
    weights = v1.get_variable(f"{name}/w", [x.shape[-1], units], use_resource=resource_variables)
    bias = v1.get_variable(f"{name}/b", [units], use_resource=resource_variables)
    return tf.nn.relu(tf.matmul(x, weights) + bias)


def training(resource_variables: bool) -> None:
    x = v1.placeholder(tf.float32, [None, 8], name="x")
    loss = tf.reduce_mean(tf.square(_dense(x, 4, "layer", resource_variables)))
    step = v1.train.get_or_create_global_step()
    v1.train.AdamOptimizer(0.001).minimize(loss, global_step=step)
    v1.summary.scalar("loss", loss)
    v1.train.Saver()


def loop(version: int) -> None:
    (v1.enable_control_flow_v2 if version == 2 else v1.disable_control_flow_v2)()
    start = v1.placeholder(tf.int32, [], name="start")
    count, _ = tf.while_loop(lambda i, t: i < 10, lambda i, t: (i + 1, t * 2.0), [start, tf.ones([3])])
    tf.cond(count > 3, lambda: count + 1, lambda: count - 1)
    v1.disable_control_flow_v2()


def queues() -> None:
    files = v1.train.string_input_producer(["a", "b"])
    _, record = v1.TFRecordReader().read(files)
    features = v1.parse_single_example(record, {"image": tf.io.FixedLenFeature([], tf.string)})
    v1.train.batch([features["image"]], batch_size=4, num_threads=2)


def dataset() -> None:
    data = tf.data.Dataset.from_tensor_slices(numpy.zeros((10, 4), "f"))
    data = data.map(lambda a: a + tf.constant(1.5), num_parallel_calls=2).shuffle(10).batch(2, drop_remainder=True)
    v1.data.make_initializable_iterator(data).get_next()


def host() -> None:
    x = v1.placeholder(tf.float64, [2, None])
    v1.py_func(lambda a: a, [x], tf.float64)
    table = tf.lookup.StaticHashTable(
        tf.lookup.KeyValueTensorInitializer(tf.constant(["a", "b"]), tf.constant([1, 2], tf.int64)), -1
    )
    table.lookup(v1.placeholder(tf.string, [None]))
    tf.strings.join([tf.constant("x"), tf.constant("y\n\"'\\\t")])


def constants() -> None:
    values: list[Any] = [0, 3, [2], [1, 2, 3], [[5]], []]
    numbers = "float16 bfloat16 float32 float64 int8 int16 int32 int64 uint8 uint16 uint32 uint64".split()
    for name in numbers:
        for value in values:
            tf.constant(value, tf.as_dtype(name))
    for name in ("float32", "int64", "float16", "int8"):
        tf.constant(-7, tf.as_dtype(name))
    others: list[Any] = [True, False, [True], "text", b"\xff\x00", 1 + 2j, float("inf"), float("nan"), 1e-40, 2**62]
    for value in others:
        tf.constant(value)
    tf.fill([2, 3], 4.0)
    tf.zeros([5, 5])


def unicode_names() -> None:
    v1.placeholder(tf.float32, [], name="a.b/c-d_e")
    for text in ("模型\n", '"quoted"', "back\\slash", "x" * 1000, "\u0007", "é"):
        tf.constant(text)
    with v1.name_scope("outer"):
        tf.constant([["一", "二"]])


def gradients() -> None:
    doubled = tf.custom_gradient(lambda x: (x * 2, lambda upstream: upstream * 3))

    x = v1.placeholder(tf.float32, [4])
    v1.gradients(tf.reduce_sum(doubled(x)), x)


def embeddings() -> None:
    ids = v1.placeholder(tf.int64, [None, 5])
    table = v1.get_variable("table", [100, 8], use_resource=False, partitioner=tf.compat.v1.fixed_size_partitioner(3))
    loss = tf.reduce_sum(tf.nn.embedding_lookup(table, ids))
    v1.train.AdagradOptimizer(0.1).minimize(loss)


def functions() -> None:
    inner = tf.function(lambda x: tf.cond(tf.reduce_sum(x) > 0, lambda: x * 2, lambda: x))

    def outer(x: Any) -> Any:
        for _ in tf.range(3):
            x = inner(x)
        return x

    tf.function(outer)(v1.placeholder(tf.float32, [None, 3]))


def convolution() -> None:
    x = v1.placeholder(tf.float32, [None, None, None, 3])
    kernel = v1.get_variable("kernel", [3, 3, 3, 8], use_resource=True)
    y = tf.nn.conv2d(x, kernel, [1, 2, 2, 1], "SAME")
    y, _, _ = v1.nn.fused_batch_norm(y, tf.ones([8]), tf.zeros([8]))
    y = tf.image.resize(y, [7, 7])
    tf.math.top_k(tf.reduce_mean(tf.cast(y, tf.float16), [1, 2]), k=3)
    tf.image.extract_patches(x, [1, 2, 2, 1], [1, 2, 2, 1], [1, 1, 1, 1], "VALID")


BUILDERS: dict[str, Callable[[], None]] = {
    "ref_variables": lambda: training(False),
    "resource_variables": lambda: training(True),
    "loop_v1": lambda: loop(1),
    "loop_v2": lambda: loop(2),
    **{
        build.__name__: build
        for build in (queues, dataset, host, constants, unicode_names, gradients, embeddings, functions, convolution)
    },
}


class Nested(tf.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weights = tf.Variable(tf.ones([4, 2]), name="weights")

    def __call__(self, x: Any) -> Any:
        return self.outer(x)


def nested() -> Any:
    module = Nested()
    signature = [tf.TensorSpec([None, 4], tf.float32, name="x")]

    inner = tf.function(
        lambda x: tf.cond(tf.reduce_sum(x) > 0, lambda: tf.matmul(x, module.weights), lambda: tf.zeros([1, 2]))
    )

    module.outer = tf.function(lambda x: inner(x) + 1.0, input_signature=signature)
    return module


FROZEN = 1800  # nodes, a quarter of them with the weights


def frozen(location: Path) -> int:
    """Write a frozen graph of more than 100 MB; how many nodes it has."""
    graph = graph_pb2.GraphDef()
    weights = numpy.ones(60_000, "f")
    for number in range(FROZEN // 4):
        with tf.Graph().as_default() as part:
            constant = tf.constant(weights, name=f"layer_{number}/weights")
            tf.nn.relu(tf.identity(tf.identity(constant, name=f"layer_{number}/a"), name=f"layer_{number}/b"))
        graph.node.extend(part.as_graph_def().node)
    location.write_bytes(graph.SerializeToString())
    return len(graph.node)
