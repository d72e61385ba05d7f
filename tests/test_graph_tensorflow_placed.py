"""Where the nodes of graphs run that TensorFlow itself built."""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable
from typing import Any

import pytest

from npulint.facts.graph import Graph
from npulint.facts.model import Fact
from npulint.graphs.facts.graph_programs import graph_facts
from npulint.graphs.facts.target import Target
from npulint.graphs.read import read_graph
from npulint.model.code.project import Project
from npulint.model.values.context import Context
from tests.tools import missing

pytestmark = pytest.mark.slow

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
tf: Any = None  # imported by the first test, for it takes seconds
Build = Callable[[Any], Any]


@pytest.fixture(autouse=True)
def _installed() -> None:
    global tf
    try:
        tf = importlib.import_module("tensorflow")
    except ImportError:
        missing("tensorflow")


def said(graph: Any, name: str = "model.pb") -> list[Fact]:
    """What a graph of TensorFlow says once it is written and read."""
    read = read_graph("", name, graph.as_graph_def().SerializeToString())
    assert isinstance(read, Graph)
    return graph_facts(name, read, Context(Project("", [])), Target())


def trained(build: Build, resource: bool = False) -> list[Fact]:
    """What a graph says whose loss is trained by Adam, with all that a script adds to it."""
    v1 = tf.compat.v1
    graph = tf.Graph()
    with graph.as_default():
        v1.get_variable_scope().set_use_resource(resource)
        loss = build(v1)
        v1.train.AdamOptimizer(1e-3).minimize(loss, global_step=v1.train.get_or_create_global_step())
        v1.summary.scalar("loss", loss)
        v1.summary.merge_all()
        v1.train.Saver()
        v1.global_variables_initializer()
        v1.tables_initializer()
    return said(graph)


def whole(facts: list[Fact]) -> Fact:
    return next(fact for fact in facts if fact.kind == "graph")


def cuts(facts: list[Fact]) -> list[str]:
    return [fact.name for fact in facts if fact.kind == "graph_cut"]


def groups(facts: list[Fact]) -> set[str]:
    return {f"{fact.name} {fact.get('family')}" for fact in facts if fact.kind == "graph_group"}


def dense(v1: Any, x: Any, size: int, name: str) -> Any:
    return tf.matmul(x, v1.get_variable(name, [x.shape[-1], size]))


def convolution(v1: Any, x: Any, name: str) -> Any:
    return tf.nn.relu(tf.nn.conv2d(x, v1.get_variable(name, [3, 3, x.shape[-1], 8]), 1, "SAME"))


def classified(v1: Any, features: Any) -> Any:
    logits = dense(v1, tf.reshape(features, [4, -1]), 10, "logits")
    labels = v1.placeholder(tf.int32, [4])
    return tf.reduce_mean(v1.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits))


def picture(v1: Any) -> Any:
    return convolution(v1, v1.placeholder(tf.float32, [4, 16, 16, 3]), "first")


def network(v1: Any) -> Any:
    return classified(v1, convolution(v1, picture(v1), "second"))


def network_with_python(v1: Any) -> Any:
    hidden = v1.py_func(lambda a: a, [picture(v1)], tf.float32)
    hidden.set_shape([4, 16, 16, 8])
    return classified(v1, convolution(v1, hidden, "second"))


@pytest.mark.parametrize("resource", [False, True])
def test_an_ordinary_network_is_one_graph_of_the_device(resource: bool) -> None:
    facts = trained(network, resource)
    graph = whole(facts)
    assert (graph.get("clusters"), graph.get("host_nodes"), graph.get("left_behind")) == (1, 0, 0)
    assert groups(facts) == set()
    assert graph.get("device_nodes") > 50


@pytest.mark.parametrize("resource", [False, True])
def test_python_in_the_middle_cuts_the_network(resource: bool) -> None:
    facts = trained(network_with_python, resource)
    assert cuts(facts) == ["PyFunc"]
    graph = whole(facts)
    assert graph.get("clusters") == 2
    assert 0 < graph.get("left_behind") < graph.get("device_nodes") / 2


def attention(v1: Any) -> Any:
    ids = v1.placeholder(tf.int32, [2, 8])
    hidden = tf.reshape(tf.gather(v1.get_variable("words", [50, 16]), ids), [16, 16])
    for layer in range(2):
        query, key, value = (
            tf.reshape(dense(v1, hidden, 16, f"{layer}{name}"), [2, 8, 4, 4]) for name in ("query", "key", "value")
        )
        query, key, value = (tf.transpose(one, [0, 2, 1, 3]) for one in (query, key, value))
        weights = v1.nn.dropout(tf.nn.softmax(tf.matmul(query, key, transpose_b=True) / 2.0), rate=0.1)
        context = tf.reshape(tf.transpose(tf.matmul(weights, value), [0, 2, 1, 3]), [16, 16])
        hidden = hidden + dense(v1, context, 16, f"{layer}out")
        mean, variance = tf.nn.moments(hidden, [-1], keepdims=True)
        hidden = tf.nn.batch_normalization(hidden, mean, variance, None, None, 1e-6)
    return classified(v1, hidden)


