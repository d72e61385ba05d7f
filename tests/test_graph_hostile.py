"""Graphs that nobody means well with: they cost little time and memory, and what they say stays short."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from npulint.core.cache import Cache
from npulint.discover import safe_open
from npulint.discover.kinds import SourceFile
from npulint.facts.graph import Body, Graph, Node
from npulint.facts.model import Fact, Problem
from npulint.graphs.facts.graph_programs import graph_facts
from npulint.graphs.facts.target import Target
from npulint.graphs.read import read_graph
from npulint.graphs.read.protobuf import wire as wire_format
from npulint.graphs.read.torch.exported import outputs
from npulint.graphs.read.torch.schema import BackwardSignature, Signature
from npulint.graphs.read.torch.script.expression import ExpressionScan
from npulint.judge.result_cache import cached_facts
from npulint.model.code.project import Project
from npulint.model.values.context import Context
from npulint.read.files import load
from tests import onnx_models
from tests.growth import ended_if_stuck

MANY = 20_000  # what takes time by its square takes minutes


def said(nodes: list[Node], *functions: Body) -> list[Fact]:
    graph = Graph("graph_def", [Body("", nodes), *functions])
    with ended_if_stuck():
        return graph_facts("g.pb", graph, Context(Project("", [])), Target())


def wire(number: int, data: bytes) -> bytes:
    """A field of a message with a length."""
    length, size = b"", len(data)
    while size > 127:
        length += bytes([size & 127 | 128])
        size >>= 7
    return bytes([number << 3 | 2]) + length + bytes([size]) + data


def binary(name: str, op: str, *inputs: str) -> bytes:
    return wire(1, b"".join(wire(n, text.encode()) for n, text in [(1, name), (2, op), *((3, i) for i in inputs)]))


def read(data: bytes, name: str = "g.pb") -> Graph | Problem:
    return read_graph("", name, data)


HALF = {"T": "float16"}


@pytest.mark.slow
def test_a_node_of_many_inputs_is_not_walked_for_each_that_takes_it() -> None:
    wide = Node("wide", "Identity", ("a",) * (5 * MANY), HALF)
    users = [Node(f"s{n}", "Sum", ("wide",), HALF) for n in range(MANY)]
    switches = [Node(f"w{n}", "Switch", (f"s{n}", "wide")) for n in range(MANY)]
    found = said([Node("a", "Const", (), HALF), wide, *users, *switches])
    (half,) = [fact for fact in found if fact.kind == "graph_half"]
    assert half.get("count") == MANY


def test_random_numbers_with_many_users_are_not_followed_for_ever() -> None:
    random = [Node(f"r{n}", "RandomUniform") for n in range(MANY)]
    shared = Node("all", "Identity", tuple(node.name for node in random))
    users = [Node(f"u{n}", "Add", ("all",)) for n in range(MANY)]
    assert not [fact for fact in said([*random, shared, *users]) if fact.kind == "graph_dropout"]


def test_the_mask_of_a_dropout_is_found_beside_a_product_of_many_factors() -> None:
    nodes = [
        Node("x", "Placeholder", (), {"shape": [-1, 8]}),
        Node("size", "Shape", ("x",)),
        Node("r", "RandomUniform", ("size",)),
        Node("keep", "GreaterEqual", ("r", "rate")),
        Node("out", "Mul", ("x", "keep", *("x",) * MANY)),
    ]
    (dropout,) = [fact for fact in said(nodes) if fact.kind == "graph_dropout"]
    assert dropout.get("noise_shape") == "no"


@pytest.mark.slow
def test_groups_that_wait_for_one_group_are_not_looked_into_each() -> None:
    inner = [Node(f"q{n}", "NoOp") for n in range(MANY)]
    hub = Node("hub", "NoOp", ("^make", "^store", *(f"^{node.name}" for node in inner)))
    outer = [Node(f"n{n}", "NoOp", ("^hub",)) for n in range(MANY)]
    found = said([Node("make", "MakeIterator"), Node("store", "Assign"), *inner, hub, *outer])
    (joint,) = [fact for fact in found if fact.name == "joint_init"]
    assert joint.get("count") == MANY + 1 and joint.get("node") == "hub"


@pytest.mark.parametrize("op", ["Relu", "Identity", "Switch", "Enter", "NextIteration", "PyFunc", "TopKV2", "NoOp"])
def test_circles_end(op: str) -> None:
    ring = [Node(str(n), op, (str((n + 1) % 500), f"^{n * 7 % 500}"), {"frame_name": str(n)}) for n in range(500)]
    assert any(fact.kind == "graph" for fact in said([*ring, Node("me", op, ("me", "^me"))]))


def test_functions_that_call_one_another_in_a_circle_end() -> None:
    def body(n: int) -> Body:
        called = {"f": {"function": f"f{(n + 1) % 500}"}}
        return Body(f"f{n}", [Node("call", "PartitionedCall", (), called), Node("host", "PyFunc")])

    call = Node("c", "StatefulPartitionedCall", (), {"f": {"function": "f0"}})
    (graph,) = [fact for fact in said([call], *map(body, range(500))) if fact.kind == "graph"]
    assert graph.get("functions") == 500


def test_long_names_are_cut() -> None:
    name = "n" * 60_000
    graphs = [
        read(binary("a", "Const") + binary(name, name, name)),
        read(
            f'node {{ name: "a" op: "Const" }} node {{ name: "{name}" op: "{name}" input: "{name}" }}'.encode(),
            "g.pbtxt",
        ),
    ]
    for graph in graphs:
        assert isinstance(graph, Graph)
        node = graph.bodies[0].nodes[1]
        assert (node.name, node.inputs) == ("n" * wire_format.NAME, ("n" * wire_format.NAME,))
        assert node.op == "n" * wire_format.TEXT


@pytest.mark.parametrize("name", ["g.pb", "g.pbtxt"])
def test_types_of_operators_are_counted(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wire_format, "OPERATORS", 3)

    def graph(count: int) -> bytes:
        if name == "g.pb":
            return b"".join(binary(str(n), f"Op{n % count}") for n in range(12))
        return b"".join(b'node { name: "%d" op: "Op%d" }\n' % (n, n % count) for n in range(12))

    assert isinstance(read(graph(3), name), Graph)
    many = read(graph(4), name)
    assert isinstance(many, Problem) and many.reason == "graph-too-large"


@pytest.mark.parametrize("name", ["g.pb", "g.pbtxt"])
def test_functions_are_counted(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wire_format, "FUNCTIONS", 3)

    def graph(count: int) -> bytes:
        if name == "g.pb":
            each = (wire(1, wire(1, wire(1, b"f%d" % n))) for n in range(count))
            return binary("a", "Const") + wire(2, b"".join(each))
        each = (b'function { signature { name: "f%d" } }\n' % n for n in range(count))
        return b'node { name: "a" op: "Const" }\nlibrary { ' + b"".join(each) + b"}"

    assert isinstance(read(graph(3), name), Graph)
    many = read(graph(4), name)
    assert isinstance(many, Problem) and many.reason == "graph-too-large"


def test_gradients_are_told_from_outputs_in_one_pass() -> None:
    gradients = {f"g{n}": "p" for n in range(5 * MANY)}
    signature = Signature(
        user_outputs=[*(f"o{n}" for n in range(5 * MANY)), "g0"],
        backward_signature=BackwardSignature("", gradients, {}),
    )
    with ended_if_stuck():
        plain, found = outputs(signature)
    assert len(plain) == 5 * MANY and found == list(gradients)


def test_a_file_that_has_nothing_to_read_yet_is_empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The logs of a kernel are regular files that would make a reader wait."""

    class Waiting:
        def __init__(self, descriptor: int, *_: Any, **__: Any) -> None:
            self._descriptor = descriptor

        def __enter__(self) -> Waiting:
            return self

        def __exit__(self, *_: object) -> None:
            os.close(self._descriptor)

        def read(self, _: int) -> None:
            return None

        def readall(self) -> None:
            return None

    path = tmp_path / "kmsg.pb"
    path.write_bytes(b"content")
    monkeypatch.setattr(safe_open, "open", Waiting, raising=False)
    assert safe_open.read_head(str(path), 9) == b"" == safe_open.read_regular(str(path), 9)


