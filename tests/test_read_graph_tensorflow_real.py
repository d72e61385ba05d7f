"""Graphs that TensorFlow itself builds and writes: what is read is what TensorFlow reads."""

from __future__ import annotations

import importlib.util
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from npulint.discover.graphs import form_of
from npulint.facts.graph import Body, Graph
from npulint.facts.model import Problem
from npulint.read.graph import read_graph
from tests.growth import slowness, within
from tests.tools import missing

pytestmark = pytest.mark.slow

if importlib.util.find_spec("tensorflow") is not None:
    import numpy
    import tensorflow as tf

    from tests.tensorflow_graphs import graph_of, parsed, parsed_text, written

    v1 = tf.compat.v1


@pytest.fixture(autouse=True)
def _tensorflow() -> None:
    if importlib.util.find_spec("tensorflow") is None:
        missing("tensorflow")


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


def agree(location: Path) -> Graph:
    """What is read of a file, after a look that TensorFlow reads the same in it."""
    form = form_of(str(location))
    data = location.read_bytes()
    found = read_graph(str(location), "graph")
    truth = graph_of(*parsed_text(data)) if form == "text" else graph_of(form, parsed(form, data))
    assert not isinstance(found, Problem), found
    assert (found.form, found.version, found.tags) == (truth.form, truth.version, truth.tags)
    assert found.collections == truth.collections
    assert [body.name for body in found.bodies] == [body.name for body in truth.bodies]
    for ours, theirs in zip(found.bodies, truth.bodies, strict=True):
        assert len(ours.nodes) == len(theirs.nodes), ours.name
        for node, other in zip(_unplaced(ours).nodes, theirs.nodes, strict=True):
            # A number that is none is not equal to itself; packed, it is.
            assert msgspec.msgpack.encode(node, order="sorted") == msgspec.msgpack.encode(other, order="sorted")
    return found


def _unplaced(body: Body) -> Body:
    return Body(body.name, [msgspec.structs.replace(node, line=0) for node in body.nodes])


@pytest.mark.parametrize("name", BUILDERS)
@pytest.mark.parametrize("ending", ["pb", "pbtxt", "meta"])
def test_graphs_of_tensorflow_1(name: str, ending: str, tmp_path: Path) -> None:
    graph = tf.Graph()
    with graph.as_default():
        BUILDERS[name]()
        location = tmp_path / f"graph.{ending}"
        if ending == "meta":
            v1.train.export_meta_graph(str(location), graph=graph)
        else:
            tf.io.write_graph(graph.as_graph_def(add_shapes=True), str(tmp_path), location.name, ending == "pbtxt")
    found = agree(location)
    assert len(found.bodies[0].nodes) == len(graph.get_operations())
    assert found.form == ("meta_graph" if ending == "meta" else "graph_def")
    if ending == "pbtxt":
        lines = location.read_text("utf-8").split("\n")
        assert all(lines[node.line - 1].strip() == "node {" for node in found.bodies[0].nodes)


def test_a_meta_graph_as_text(tmp_path: Path) -> None:
    with tf.Graph().as_default() as graph:
        queues()
        v1.train.export_meta_graph(str(tmp_path / "graph.meta"), graph=graph, as_text=True)
    found = agree(tmp_path / "graph.meta")
    assert found.collections["queue_runners"] == 2
    assert found.version == tf.__version__


class Nested(tf.Module if importlib.util.find_spec("tensorflow") else object):  # type: ignore[misc]
    def __init__(self) -> None:
        super().__init__()
        self.weights = tf.Variable(tf.ones([4, 2]), name="weights")

    def __call__(self, x: Any) -> Any:
        return self.outer(x)


def _nested() -> Any:
    module = Nested()
    signature = [tf.TensorSpec([None, 4], tf.float32, name="x")]

    inner = tf.function(
        lambda x: tf.cond(tf.reduce_sum(x) > 0, lambda: tf.matmul(x, module.weights), lambda: tf.zeros([1, 2]))
    )

    module.outer = tf.function(lambda x: inner(x) + 1.0, input_signature=signature)
    return module