def test_a_transformer_is_one_graph_of_the_device() -> None:
    facts = trained(attention)
    assert cuts(facts) == []
    assert not {one for one in groups(facts) if one.startswith(("host", "older", "aicpu"))}


def _table(v1: Any) -> Any:
    values = tf.constant([0, 1], tf.int64)
    return tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(["a", "b"], values), 0)


def asked_in_step(v1: Any) -> Any:
    ids = _table(v1).lookup(v1.placeholder(tf.string, [8]))
    return tf.reduce_sum(tf.nn.embedding_lookup(v1.get_variable("words", [9, 4]), ids))


def asked_in_data_set(v1: Any) -> Any:
    table = _table(v1)
    data = tf.data.Dataset.from_tensor_slices(["a", "b"]).map(lambda word: table.lookup(word))
    ids = v1.data.make_initializable_iterator(data.batch(2, drop_remainder=True)).get_next()
    return tf.reduce_sum(tf.nn.embedding_lookup(v1.get_variable("words", [9, 4]), ids))


@pytest.mark.parametrize(
    ("build", "told"), [(asked_in_step, ("step", "device", "no")), (asked_in_data_set, ("input", "device", "yes"))]
)
def test_tables(build: Build, told: tuple[str, str, str]) -> None:
    (found,) = [fact for fact in trained(build) if fact.kind == "graph_table"]
    assert (found.get("lookup"), found.get("filled"), found.get("split")) == told


def queued(v1: Any) -> Any:
    queue = v1.FIFOQueue(10, [tf.float32], [[4]])
    filled = queue.enqueue(v1.py_func(lambda: 1.0, [], tf.float32, name="made") * tf.ones([4]))
    v1.train.add_queue_runner(v1.train.QueueRunner(queue, [filled]))
    return tf.reduce_sum(dense(v1, queue.dequeue_many(8), 3, "layer"))


def test_what_fills_a_queue_is_no_part_of_the_step() -> None:
    facts = trained(queued)
    assert cuts(facts) == []
    assert "host python" not in groups(facts)


def recurrent(python: bool) -> Build:
    def build(v1: Any) -> Any:
        hidden = dense(v1, v1.placeholder(tf.float32, [4, 8]), 8, "before")
        weights = v1.get_variable("weights", [8, 8])

        def body(step: Any, state: Any) -> Any:
            state = tf.tanh(tf.matmul(state, weights))
            if python:
                state = v1.py_func(lambda a: a, [state], tf.float32)
                state.set_shape([4, 8])
            return step + 1, state

        _, hidden = v1.while_loop(lambda step, state: step < 5, body, [0, hidden])
        return classified(v1, dense(v1, hidden, 3, "behind"))

    return build


@pytest.mark.parametrize(("python", "why"), [(False, []), (True, ["loop"])])
def test_loops_of_the_first_kind(python: bool, why: list[str]) -> None:
    v1 = tf.compat.v1
    v1.disable_control_flow_v2()
    try:
        facts = trained(recurrent(python))
    finally:
        v1.enable_control_flow_v2()
    assert [fact.get("why") for fact in facts if fact.kind == "graph_cut"] == why
    assert whole(facts).get("clusters") == (2 if python else 1)
    assert whole(facts).get("mixed_clusters") > 1  # loops and their stacks stay on the host there


@pytest.mark.parametrize(("python", "why"), [(False, []), (True, ["calls"])])
def test_loops_that_call_functions(python: bool, why: list[str]) -> None:
    facts = trained(recurrent(python), resource=True)
    assert [fact.get("why") for fact in facts if fact.kind == "graph_cut"] == why
    assert "tied other" not in groups(facts)  # the variables and lists of the loop are told with it


def looped_from_the_start(v1: Any) -> Any:
    """A loop over Python and a variable with nothing of the device before it."""
    weights = v1.get_variable("weights", [8, 8])

    def body(step: Any, state: Any) -> Any:
        grown = v1.py_func(lambda a: a, [tf.matmul(state, weights)], tf.float32)
        grown.set_shape([4, 8])
        return step + 1, state + grown

    _, hidden = v1.while_loop(lambda step, _: step < 3, body, [0, v1.placeholder(tf.float32, [4, 8])])
    return classified(v1, dense(v1, hidden, 8, "behind"))


