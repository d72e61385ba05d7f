"""Graphs that TensorFlow itself builds and writes: what is read is what TensorFlow reads."""

from __future__ import annotations

import importlib.util
import tracemalloc
from pathlib import Path
from typing import Any

import msgspec
import pytest

from npulint.discover.graphs import form_of
from npulint.facts.graph import Body, Graph
from npulint.facts.model import Problem
from npulint.graphs.read import read_graph
from tests.growth import counted, ended_if_stuck
from tests.tools import missing

pytestmark = pytest.mark.slow

NAMES = (
    "ref_variables", "resource_variables", "loop_v1", "loop_v2", "queues", "dataset", "host", "constants",
    "unicode_names", "gradients", "embeddings", "functions", "convolution",
)  # fmt: skip


@pytest.fixture(scope="module", autouse=True)
def real() -> Any:
    """The module that builds graphs: imported when a test runs, not when tests are collected, for it takes seconds."""
    if importlib.util.find_spec("tensorflow") is None:
        missing("tensorflow")
    return importlib.import_module("tests.tensorflow_real_graphs")


def test_every_graph_is_read(real: Any) -> None:
    assert tuple(real.BUILDERS) == NAMES


def agree(location: Path) -> Graph:
    """What is read of a file, after a look that TensorFlow reads the same in it."""
    from tests.tensorflow_graphs import graph_of, parsed, parsed_text

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


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("ending", ["pb", "pbtxt", "meta"])
def test_graphs_of_tensorflow_1(name: str, ending: str, tmp_path: Path, real: Any) -> None:
    graph = real.tf.Graph()
    with graph.as_default():
        real.BUILDERS[name]()
        location = tmp_path / f"graph.{ending}"
        if ending == "meta":
            real.v1.train.export_meta_graph(str(location), graph=graph)
        else:
            real.tf.io.write_graph(graph.as_graph_def(add_shapes=True), str(tmp_path), location.name, ending == "pbtxt")
    found = agree(location)
    assert len(found.bodies[0].nodes) == len(graph.get_operations())
    assert found.form == ("meta_graph" if ending == "meta" else "graph_def")
    if ending == "pbtxt":
        lines = location.read_text("utf-8").split("\n")
        assert all(lines[node.line - 1].strip() == "node {" for node in found.bodies[0].nodes)


def test_a_meta_graph_as_text(tmp_path: Path, real: Any) -> None:
    with real.tf.Graph().as_default() as graph:
        real.queues()
        real.v1.train.export_meta_graph(str(tmp_path / "graph.meta"), graph=graph, as_text=True)
    found = agree(tmp_path / "graph.meta")
    assert found.collections["queue_runners"] == 2
    assert found.version == real.tf.__version__


@pytest.mark.parametrize("as_text", [False, True])
def test_a_saved_model_with_functions(as_text: bool, tmp_path: Path, real: Any) -> None:
    real.tf.saved_model.save(real.nested(), str(tmp_path / "model"))
    location = tmp_path / "model" / "saved_model.pb"
    if as_text:
        from tests.tensorflow_graphs import parsed, written

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


def test_of_several_graphs_the_one_that_trains(tmp_path: Path, real: Any) -> None:
    builder = real.v1.saved_model.Builder(str(tmp_path / "model"))
    for number, tag in enumerate(("serve", "train")):
        with real.tf.Graph().as_default(), real.v1.Session() as session:
            (real.host if tag == "serve" else real.embeddings)()
            if number:
                builder.add_meta_graph([tag])
            else:
                session.run(real.v1.tables_initializer())
                builder.add_meta_graph_and_variables(session, [tag])
    builder.save()
    found = agree(tmp_path / "model" / "saved_model.pb")
    assert found.tags == ("train",)
    assert any(node.op.startswith("SparseApplyAdagrad") for node in found.bodies[0].nodes)


def test_a_keras_model(tmp_path: Path, real: Any) -> None:
    model = real.tf.keras.Sequential(
        [
            real.tf.keras.layers.Input([8, 8, 3]),
            real.tf.keras.layers.Conv2D(4, 3),
            real.tf.keras.layers.BatchNormalization(),
            real.tf.keras.layers.Flatten(),
            real.tf.keras.layers.Dense(2),
        ]
    )
    model.export(str(tmp_path / "model"), verbose=False)
    found = agree(tmp_path / "model" / "saved_model.pb")
    assert any(node.op == "Conv2D" for body in found.bodies for node in body.nodes)


def test_a_frozen_graph_of_100_mb_takes_work_for_its_nodes_only(tmp_path: Path, real: Any) -> None:
    location = tmp_path / "frozen.pb"
    count = real.frozen(location)
    assert location.stat().st_size > 100_000_000
    found: list[object] = []
    work = counted(lambda: found.append(read_graph(str(location), "frozen.pb")))
    (graph,) = found
    assert isinstance(graph, Graph)
    assert len(graph.bodies[0].nodes) == count == real.FROZEN
    assert work < 1000 * count  # nothing for the bytes of the weights
    tracemalloc.start()
    try:
        read_graph(str(location), "frozen.pb")
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 5_000_000
    agree(location)


def test_a_training_graph_of_100_000_nodes_is_read(tmp_path: Path, real: Any) -> None:
    with real.tf.Graph().as_default() as graph:
        real.training(False)
    one = graph.as_graph_def()
    copies = 100_000 // len(one.node) + 1
    (tmp_path / "graph.pb").write_bytes(one.SerializeToString() * copies)
    with ended_if_stuck():
        found = read_graph(str(tmp_path / "graph.pb"), "graph.pb")
    assert isinstance(found, Graph)
    assert len(found.bodies[0].nodes) == len(one.node) * copies
