"""Where the nodes of hand-made graphs of TensorFlow run."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from npulint.data.supported import SupportedOps
from npulint.facts.graph import Body, Graph, Node
from npulint.facts.model import Fact
from npulint.graphs.facts.graph_programs import graph_facts
from npulint.graphs.facts.target import Target
from npulint.graphs.facts.tensorflow.where import interfaces
from npulint.model.code.project import Project
from npulint.model.values.context import Context


def node(name: str, op: str, *inputs: str, **attrs: Any) -> Node:
    return Node(name, op, inputs, attrs)


def said(nodes: list[Node], *functions: Body, target: Target | None = None, form: str = "graph_def") -> list[Fact]:
    """All facts of a graph."""
    graph = Graph(form, [Body("", nodes), *functions])
    return graph_facts("model.pb", graph, Context(Project("", [])), target or Target())


def places(facts: list[Fact], key: str = "place") -> dict[str, Any]:
    """By operator type of the step its place."""
    return {fact.name: fact.get(key) for fact in facts if fact.kind == "graph_op" and fact.get("on_path") == "yes"}


def whole(facts: list[Fact]) -> Fact:
    return next(fact for fact in facts if fact.kind == "graph")


def groups(facts: list[Fact]) -> dict[str, str]:
    return {f"{fact.name} {fact.get('family')}": fact.get("ops") for fact in facts if fact.kind == "graph_group"}


def model(middle: list[Node], last: str) -> list[Node]:
    """Two layers with something between them, and their steps."""
    layer = [node("x", "Placeholder", dtype="float32"), node("rate", "Const", dtype="float32")]
    for name in ("w1", "w2"):
        layer += [node(name, "VariableV2", dtype="float32"), node(f"{name}/read", "Identity", name, T="float32")]
    return [
        *layer,
        node("first", "MatMul", "x", "w1/read"),
        *middle,
        node("second", "MatMul", last, "w2/read"),
        node("gradients/second", "MatMul", last, "second"),
        node("gradients/first", "MatMul", "x", "first"),
        node("u1", "ApplyGradientDescent", "w1", "rate", "gradients/first"),
        node("u2", "ApplyGradientDescent", "w2", "rate", "gradients/second"),
    ]


def test_python_in_the_middle_leaves_the_smaller_side_behind() -> None:
    facts = said(model([node("py", "PyFunc", "first", Tout=["float32"])], "py"))
    (found,) = [fact for fact in facts if fact.kind == "graph_cut"]
    assert (found.name, found.get("family"), found.get("from"), found.get("to")) == (
        "PyFunc",
        "python",
        "first",
        "second",
    )
    assert found.get("stays") == 3  # the other layer, its gradient and its update are with the variables
    assert found.get("heavy") == 2
    graph = whole(facts)
    assert (graph.get("clusters"), graph.get("left_behind"), graph.get("cut_by")) == (2, 3, "`PyFunc`")
    assert graph.get("host_nodes") == 1


def test_the_graph_stays_whole_where_python_only_prepares() -> None:
    facts = said(model([node("py", "PyFunc", "x", Tout=["float32"]), node("mul", "Mul", "first", "py")], "mul"))
    assert not [fact for fact in facts if fact.kind == "graph_cut"]
    assert whole(facts).get("left_behind") == 0
    assert groups(facts) == {"host python": "`PyFunc`"}


def test_what_no_step_needs_is_told_of_nowhere() -> None:
    nodes = model([node("relu", "Relu", "first")], "relu")
    nodes += [node("shown", "PyFunc", "second"), node("image", "ImageSummary", "shown")]
    nodes += [node("save/SaveV2", "SaveV2", "w1"), node("init", "NoOp", "^a"), node("a", "Assign", "w1", "start")]
    nodes += [node("start", "StatelessTruncatedNormalV2"), node("lines", "TextLineDataset")]
    assert groups(said(nodes)) == {}


@pytest.mark.parametrize(
    ("op", "place", "mixed"),
    [
        ("Relu", "device", "device"),
        ("Unique", "device", "host"),
        ("PyFunc", "host", "host"),
        ("ImageSummary", "host", "host"),
        ("Einsum", "older", "device"),
        ("Roll", "older", "device"),
        ("MyOperator", "host", "host"),
        ("HcomAllReduce", "device", "device"),
        ("NpuGetFloatStatusV2", "device", "device"),
        ("StringJoin", "host", "host"),
        ("SomethingDatasetV2", "host", "host"),
    ],
)
def test_place_of_an_operator(op: str, place: str, mixed: str) -> None:
    facts = said(model([node("mid", op, "first")], "mid"))
    assert (places(facts)[op], places(facts, "mixed")[op]) == (place, mixed)


def test_the_list_of_an_installation_decides_alone() -> None:
    listed = frozenset("MatMul Identity VariableV2 ApplyGradientDescent Placeholder Const Einsum StringJoin".split())
    target = Target(supported=SupportedOps(ops=listed, source="/opp/npu_supported_ops.json", release="9.0"))
    nodes = model([node("a", "Einsum", "first"), node("b", "Roll", "a"), node("c", "StringJoin", "b")], "c")
    assert {op: place for op, place in places(said(nodes, target=target)).items() if place != "device"} == {
        "Roll": "host",
        "StringJoin": "host",
    }
    assert whole(said(nodes, target=target)).get("list") == "/opp/npu_supported_ops.json"


def test_plugins_of_the_declared_release_count() -> None:
    nodes = model([node("a", "Roll", "first"), node("b", "Einsum", "a")], "b")
    found = places(said(nodes, target=Target(cann="9.0.0")))
    assert (found["Roll"], found["Einsum"]) == ("device", "older")


def test_a_scope_of_the_script_excludes() -> None:
    nodes = model([node("mid", "Relu", "first", _without_npu_compile=True)], "mid")
    facts = said(nodes)
    assert places(facts)["Relu"] == "host"
    assert [fact.get("why") for fact in facts if fact.kind == "graph_cut"] == ["scope"]
    assert groups(facts) == {}


def test_a_variable_follows_the_operator_that_changes_it() -> None:
    nodes = model([node("mid", "Assign", "w2", "first", _without_npu_compile=True)], "mid")
    facts = said(nodes)
    assert groups(facts) == {"tied other": "`ApplyGradientDescent`, `VariableV2`"}


def test_what_is_printed_of_the_loss_belongs_to_the_step() -> None:
    loss = [
        node("loss", "Mean", "second"),
        node("gradients/loss_grad/Fill", "Fill", "first"),
        node("shown", "Print", "loss", "loss"),
        node("total", "Identity", "shown"),
        node("other", "Print", "first", "first"),
    ]
    facts = said([*model([], "first"), *loss])
    assert groups(facts) == {"step print": "`Print`"}
    (shown,) = [fact for fact in facts if fact.kind == "graph_group"]
    assert shown.get("nodes") == "`shown`"


@pytest.mark.parametrize("op", ["SparseSegmentSum", "SparseSegmentSumGrad", "SparseSegmentMeanGradV2"])
def test_the_interface_of_a_gradient_is_that_of_its_operator(op: str) -> None:
    assert interfaces([op]) == "`tf.nn.embedding_lookup_sparse`"


def test_what_the_adapter_has_cut_out_is_on_the_device() -> None:
    facts = said(model([node("part", "GeOp", "first", function={"function": "cut_out"})], "part"),
                 Body("cut_out", [node("py", "PyFunc")]))  # fmt: skip
    assert [fact.name for fact in facts if fact.kind == "graph_cut"] == []
    assert places(facts)["GeOp"] == "device"


def test_names_are_listed_once_and_as_many_as_are_quickly_read() -> None:
    slow = [node(f"{scope}/{'deep/' * 14}m", "MyOp", "first") for scope in "abcd"]
    together = node("all", "AddN", *(one.name for one in slow))
    for nodes, count in (([*slow, together], 2), ([node("m", "MyOp", "first"), node("all", "AddN", "m")], 1)):
        (found,) = [fact for fact in said(model(nodes, "all")) if fact.kind == "graph_group" and fact.name == "host"]
        assert found.get("nodes").count("`") == 2 * count
        assert found.get("count") == len(nodes) - 1


def _handle(user: Node, maker: str = "VarHandleOp") -> list[Node]:
    return model([node("table", maker), user, node("read", "ReadVariableOp", "table", "^user")], "read")


@pytest.mark.parametrize(
    ("nodes", "tied"),
    [
        (_handle(node("user", "MyUpdate", "table", "first")), "`ReadVariableOp`, `VarHandleOp`"),
        (_handle(node("user", "MyUpdate", "table", "first", _op_max_size=[8])), None),
        (_handle(node("user", "ResourceScatterAdd", "table", "first")), None),
        (_handle(node("user", "MyUpdate", "first")), None),
        (model([node("text", "AsString", "first"), node("py", "PyFunc", "text")], "py"), None),
    ],
    ids=["resource", "with its size", "listed", "no resource", "text"],
)
def test_what_is_tied_to_a_node_on_the_host(nodes: list[Node], tied: str | None) -> None:
    assert groups(said(nodes)).get("tied other") == tied


def _loop(inner: str) -> list[Node]:
    return [
        node("enter", "Enter", "first", frame_name="loop"),
        node("merge", "Merge", "enter", "next"),
        node("cond", "LoopCond", "merge"),
        node("switch", "Switch", "merge", "cond"),
        node("body", inner, "switch:1"),
        node("next", "NextIteration", "body"),
        node("exit", "Exit", "switch"),
    ]


def test_mixed_computing_leaves_whole_loops_on_the_host() -> None:
    facts = said(model(_loop("Unique"), "exit"))
    mixed = places(facts, "mixed")
    assert {op for op, place in mixed.items() if place == "host"} == {
        "Enter", "Merge", "LoopCond", "Switch", "Unique", "NextIteration", "Exit"
    }  # fmt: skip
    (gray,) = [fact for fact in facts if fact.kind == "graph_group" and fact.name == "gray"]
    assert (gray.get("ops"), gray.get("follow"), gray.get("cuts")) == ("`Unique`", 6, "yes")


def test_a_loop_is_torn_by_what_stays_on_the_host() -> None:
    (found,) = [fact for fact in said(model(_loop("PyFunc"), "exit")) if fact.kind == "graph_cut"]
    assert (found.get("why"), found.get("stays")) == ("loop", 6)


def test_a_function_is_on_the_device_only_as_a_whole() -> None:
    inner = Body("inner", [node("a", "_Arg"), node("py", "EagerPyFunc", "a")])
    outer = Body("outer", [node("a", "_Arg"), node("call", "PartitionedCall", "a", f={"function": "inner"})])
    loop = node("loop", "While", "first", body={"function": "outer"}, cond={"function": "more"})
    facts = said(model([loop], "loop"), inner, outer, Body("more", [node("a", "_Arg"), node("l", "Less", "a", "a")]))
    (found,) = [fact for fact in facts if fact.kind == "graph_cut"]
    assert (found.name, found.get("why"), found.get("family")) == ("EagerPyFunc", "calls", "python")
    assert places(facts)["While"] == "host"


def test_functions_that_call_one_another_end() -> None:
    one = Body("one", [node("c", "PartitionedCall", f={"function": "two"}), node("p", "PyFunc")])
    two = Body("two", [node("c", "PartitionedCall", f={"function": "one"})])
    assert places(said(model([node("mid", "one", "first")], "mid"), one, two))["one"] == "host"


def test_branches_for_gpus_do_not_count() -> None:
    gpu = Body("gpu", [node("rnn", "CudnnRNNV3", "a")])
    cpu = Body("cpu", [node("rnn", "MatMul", "a", "a")])
    index = node("index", "DeviceIndex", device_names=["CPU", "GPU"])
    case = node("case", "Case", "index", "first", branches=[{"function": "cpu"}, {"function": "gpu"}])
    assert "host gpu" not in groups(said(model([index, case], "case"), gpu, cpu))
    always = node("case", "Case", "first", "first", branches=[{"function": "cpu"}, {"function": "gpu"}])
    assert groups(said(model([index, always], "case"), gpu, cpu))["host gpu"] == "`CudnnRNNV3`"


def test_functions_of_tensorflow_2_keep_every_part() -> None:
    main = [node("x", "Placeholder"), node("call", "StatefulPartitionedCall", "x", f={"function": "step"})]
    step = Body(
        "step",
        [
            node("a", "_Arg"),
            node("m", "MatMul", "a", "a"),
            node("py", "EagerPyFunc", "m"),
            node("u", "Unique", "py"),
            node("n", "MatMul", "u", "a"),
        ],
    )
    facts = said(main, step, form="saved_model")
    graph = whole(facts)
    assert (graph.get("style"), graph.get("left_behind"), graph.get("host_nodes")) == ("function", 0, 1)
    assert places(facts, "mixed")["Unique"] == "device"
    assert groups(facts)["host other"] == "`EagerPyFunc`"


def _table(filled: Node) -> list[Node]:
    table = [node("table", "HashTableV2"), node("keys", "Const", dtype="string"), filled]
    return [*table, node("ids", "LookupTableFindV2", "table", "keys", "keys", Tout="int64")]


@pytest.mark.parametrize(
    ("filled", "where", "split"),
    [
        (node("init", "InitializeTableV2", "table", "keys", "keys"), "device", "no"),
        (node("init", "InitializeTableFromTextFileV2", "table", "keys"), "host", "yes"),
        (node("other", "Const"), "unknown", "no"),
    ],
)
def test_where_a_table_is_filled_and_asked(filled: Node, where: str, split: str) -> None:
    facts = said(model([*_table(filled), node("rows", "GatherV2", "first", "ids")], "rows"))
    (found,) = [fact for fact in facts if fact.kind == "graph_table"]
    assert (found.get("lookup"), found.get("filled"), found.get("split")) == ("step", where, split)


def test_constants_alone_neither_cut_nor_are_slow() -> None:
    nodes = [node("c", "Const"), node("py", "PyFunc", "c"), node("order", "InvertPermutation", "c")]
    facts = said(model([*nodes, node("mul", "Mul", "py", "first"), node("t", "Transpose", "mul", "order")], "t"))
    assert whole(facts).get("cuts") == 0
    assert groups(facts) == {"host python": "`PyFunc`"}


@pytest.mark.parametrize(
    "nodes",
    [
        [],
        [node("a", "PyFunc", "a", "a:x", "^a", "^gone", "gone:7", "")],
        [node("a", "MatMul", "b"), node("b", "PyFunc", "a"), node("b", "MatMul", "a")],
        model(
            [
                node("e", "Enter", "first", frame_name=3),
                node("p", "IteratorGetNext", "e:99999999999", output_types=[7]),
            ],
            "p",
        ),
        [node(f"e{n}", "Enter", f"e{n - 1}", frame_name=f"f{n}") for n in range(500)],
    ],
    ids=["empty", "itself", "circle", "odd attributes", "deep loops"],
)
def test_odd_graphs_do_no_harm(nodes: list[Node]) -> None:
    assert whole(said(nodes)).get("framework") == "tensorflow"


_OPS = st.sampled_from(
    "MatMul Relu PyFunc Unique Einsum VarHandleOp ReadVariableOp MyOp Const Enter Exit Assign VariableV2".split()
)


@st.composite
def steps(draw: st.DrawFn) -> list[Node]:
    """Any graph that trains."""
    count = draw(st.integers(1, 14))
    nodes = []
    for n in range(count):
        taken = draw(st.lists(st.integers(0, n - 1), max_size=3)) if n else []
        sign = draw(st.sampled_from(("", "", "^")))
        nodes.append(node(f"n{n}", draw(_OPS), *(f"{sign}n{one}" for one in taken), frame_name="f"))
    return [*nodes, node("update", "ApplyGradientDescent", *(f"n{n}" for n in range(count)))]


@given(steps(), st.randoms(use_true_random=False))
def test_places_do_not_depend_on_the_order_of_nodes(nodes: list[Node], random: Any) -> None:
    def numbers(facts: list[Fact]) -> list[Any]:
        graph = whole(facts)
        keys = (
            "device_nodes",
            "host_nodes",
            "aicpu_nodes",
            "unknown_nodes",
            "left_behind",
            "clusters",
            "mixed_clusters",
        )
        placed = {(f.name, f.get("place"), f.get("mixed"), f.get("count")) for f in facts if f.kind == "graph_op"}
        return [placed, *(graph.get(key) for key in keys)]

    mixed = list(nodes)
    random.shuffle(mixed)
    first, second = said(nodes), said(mixed)
    assert numbers(first) == numbers(second)
    graph = whole(first)
    words = ("device", "host", "aicpu", "unknown")
    assert sum(graph.get(f"{word}_nodes") for word in words) == len(nodes)  # one place each
    assert graph.get("left_behind") <= len(nodes) - graph.get("host_nodes")