def test_python_in_a_loop_that_cuts_nothing_is_told_by_the_variables_it_keeps() -> None:
    facts = trained(looped_from_the_start, resource=True)
    assert cuts(facts) == []
    (tied,) = [fact for fact in facts if fact.kind == "graph_group" and fact.name == "tied"]
    assert tied.get("apis") == "`tf.py_func`" and "ResourceApplyAdam" in tied.get("ops")
    assert [fact.get("cuts") for fact in facts if fact.kind == "graph_group" and fact.name == "host"] == ["yes"]


def sequences(v1: Any) -> Any:
    """A recurrent layer over a sequence, as ``dynamic_rnn`` builds it."""
    inputs = tf.transpose(v1.placeholder(tf.float32, [4, 7, 8]), [1, 0, 2])
    weights = v1.get_variable("weights", [16, 8])
    read = tf.TensorArray(tf.float32, 7).unstack(inputs)

    def body(step: Any, written: Any, state: Any) -> Any:
        state = tf.tanh(tf.matmul(tf.concat([read.read(step), state], 1), weights))
        return step + 1, written.write(step, state), state

    begin = [0, tf.TensorArray(tf.float32, 7), tf.zeros([4, 8])]
    _, written, _ = v1.while_loop(lambda step, *_: step < 7, body, begin)
    return classified(v1, tf.transpose(written.stack(), tf.range(2, -1, -1)))


def test_a_sequence_runs_on_the_device_but_its_arrays_on_the_ai_cpu() -> None:
    v1 = tf.compat.v1
    v1.disable_control_flow_v2()
    try:
        facts = trained(sequences)
    finally:
        v1.enable_control_flow_v2()
    assert (cuts(facts), whole(facts).get("clusters")) == ([], 1)
    (slow,) = [fact for fact in facts if fact.kind == "graph_group" and fact.name == "aicpu"]
    types = {fact.name for fact in facts if fact.kind == "graph_op" and fact.get("on_path") == "yes"}
    slow_types = {op for op in types if op.startswith(("TensorArray", "Stack"))}
    assert slow_types and slow.get("types") == len(slow_types)  # permutations are known when the graph is compiled


def masked(v1: Any) -> Any:
    hidden = dense(v1, v1.placeholder(tf.float32, [16, 8]), 8, "layer")
    return tf.reduce_sum(tf.boolean_mask(hidden, v1.placeholder(tf.bool, [16])))


def test_what_follows_the_data_is_told_by_its_shape_alone() -> None:
    facts = trained(masked)
    assert not {one for one in groups(facts) if one.startswith("aicpu")}
    assert [fact.get("ops") for fact in facts if fact.kind == "graph_dynamic"] == ["`Where`"]


def test_a_saved_model_of_functions(tmp_path: Any) -> None:
    class Model(tf.Module):  # type: ignore[misc, name-defined, unused-ignore]
        def __init__(self) -> None:
            self.weights = tf.Variable(tf.ones([4, 4]))

        @tf.function(input_signature=[tf.TensorSpec([None, 4])])  # type: ignore[untyped-decorator, unused-ignore]
        def __call__(self, x: Any) -> Any:
            hidden = tf.numpy_function(lambda a: a, [x @ self.weights], tf.float32)
            hidden.set_shape([None, 4])
            return hidden @ self.weights

    model = Model()
    tf.saved_model.save(model, str(tmp_path), signatures=model.__call__)
    location = str(tmp_path / "saved_model.pb")
    read = read_graph(location, location)
    assert isinstance(read, Graph)
    facts = graph_facts("saved_model.pb", read, Context(Project("", [])), Target())
    graph = whole(facts)
    assert (graph.get("style"), graph.get("trains"), graph.get("left_behind")) == ("function", "no", 0)
    assert [fact.get("ops") for fact in facts if fact.kind == "graph_group" and fact.name == "host"] == ["`PyFunc`"]


def test_savers_and_their_files_are_no_part_of_what_is_inferred() -> None:
    v1 = tf.compat.v1
    graph = tf.Graph()
    with graph.as_default():
        tf.nn.softmax(dense(v1, v1.placeholder(tf.float32, [4, 8]), 3, "layer"))
        for _ in range(4):
            v1.train.Saver(sharded=True)
    facts = said(graph)
    assert (cuts(facts), groups(facts)) == ([], set())


def test_a_frozen_graph_is_quiet() -> None:
    step = tf.function(lambda x: tf.nn.relu(x @ tf.ones([4, 4]))).get_concrete_function(tf.TensorSpec([None, 4]))
    facts = said(step.graph)
    assert groups(facts) == set()
    assert cuts(facts) == []