def test_graphs_are_not_remembered_beside_the_outcome(tmp_path: Path) -> None:
    (tmp_path / "g.pb").write_bytes(b"".join(binary(str(n), "Relu", str(n - 1)) for n in range(500)))
    (tmp_path / "a.py").write_bytes(b"x = 1\n")
    sources = [
        SourceFile(name, kind, str(tmp_path / name), "", 1) for name, kind in (("g.pb", "graph"), ("a.py", "python"))
    ]
    kept: list[int] = []

    class Counting(Cache):
        def put_many(self, items: Mapping[bytes, bytes]) -> None:
            kept.append(len(items))
            super().put_many(items)

    cache = Counting(str(tmp_path / "cache.sqlite"))
    first, second = (cached_facts([load(one) for one in sources], cache) for _ in range(2))
    assert kept == [1, 0]
    assert first[0].graph == second[0].graph is not None


@pytest.mark.parametrize("text", ['"' + '\\"' * 500_000, "'" + '\\"' * 500_000, '"a' + "\\'" * 500_000])
def test_a_string_of_torchscript_without_end_is_read_once(text: str) -> None:
    with ended_if_stuck(), pytest.raises(ValueError, match="without end"):
        ExpressionScan(lambda call, whole: "", lambda name: "").run(text, 0)


def _many_of_onnx(count: int) -> bytes:
    """Nodes with equal names, each with a branch that sees all values around it, and sizes that are looked up."""
    branch = onnx_models.inner("then_branch", onnx_models.node("Add", "v0 x", "b", name="n"))
    resize = onnx_models.word("mode", "nearest")
    nodes = (onnx_models.node("Resize", "x - s", f"v{n}", resize, branch, name="n") for n in range(count))
    return onnx_models.model(*nodes, onnx_models.weight("s", onnx_models.FLOAT, 5))


@pytest.mark.slow
def test_large_onnx_models_take_time_by_their_size() -> None:
    graph = read(_many_of_onnx(MANY // 4), "m.onnx")
    assert isinstance(graph, Graph)
    with ended_if_stuck():
        found = graph_facts("m.onnx", graph, Context(Project("", [])), Target())
    assert [(one.name, one.get("count")) for one in found if one.kind == "onnx_limit"] == [("Resize", MANY // 4)]