@pytest.mark.parametrize("as_text", [False, True])
def test_a_saved_model_with_functions(as_text: bool, tmp_path: Path) -> None:
    tf.saved_model.save(_nested(), str(tmp_path / "model"))
    location = tmp_path / "model" / "saved_model.pb"
    if as_text:
        text = written(parsed("saved_model", location.read_bytes()))
        location = location.with_suffix(".pbtxt")
        location.write_text(text, "utf-8")
    found = agree(location)
    assert found.tags == ("serve",)
    outer = next(body for body in found.bodies if "lambda" in body.name)
    assert outer.nodes[0].op == "_Arg"
    assert outer.nodes[0].attrs["T"] == "float32"
    assert outer.nodes[0].attrs["index"] == 0
    names = {node.name for node in outer.nodes}
    assert all(text.lstrip("^").split(":", 1)[0] in names for node in outer.nodes for text in node.inputs)


def test_of_several_graphs_the_one_that_trains(tmp_path: Path) -> None:
    builder = v1.saved_model.Builder(str(tmp_path / "model"))
    for number, tag in enumerate(("serve", "train")):
        with tf.Graph().as_default(), v1.Session() as session:
            (host if tag == "serve" else embeddings)()
            if number:
                builder.add_meta_graph([tag])
            else:
                session.run(v1.tables_initializer())
                builder.add_meta_graph_and_variables(session, [tag])
    builder.save()
    found = agree(tmp_path / "model" / "saved_model.pb")
    assert found.tags == ("train",)
    assert any(node.op.startswith("SparseApplyAdagrad") for node in found.bodies[0].nodes)


def test_a_keras_model(tmp_path: Path) -> None:
    model = tf.keras.Sequential(
        [
            tf.keras.layers.Input([8, 8, 3]),
            tf.keras.layers.Conv2D(4, 3),
            tf.keras.layers.BatchNormalization(),
            tf.keras.layers.Flatten(),
            tf.keras.layers.Dense(2),
        ]
    )
    model.export(str(tmp_path / "model"), verbose=False)
    found = agree(tmp_path / "model" / "saved_model.pb")
    assert any(node.op == "Conv2D" for body in found.bodies for node in body.nodes)


FROZEN = 1800  # nodes, a quarter of them with the weights


def _frozen(location: Path) -> int:
    """Write a frozen graph of more than 100 MB; how many nodes it has."""
    from tensorflow.core.framework import graph_pb2

    graph = graph_pb2.GraphDef()
    weights = numpy.ones(60_000, "f")
    for number in range(FROZEN // 4):
        with tf.Graph().as_default() as part:
            constant = tf.constant(weights, name=f"layer_{number}/weights")
            tf.nn.relu(tf.identity(tf.identity(constant, name=f"layer_{number}/a"), name=f"layer_{number}/b"))
        graph.node.extend(part.as_graph_def().node)
    location.write_bytes(graph.SerializeToString())
    return len(graph.node)


def test_a_frozen_graph_of_100_mb_takes_hardly_longer_than_to_read_it(tmp_path: Path) -> None:
    location = tmp_path / "frozen.pb"
    count = _frozen(location)
    assert location.stat().st_size > 100_000_000
    begun = time.process_time()
    location.read_bytes()
    bytes_alone = time.process_time() - begun
    begun = time.process_time()
    found = read_graph(str(location), "frozen.pb")
    taken = time.process_time() - begun
    assert isinstance(found, Graph)
    assert len(found.bodies[0].nodes) == count == FROZEN
    assert taken < 4 * bytes_alone + 0.1 * slowness()  # a third of it where nothing else runs
    tracemalloc.start()
    try:
        read_graph(str(location), "frozen.pb")
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 5_000_000
    agree(location)


def test_a_training_graph_of_100_000_nodes_is_read_in_seconds(tmp_path: Path) -> None:
    with tf.Graph().as_default() as graph:
        training(False)
    one = graph.as_graph_def()
    copies = 100_000 // len(one.node) + 1
    (tmp_path / "graph.pb").write_bytes(one.SerializeToString() * copies)
    with within(8):  # less than one where nothing else runs
        found = read_graph(str(tmp_path / "graph.pb"), "graph.pb")
    assert isinstance(found, Graph)
    assert len(found.bodies[0].nodes) == len(one.node) * copies
