"""What is said of the training steps that TensorFlow builds here and now: types, shapes, control flow and input."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from npulint.facts.graph import Graph
from npulint.facts.model import Fact
from npulint.graphs.facts.target import Target
from npulint.graphs.facts.tensorflow import control, inputs, patterns, shapes, types
from npulint.graphs.facts.tensorflow.view import TensorFlowGraphView
from npulint.graphs.read import read_graph
from tests.tools import missing

pytestmark = pytest.mark.slow

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")

Said = dict[tuple[str, str], Fact]
Build = Callable[[Any, Any], None]


@pytest.fixture(scope="module")
def framework() -> tuple[Any, Any]:
    """TensorFlow, and its interface of version 1."""
    try:
        import tensorflow
    except ImportError:
        missing("tensorflow")
    return tensorflow, tensorflow.compat.v1


@pytest.fixture
def said(framework: tuple[Any, Any], tmp_path: Path) -> Callable[..., Said]:
    """Builds a graph, writes it as a training script does, and gives the facts by kind and name."""
    tf, v1 = framework

    def make(build: Build, ending: str = "meta", functional: bool = False) -> Said:
        (v1.enable_control_flow_v2 if functional else v1.disable_control_flow_v2)()
        try:
            with tf.Graph().as_default() as graph:
                with v1.variable_scope("", use_resource=functional):
                    build(tf, v1)
                if ending == "meta":
                    v1.train.export_meta_graph(str(tmp_path / "model.meta"))
        finally:
            v1.enable_control_flow_v2()
        if ending != "meta":
            v1.train.write_graph(graph.as_graph_def(), str(tmp_path), f"model.{ending}", as_text=ending == "pbtxt")
        return facts_of(str(tmp_path / f"model.{ending}"))

    return make


def facts_of(path: str) -> Said:
    graph = read_graph(path, path)
    assert isinstance(graph, Graph), graph
    view = TensorFlowGraphView(path, graph)
    found = [fact for part in (types, shapes, control, inputs, patterns) for fact in part.facts(view, Target())]
    by_name: Said = {}
    for fact in found:
        by_name.setdefault((fact.kind, fact.name), fact)
    return by_name


def train(v1: Any, loss: Any) -> None:
    v1.train.AdamOptimizer(1e-3).minimize(loss)


def dense(tf: Any, v1: Any, x: Any, name: str = "w") -> Any:
    return tf.matmul(x, v1.get_variable(name, [x.shape[-1], 8], dtype=x.dtype))


def loop(shape: list[int | None]) -> Build:
    def build(tf: Any, v1: Any) -> None:
        x = v1.placeholder(tf.float32, shape, name="image")
        h = dense(tf, v1, tf.reshape(x, [-1, 8]))
        _, y = tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, tf.tanh(a)), (tf.constant(0), h))
        y = tf.cond(v1.placeholder(tf.bool, [], name="training"), lambda: y * 2.0, lambda: y)
        train(v1, tf.reduce_mean(y))

    return build


CONTROL = ("graph_control_flow", "v1")


class TestControlFlow:
    def test_v1_in_an_open_graph(self, said: Callable[..., Said]) -> None:
        fact = said(loop([None, None, 8]))[CONTROL]
        assert fact.get("dynamic") == "inner"
        assert fact.get("unknown_dims") == "`image` [None, None, 8]"
        assert fact.get("parts").startswith("`while/while_context`")
        assert (fact.get("loops"), fact.get("branches")) == (2, 1)  # the gradient runs a loop as well

    def test_v1_in_a_static_graph(self, said: Callable[..., Said]) -> None:
        assert said(loop([4, 2, 8]))[CONTROL].get("dynamic") == "no"

    @pytest.mark.parametrize("ending", ["meta", "pb", "pbtxt"])
    def test_v2_is_silent_in_every_form(self, said: Callable[..., Said], ending: str) -> None:
        assert CONTROL not in said(loop([None, None, 8]), ending, functional=True)

    @pytest.mark.parametrize("ending", ["pb", "pbtxt"])
    def test_v1_is_seen_where_no_shapes_are_kept(self, said: Callable[..., Said], ending: str) -> None:
        assert said(loop([None, None, 8]), ending)[CONTROL].get("dynamic") == "inner"


class TestShapes:
    def test_only_the_k_that_is_computed(self, said: Callable[..., Said]) -> None:
        def build(tf: Any, v1: Any) -> None:
            h = dense(tf, v1, v1.placeholder(tf.float32, [16, 8]))
            positive = v1.placeholder(tf.float32, [16])
            k = tf.minimum(3 * tf.cast(tf.reduce_sum(positive), tf.int32), 100, name="hardest")
            few = [tf.nn.top_k(h, 5)[0], tf.nn.top_k(h, tf.minimum(5, tf.shape(h)[1]))[0]]
            train(v1, tf.reduce_sum(tf.nn.top_k(tf.reshape(h, [-1]), k)[0]) + tf.reduce_sum(few))

        fact = said(build)[("graph_top_k", "TopKV2")]
        assert (fact.get("k"), fact.get("count"), fact.get("maker")) == ("data", 1, "`hardest`")

    def test_masks_and_lengths(self, said: Callable[..., Said]) -> None:
        def build(tf: Any, v1: Any) -> None:
            h = dense(tf, v1, v1.placeholder(tf.float32, [16, 8]))
            kept = tf.boolean_mask(h, v1.placeholder(tf.bool, [16]))
            mask = tf.sequence_mask(v1.placeholder(tf.int32, [16]), dtype=tf.float32)
            train(v1, tf.reduce_mean(kept) + tf.reduce_sum(mask) * tf.reduce_mean(h))

        assert said(build)[("graph_dynamic", "data")].get("ops") == "`Range`, `Where`"

    def test_a_static_network_has_no_open_shape(self, said: Callable[..., Said]) -> None:
        def build(tf: Any, v1: Any) -> None:
            x = v1.placeholder(tf.float32, [4, 16, 16, 3])
            h = tf.nn.conv2d(x, v1.get_variable("k", [3, 3, 3, 8]), 1, "SAME")
            h = tf.reshape(tf.nn.max_pool2d(h, 2, 2, "SAME"), [4, -1])
            labels = tf.one_hot(v1.placeholder(tf.int32, [4]), 8)
            logits = dense(tf, v1, tf.where(h > 0, h, tf.zeros_like(h)))
            train(v1, tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits(labels, logits)))

        assert said(build) == {}

    def test_rows_of_an_embedding(self, said: Callable[..., Said]) -> None:
        def build(tf: Any, v1: Any) -> None:
            table = v1.get_variable("table", [100, 8])
            train(v1, tf.reduce_mean(tf.nn.embedding_lookup(table, v1.placeholder(tf.int32, [16]))))

        assert [name for kind, name in said(build) if kind == "graph_dynamic"] == ["sparse_update"]

    def test_rows_of_an_embedding_beside_dense_layers(self, said: Callable[..., Said]) -> None:
        def build(tf: Any, v1: Any) -> None:
            rows = tf.nn.embedding_lookup(v1.get_variable("table", [100, 8]), v1.placeholder(tf.int32, [16]))
            train(v1, tf.reduce_mean(dense(tf, v1, rows)))

        fact = said(build)[("graph_dynamic", "sparse_update")]
        assert (fact.get("ops"), fact.get("count")) == ("`Unique`", 1)


def fed_by(make: Callable[[Any, Any], Any]) -> Build:
    def build(tf: Any, v1: Any) -> None:
        train(v1, tf.reduce_mean(dense(tf, v1, tf.ensure_shape(make(tf, v1), [None, 8]))))

    return build


def initializable(v1: Any, data: Any) -> Any:
    return v1.data.make_initializable_iterator(data).get_next()


def slices(tf: Any) -> Any:
    return tf.data.Dataset.from_tensor_slices(tf.zeros([100, 8]))


class TestInputs:
    def test_the_last_batch_kept_or_dropped(self, said: Callable[..., Said]) -> None:
        kept = said(fed_by(lambda tf, v1: initializable(v1, slices(tf).batch(16))))
        assert kept[("graph_dynamic", "batch")].get("node") == "BatchDatasetV2"
        assert said(fed_by(lambda tf, v1: initializable(v1, slices(tf).batch(16, drop_remainder=True)))) == {}

    def test_padding_to_the_longest_sample(self, said: Callable[..., Said]) -> None:
        def build(tf: Any, v1: Any) -> None:
            data = slices(tf).map(lambda x: tf.boolean_mask(x, x > 0)).padded_batch(16, [None], drop_remainder=True)
            train(v1, tf.reduce_mean(initializable(v1, data) * v1.get_variable("w", [])))

        facts = said(build)
        assert facts[("graph_dynamic", "padded_batch")].get("shape") == "`IteratorGetNext` [16, None]"
        assert ("graph_dynamic", "data") not in facts  # the mask is of the input pipeline

    def test_a_one_shot_iterator_with_texts(self, said: Callable[..., Said]) -> None:
        def make(tf: Any, v1: Any) -> Any:
            data = tf.data.Dataset.zip((slices(tf), tf.data.Dataset.from_tensors("a").repeat()))
            return v1.data.make_one_shot_iterator(data.batch(16, drop_remainder=True)).get_next()[0]

        assert {name for kind, name in said(fed_by(make)) if kind == "graph_input"} == {"one_shot", "text"}

    def test_a_variable_a_py_func_and_a_joint_initialisation(self, said: Callable[..., Said]) -> None:
        def make(tf: Any, v1: Any) -> Any:
            scale = v1.get_variable("scale", [], use_resource=True)
            data = slices(tf).map(lambda x: tf.reshape(v1.py_func(lambda a: a, [x], tf.float32), [8]) * scale)
            iterator = v1.data.make_initializable_iterator(data.batch(16, drop_remainder=True))
            tf.group(v1.global_variables_initializer(), iterator.initializer, name="start")
            return iterator.get_next()

        facts = said(fed_by(make))
        assert facts[("graph_input", "joint_init")].get("nodes") == "`start`"
        assert facts[("graph_input", "host_function")].get("ops") == "`PyFunc`"
        assert "`scale`" in facts[("graph_input", "variable")].get("nodes")

    def test_a_queue(self, said: Callable[..., Said]) -> None:
        fact = said(fed_by(lambda tf, v1: v1.train.batch([tf.zeros([8])], 16)))[("graph_input", "queue")]
        assert (fact.get("ops"), fact.get("runners")) == ("`QueueDequeueManyV2`", 1)


@pytest.mark.filterwarnings("ignore:overflow")  # TensorFlow's own: the gradient of a mean divides by its size
class TestTypes:
    def test_half_precision_written_in_the_graph(self, said: Callable[..., Said]) -> None:
        def build(tf: Any, v1: Any) -> None:
            x = v1.placeholder(tf.float16, [64, 32, 32, 8])
            h = tf.nn.conv2d(x, v1.get_variable("k", [3, 3, 8, 8], dtype=tf.float16), 1, "SAME")
            h = h * tf.math.rsqrt(tf.square(h) + tf.constant(1e-8, tf.float16))
            train(v1, tf.reduce_mean(h) + tf.reduce_sum(tf.exp(h)))

        facts = said(build)
        assert facts[("graph_half", "Mean")].get("elements") == 64 * 32 * 32 * 8
        assert facts[("graph_half", "AddV2")].get("group") == "zero_guard"
        assert facts[("graph_half", "Exp")].get("group") == "power"
        assert facts[("graph_half_training", "float16")].get("scaled") == "no"

    @pytest.mark.parametrize("factor", [1.0, 128.0])
    def test_a_loss_scale_by_hand(self, said: Callable[..., Said], factor: float) -> None:
        def build(tf: Any, v1: Any) -> None:
            h = dense(tf, v1, v1.placeholder(tf.float16, [64, 8]))
            train(v1, tf.reduce_mean(tf.cast(h, tf.float32)) * factor)

        assert said(build)[("graph_half_training", "float16")].get("scaled") == ("yes" if factor > 1 else "no")

    def test_double_precision(self, said: Callable[..., Said]) -> None:
        def build(tf: Any, v1: Any) -> None:
            train(v1, tf.reduce_mean(dense(tf, v1, v1.placeholder(tf.float64, [64, 8]))))

        fact = said(build)[("graph_numbers", "float64")]
        assert (fact.get("share"), fact.get("heavy")) == (100, 2)


def test_dropout_resizing_and_patches(said: Callable[..., Said]) -> None:
    def build(tf: Any, v1: Any) -> None:
        x = v1.placeholder(tf.float32, [2, 8, 8, 3])
        h = tf.nn.conv2d(x, v1.get_variable("k", [3, 3, 3, 4]), 1, "SAME")
        h = v1.image.resize_bilinear(tf.nn.dropout(h, rate=0.3), [16, 16], align_corners=True)
        train(v1, tf.reduce_mean(tf.image.extract_patches(h, [1, 3, 3, 1], [1, 1, 1, 1], [1, 1, 1, 1], "SAME")))

    facts = said(build)
    assert facts[("graph_dropout", "native")].get("noise_shape") == "no"
    resize = facts[("graph_slow_op", "resize")]
    assert (resize.get("forward"), resize.get("backward"), resize.get("mode")) == (1, 1, "align_corners")
    assert ("graph_slow_op", "patches") in facts


def test_inference_with_a_saver_and_summaries_is_quiet(said: Callable[..., Said]) -> None:
    def build(tf: Any, v1: Any) -> None:
        y = tf.nn.softmax(dense(tf, v1, v1.placeholder(tf.float32, [16, 8])))
        v1.summary.histogram("y", y)
        v1.train.Saver()
        v1.global_variables_initializer()

    assert said(build) == {}


def test_of_a_saved_model_only_what_is_served_counts(framework: tuple[Any, Any], tmp_path: Path) -> None:
    tf, _ = framework
    model = tf.Module()

    def halved(x: Any) -> Any:
        return tf.unique(tf.reshape(x, [-1]))[0]

    def served(x: Any) -> Any:
        return tf.cond(tf.reduce_sum(x) > 0, lambda: tf.function(halved)(x), lambda: tf.reshape(x, [-1]))

    model.kept = tf.function(lambda x: tf.boolean_mask(x, x > 0), input_signature=[tf.TensorSpec([16, 8], tf.float32)])
    model.served = tf.function(served, input_signature=[tf.TensorSpec([None, None], tf.float32, name="x")])
    tf.saved_model.save(model, str(tmp_path), signatures={"serving_default": model.served.get_concrete_function()})
    facts = facts_of(str(tmp_path / "saved_model.pb"))
    assert facts[("graph_dynamic", "data")].get("ops") == "`Unique`"
    assert facts[("graph_dynamic", "placeholder")].get("shape") == "`serving_default_x` [None, None]"
