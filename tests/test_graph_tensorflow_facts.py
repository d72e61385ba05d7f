"""What is said of types, shapes, control flow and input of graphs that are written here by hand."""

from __future__ import annotations

import random
from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some

from npulint.facts.graph import Body, Graph, Node
from npulint.facts.model import Fact
from npulint.graphs.facts.target import Target
from npulint.graphs.facts.tensorflow import control, inputs, patterns, shapes, types
from npulint.graphs.facts.tensorflow.flow import DataFlow
from npulint.graphs.facts.tensorflow.origins import CONSTANT, DATA, SHAPE, UNKNOWN, origins
from npulint.graphs.facts.tensorflow.view import TensorFlowGraphView

PARTS = (types, shapes, control, inputs, patterns)


def node(name: str, op: str, *taken: str, **attrs: Any) -> Node:
    return Node(name, op, taken, attrs)


def const(name: str, value: Any = None, dtype: str = "int32", shape: Iterable[int] = ()) -> Node:
    told = {"dtype": dtype, "shape": list(shape)} | ({} if value is None else {"value": value})
    return node(name, "Const", dtype=dtype, value=told)


def fed(name: str, shape: list[int] | None, dtype: str = "float32") -> Node:
    return node(name, "Placeholder", dtype=dtype, shape=shape)


def trained(loss: str, dtype: str = "float32") -> list[Node]:
    """The gradient of a node, and the update that takes it."""
    return [
        node("w", "VariableV2", dtype=dtype, shape=[8, 8]),
        node(f"gradients/{loss}_grad/mul", "Mul", loss, loss, T=dtype),
        node("sgd/update_w", "ApplyGradientDescent", "w", f"gradients/{loss}_grad/mul", T=dtype),
    ]


def view(nodes: list[Node], functions: dict[str, list[Node]] | None = None, **graph: Any) -> TensorFlowGraphView:
    bodies = [Body("", nodes), *(Body(name, members) for name, members in (functions or {}).items())]
    return TensorFlowGraphView("model.pb", Graph("graph_def", bodies, **graph))


def found(nodes: list[Node], kind: str, functions: dict[str, list[Node]] | None = None, **graph: Any) -> list[Fact]:
    one = view(nodes, functions, **graph)
    return [fact for part in PARTS for fact in part.facts(one, Target()) if fact.kind == kind]


def told(fact: Fact, *names: str) -> list[Any]:
    return [fact.name, *(fact.get(name) for name in names)]


def on_path(one: TensorFlowGraphView) -> set[str]:
    return {n.name for _, _, n in one.stepped()}


class TestPath:
    def test_a_training_step_has_the_loss_although_its_gradient_does_not_take_it(self) -> None:
        nodes = [
            fed("x", [8]),
            node("model/loss", "Mean", "x", T="float32"),
            node("gradients/model/loss_grad/Tile", "Tile", "x", T="float32"),
            node("w", "VariableV2"),
            node("sgd", "ApplyGradientDescent", "w", "gradients/model/loss_grad/Tile"),
            node("accuracy", "Mean", "x", T="float32"),
            node("save/SaveV2", "SaveV2", "w"),
        ]
        assert on_path(view(nodes)) == {"x", "w", "model/loss", "gradients/model/loss_grad/Tile", "sgd"}

    def test_an_optimizer_of_its_own_ends_in_what_gradients_are_stored_by(self) -> None:
        nodes = [
            fed("x", [8]),
            node("gradients/x_grad/mul", "Mul", "x", "x"),
            node("w", "VariableV2"),
            node("update", "Sub", "w", "gradients/x_grad/mul"),
            node("store", "Assign", "w", "update"),
            node("start", "Const"),
            node("w/Assign", "Assign", "w", "start"),
        ]
        assert on_path(view(nodes)) == {"x", "gradients/x_grad/mul", "w", "update", "store"}

    def test_inference_leaves_out_saving_initialising_summaries_and_filling_queues(self) -> None:
        nodes = [
            fed("x", [8]),
            node("w", "VariableV2"),
            node("w/Initializer/random", "RandomUniform"),
            node("w/Assign", "Assign", "w", "w/Initializer/random"),
            node("y", "MatMul", "x", "w"),
            node("y/histogram", "HistogramSummary", "y"),
            node("read", "ReadFile"),
            node("queue", "FIFOQueueV2"),
            node("enqueue", "QueueEnqueueV2", "queue", "read"),
            node("files", "TensorSliceDataset", "read"),
            node("probability", "Softmax", "y"),
        ]
        assert on_path(view(nodes)) == {"x", "w", "y", "probability"}

    def test_functions_are_in_a_step_if_it_calls_them_and_no_data_set_does(self) -> None:
        main = [
            fed("x", [8]),
            node("call", "PartitionedCall", "x", f={"function": "used"}),
            node("files", "MapDataset", f={"function": "parse"}),
            node("saved", "StatefulPartitionedCall", "x", f={"function": "traced_save"}),
        ]
        functions = {
            "used": [node("a", "If", then_branch={"function": "inner"}), node("named", "also_used")],
            "inner": [node("b", "Relu")],
            "also_used": [node("c", "Relu")],
            "never": [node("d", "Relu")],
            "parse": [node("e", "Relu")],
            "traced_save": [node("f", "SaveV2"), node("g", "Relu")],
        }
        assert on_path(view(main, functions)) == {"x", "call", "saved", "a", "named", "b", "c"}

    def test_a_function_that_a_tape_recorded_runs_whole(self) -> None:
        nodes = [
            fed("x", [8]),
            node("loss/Sum", "Sum", "x"),
            node("gradient_tape/loss/Tile", "Tile", "x"),
            node("w", "VarHandleOp"),
            node("AssignSubVariableOp", "AssignSubVariableOp", "w", "gradient_tape/loss/Tile"),
        ]
        assert on_path(view(nodes)) == {n.name for n in nodes}
        called = {"step": [n for n in nodes if n.op != "Placeholder"]}
        assert on_path(view([node("call", "StatefulPartitionedCall", f={"function": "step"})], called)) >= {"loss/Sum"}

    def test_a_library_of_functions_alone_is_taken_whole(self) -> None:
        assert on_path(view([], {"f": [node("a", "Relu")], "g": [node("b", "Relu")]})) == {"a", "b"}

    def test_functions_that_call_each_other_in_circles_end(self) -> None:
        main = [node("call", "f")]
        assert on_path(view(main, {"f": [node("g", "g")], "g": [node("f", "f")]})) == {"call", "g", "f"}


COUNT = ("Sum", "Cast", "Minimum", "AddV2", "Mul")


@some.composite
def chains(draw: some.DrawFn) -> list[Node]:
    """Constants and arithmetic on them, in which every node takes one or two that stand before it."""
    nodes = [const("n0", 1)]
    for at in range(1, draw(some.integers(2, 12))):
        before = some.sampled_from(nodes)
        taken = [draw(before).name for _ in range(draw(some.integers(1, 2)))]
        nodes.append(node(f"n{at}", draw(some.sampled_from(COUNT)), *taken))
    return nodes


def origin(nodes: list[Node], name: str) -> int:
    flow = DataFlow(Body("", nodes))
    return origins(flow, [flow.at[name]])[flow.at[name]]


class TestOrigins:
    @given(chains())
    def test_what_is_computed_from_constants_is_constant(self, nodes: list[Node]) -> None:
        assert origin(nodes, nodes[-1].name) == CONSTANT

    @given(chains(), some.randoms())
    def test_the_order_of_nodes_does_not_matter(self, nodes: list[Node], mixed: random.Random) -> None:
        whole = [*nodes, fed("x", [8]), node("last", "AddV2", nodes[-1].name, "x")]
        other = list(whole)
        mixed.shuffle(other)
        assert [origin(whole, n.name) for n in whole] == [origin(other, n.name) for n in whole]

    @given(chains(), some.data())
    def test_data_anywhere_above_makes_data(self, nodes: list[Node], data: some.DataObject) -> None:
        at = data.draw(some.integers(1, len(nodes) - 1))
        nodes[at] = Node(nodes[at].name, nodes[at].op, (*nodes[at].inputs, "x"))
        flow = DataFlow(Body("", [*nodes, fed("x", [8])]))
        below = flow.descendants([flow.at["x"]])
        known = origins(flow, range(len(flow.nodes)))
        assert {place for place, word in known.items() if word == DATA} == below

    @pytest.mark.parametrize(
        ("shape", "word"), [([8, 100], CONSTANT), ([-1, 100], SHAPE), (None, UNKNOWN)], ids=["known", "open", "untold"]
    )
    def test_a_shape_is_as_constant_as_it_is_known(self, shape: list[int] | None, word: int) -> None:
        assert origin([node("x", "Relu", _output_shapes=[shape]), node("s", "Shape", "x")], "s") == word

    def test_one_known_dimension_of_an_open_shape_is_constant(self) -> None:
        nodes = [fed("x", [-1, 100]), node("s", "Shape", "x"), const("one", 1, shape=[1]), const("zero", 0, shape=[1])]
        nodes += [node(f"d{at}", "StridedSlice", "s", at, at, at, shrink_axis_mask=1) for at in ("one", "zero")]
        assert [origin(nodes, name) for name in ("done", "dzero")] == [CONSTANT, SHAPE]

    def test_loops_and_arguments_are_not_known(self) -> None:
        nodes = [
            node("merge", "Merge", "one", "next"),
            const("one", 1),
            node("plus", "AddV2", "merge", "one"),
            node("next", "NextIteration", "plus"),
            node("of_argument", "AddV2", "argument:0", "one"),
            node("a", "Relu", "b"),
            node("b", "Relu", "a"),
        ]
        assert [origin(nodes, name) for name in ("plus", "of_argument", "b")] == [UNKNOWN] * 3


def top_k(*k: Node) -> list[Fact]:
    return found([fed("x", [8, 100]), *k, node("best", "TopKV2", "x", k[-1].name)], "graph_top_k")


class TestShapes:
    def test_a_constant_k_is_none_of_our_business(self) -> None:
        assert top_k(const("k", 5)) == []
        assert top_k(const("a", 5), const("b", 3), node("k", "Minimum", "a", "b")) == []

    def test_a_k_that_is_computed_names_what_computes_it(self) -> None:
        (fact,) = top_k(fed("mask", [8]), node("sum", "Sum", "mask"), node("k", "Cast", "sum"))
        assert told(fact, "k", "maker", "count") == ["TopKV2", "data", "`sum`", 1]
        assert (fact.path, fact.span.line) == ("model.pb", 1)  # a binary file has no lines

    def test_a_k_that_is_fed_and_one_of_a_function(self) -> None:
        assert [fact.get("k") for fact in top_k(fed("k", [], "int32"))] == ["fed"]
        body = [node("x", "_Arg"), node("k", "_Arg"), node("best", "TopKV2", "x", "k:0")]
        assert [fact.get("k") for fact in found([node("c", "f")], "graph_top_k", {"f": body})] == ["unknown"]

    def test_the_older_operator_has_its_k_written_down(self) -> None:
        assert found([fed("x", [8]), node("best", "TopK", "x", k=3)], "graph_top_k") == []

    @pytest.mark.parametrize(
        ("shape", "dims"),
        [([8, 3], ""), ([-1, 3], "batch"), ([8, -1], "inner"), ([-1, -1], "inner"), (None, "rank")],
    )
    def test_placeholders(self, shape: list[int] | None, dims: str) -> None:
        facts = found([fed("x", shape), node("y", "Relu", "x")], "graph_dynamic")
        assert [fact.get("dims") for fact in facts] == [dims] * bool(dims)

    def test_placeholders_are_told_together_with_their_shapes(self) -> None:
        nodes = [fed("a", [8, -1]), fed("b", [-1, -1]), fed("c", [-1, 3]), node("y", "AddN", "a", "b", "c")]
        inner, batch = found(nodes, "graph_dynamic")
        assert told(inner, "dims", "count", "shape") == ["placeholder", "inner", 2, "`a` [8, None], `b` [None, None]"]
        assert told(batch, "dims", "count", "shape") == ["placeholder", "batch", 1, "`c` [None, 3]"]

    @pytest.mark.parametrize(
        ("op", "drop", "shape", "expected"),
        [
            ("BatchDatasetV2", False, [-1, 8], ["batch", "d"]),
            ("BatchDatasetV2", True, [16, 8], []),
            ("BatchDatasetV2", True, [-1, 8], ["iterator", "next"]),
            ("BatchDataset", None, [-1, 8], ["batch", "d"]),
            ("MapAndBatchDataset", False, [-1, 8], ["batch", "d"]),
            ("PaddedBatchDatasetV2", True, [16, -1], ["padded_batch", "d"]),
            ("TakeDataset", None, [-1, 8], ["iterator", "next"]),
        ],
    )
    def test_batches_name_what_leaves_their_size_open(
        self, op: str, drop: bool | None, shape: list[int], expected: list[str]
    ) -> None:
        last = [] if drop is None else ["drop"]
        nodes = [
            const("n", 16, "int64"),
            const("drop", drop, "bool"),
            node("d", op, "files", "n", *(["n"] if op != "BatchDatasetV2" and last else []), *last),
            node("files", "TensorSliceDataset"),
            node("it", "IteratorV2"),
            node("make", "MakeIterator", "d", "it"),
            node("next", "IteratorGetNext", "it", output_shapes=[shape]),
            node("y", "Relu", "next"),
        ]
        facts = found(nodes, "graph_dynamic")
        assert [part for fact in facts for part in (fact.name, fact.get("node"))] == expected

    def test_results_whose_size_is_computed_from_data(self) -> None:
        nodes = [
            fed("x", [8, 3]),
            node("Where", "Where", "x", T="bool"),
            node("longest", "Max", "x"),
            const("zero", 0),
            node("range", "Range", "zero", "longest", "zero"),
            node("fixed", "Range", "zero", "zero", "zero"),
            node("told", "Unique", "x", _output_shapes=[[8], [8]]),
            node("boxes", "NonMaxSuppressionV4", "x", pad_to_max_output_size=True),
            node("y", "AddN", "Where", "range", "fixed", "told", "boxes"),
        ]
        (fact,) = found(nodes, "graph_dynamic")
        assert told(fact, "ops", "dims", "count") == ["data", "`Range`, `Where`", "inner", 2]

    def test_sizes_that_follow_an_open_batch_are_no_cause_of_their_own(self) -> None:
        nodes = [fed("x", [-1, 3]), node("s", "Shape", "x"), const("one", 1), node("y", "Fill", "s", "one")]
        assert [fact.name for fact in found(nodes, "graph_dynamic")] == ["placeholder"]

    def test_unique_in_an_update_is_of_a_sparse_gradient(self) -> None:
        nodes = [
            fed("ids", [8], "int32"),
            node("w", "VariableV2"),
            node("Adam/update_w/Unique", "Unique", "ids"),
            node("Adam/update_w/Apply", "SparseApplyAdagrad", "w", "Adam/update_w/Unique"),
        ]
        assert [fact.name for fact in found(nodes, "graph_dynamic")] == ["sparse_update"]


def branch(predicate: str = "p", of: str = "x") -> list[Node]:
    return [
        node("c/pred", "Identity", predicate),
        node("c/Switch", "Switch", of, "c/pred"),
        node("c/Merge", "Merge", "c/Switch", "c/Switch:1"),
    ]


LOOP = [
    node("Enter", "Enter", "x", frame_name="while/context"),
    node("Merge", "Merge", "Enter", "Next"),
    node("Cond", "LoopCond", "p"),
    node("Switch", "Switch", "Merge", "Cond"),
    node("Next", "NextIteration", "Switch:1"),
    node("Exit", "Exit", "Switch"),
]


def flow_facts(shape: list[int], parts: list[Node], end: str) -> list[Fact]:
    return found([fed("x", shape), fed("p", [], "bool"), *parts, *trained(end)], "graph_control_flow")


class TestControlFlow:
    @pytest.mark.parametrize(("shape", "word"), [([8, 8], "no"), ([-1, 8], "no"), ([8, -1], "inner")])
    def test_branches_are_dynamic_only_beside_open_shapes(self, shape: list[int], word: str) -> None:
        (fact,) = flow_facts(shape, branch(), "c/Merge")
        assert told(fact, "branches", "loops", "parts", "dynamic", "count") == ["v1", 1, 0, "`p`", word, 2]

    def test_loops_are_told_by_their_frames(self) -> None:
        (fact,) = flow_facts([8, -1], LOOP, "Exit")
        wanted = ["v1", 0, 1, "`while/context`", "inner", "`x` [8, None]"]
        assert told(fact, "branches", "loops", "parts", "dynamic", "unknown_dims") == wanted

    def test_functional_control_flow_is_no_finding(self) -> None:
        assert flow_facts([8, -1], [node("i", "StatelessIf", "p", "x"), node("w", "While", "i")], "w") == []

    def test_what_only_looks_whether_a_variable_is_initialised_is_none_either(self) -> None:
        parts = [node("v", "VariableV2"), node("is", "IsVariableInitialized", "v"), *branch("is")]
        assert flow_facts([8, -1], parts, "c/Merge") == []

    def test_branches_beside_the_step_do_not_count(self) -> None:
        assert flow_facts([8, -1], [*branch(), node("y", "Relu", "x")], "y") == []

    def test_an_assertion_that_has_to_run_first_counts(self) -> None:
        parts = [*branch(), node("y", "Relu", "x", "^c/Merge")]
        assert [fact.get("branches") for fact in flow_facts([8, -1], parts, "y")] == [1]

    def test_references_are_told(self) -> None:
        parts = [node("v", "VariableV2"), node("s", "RefSwitch", "v", "p"), node("m", "RefMerge", "s", "s:1")]
        assert [fact.get("refs") for fact in flow_facts([8, 8], parts, "m")] == ["yes"]


def half(*nodes: Node) -> list[tuple[str, str, str]]:
    facts = found([fed("x", [64, 64, 64], "float16"), const("axes", shape=[3]), *nodes], "graph_half")
    return [(fact.name, fact.get("group"), fact.get("extent")) for fact in facts]


class TestTypes:
    @pytest.mark.parametrize(
        ("shape", "extent"), [([], "many"), ([64, 64], "few"), ([-1, 64], "unknown"), (None, "unknown")]
    )
    def test_sums_by_how_many_values_they_add_up(self, shape: list[int] | None, extent: str) -> None:
        assert half(node("s", "Sum", "x", "axes", T="float16", _output_shapes=[shape])) == [("Sum", "sum", extent)]

    def test_what_is_cast_to_float32_first_is_fine(self) -> None:
        wide = node("wide", "Cast", "x", SrcT="float16", DstT="float32")
        assert half(wide, node("s", "Sum", "wide", "axes", T="float32", _output_shapes=[[]])) == []

    @pytest.mark.parametrize(("shape", "count"), [(None, 0), ([64], 1)])
    def test_what_broadcasting_repeated_is_mostly_nothing(self, shape: list[int] | None, count: int) -> None:
        axes = node("axes_of", "BroadcastGradientArgs", "x", "x")
        assert len(half(axes, node("s", "Sum", "x", "axes_of", T="float16", _output_shapes=[shape]))) == count

    @pytest.mark.parametrize(
        ("users", "guards"),
        [
            ([node("z", "RealDiv", "x", "y")], True),
            ([node("z", "RealDiv", "y", "x")], False),
            ([node("i", "Identity", "y"), node("z", "Log", "i")], True),
            ([node("z", "GreaterEqual", "y", "x")], False),  # random numbers from zero on
            ([], False),
        ],
    )
    def test_a_zero_guards_divisors_roots_and_logarithms(self, users: list[Node], guards: bool) -> None:
        made = half(const("c", 0.0, "float16"), node("y", "AddV2", "x", "c", T="float16"), *users)
        assert [one[1] for one in made] == ["zero_guard"] * guards

    @pytest.mark.parametrize(("user", "guards"), [("Rsqrt", True), ("Sqrt", False), ("Relu", False)])
    def test_the_greater_of_a_number_and_zero_has_a_root_but_no_inverse(self, user: str, guards: bool) -> None:
        made = half(const("c", 0.0, "float16"), node("y", "Maximum", "x", "c", T="float16"), node("z", user, "y"))
        assert [one[1] for one in made] == ["zero_guard"] * guards

    @pytest.mark.parametrize(
        ("op", "value", "group"),
        [
            ("AddV2", 0.0, "zero_guard"),
            ("AddV2", 1e-4, ""),
            ("Mul", float("-inf"), "infinite"),
            ("Mul", -1e4, ""),
        ],
    )
    def test_constants_that_half_precision_cannot_hold(self, op: str, value: float, group: str) -> None:
        made = half(const("c", value, "float16"), node("y", op, "x", "c", T="float16"), node("z", "Rsqrt", "y"))
        assert [one[1] for one in made] == [group] * bool(group)

    @pytest.mark.parametrize(
        ("more", "scaled"),
        [
            ([], "no"),
            ([node("loss_scale", "VariableV2")], "yes"),
            ([node("IsFinite", "IsFinite", "y")], "yes"),
            ([node("status", "NpuGetFloatStatusV2")], "yes"),
            ([const("c", 1024.0, "float32"), node("m", "Mul", "y", "c", T="float32")], "yes"),
            ([const("c", 3.0, "float32"), node("m", "Mul", "y", "c", T="float32")], "no"),
        ],
    )
    def test_half_precision_that_trains_looks_for_a_loss_scale(self, more: list[Node], scaled: str) -> None:
        nodes = [fed("x", [8, 8], "float16"), node("y", "MatMul", "x", "w", T="float16"), *more, *trained("y")]
        (fact,) = found(nodes, "graph_half_training")
        assert fact.get("scaled") == scaled

    def test_inference_in_half_precision_needs_no_loss_scale(self) -> None:
        assert found([fed("x", [8]), node("y", "MatMul", "x", "x", T="float16")], "graph_half_training") == []

    def test_wide_numbers_are_counted_by_what_computes(self) -> None:
        nodes = [
            fed("x", [8, 8], "float64"),
            node("y", "MatMul", "x", "x", T="float64"),
            node("same", "Identity", "y", T="float64"),
            node("f", "Cast", "same", SrcT="float64", DstT="float32"),
            node("z", "Relu", "f", T="float32"),
        ]
        (fact,) = found(nodes, "graph_numbers")
        assert told(fact, "count", "share", "heavy", "ops") == ["float64", 1, 50, 1, "`MatMul`"]

    def test_indices_are_no_arithmetic(self) -> None:
        nodes = [fed("i", [8], "int64"), fed("x", [8]), node("y", "GatherV2", "x", "i", Tindices="int64")]
        assert found(nodes, "graph_numbers") == []


def input_names(nodes: list[Node], functions: dict[str, list[Node]] | None = None) -> list[str]:
    return [fact.name for fact in found(nodes, "graph_input", functions)]


def reading(iterator: Node, *also: Node) -> list[Node]:
    taken = node("next", "IteratorGetNext", iterator.name, output_types=["float32"], output_shapes=[[8, 8]])
    return [iterator, taken, *also, node("y", "Relu", "next")]


class TestInputs:
    def test_queues_count_where_a_step_takes_from_them(self) -> None:
        queue = node("queue", "FIFOQueueV2")
        taken = [queue, node("n", "QueueDequeueManyV2", "queue"), node("y", "Relu", "n")]
        assert input_names(taken) == ["queue"]
        assert input_names([fed("x", [8]), queue, node("put", "QueueEnqueueV2", "queue", "x")]) == []

    def test_one_shot_iterators(self) -> None:
        make = {"function": "make"}
        assert input_names(reading(node("it", "OneShotIterator", dataset_factory=make)), {"make": []}) == ["one_shot"]
        assert input_names(reading(node("it", "IteratorV2"))) == []

    def test_several_iterators_in_a_step(self) -> None:
        second = node("next2", "IteratorGetNext", "it", output_types=["float32"], output_shapes=[[8, 8]])
        nodes = reading(node("it", "IteratorV2"), second, node("z", "Relu", "next2"))
        assert input_names(nodes) == ["several"]

    def test_texts_of_a_data_set(self) -> None:
        taken = node("next", "IteratorGetNext", "it", output_types=["string"], output_shapes=[[8]])
        assert input_names([node("it", "IteratorV2"), taken, node("y", "Identity", "next")]) == ["text"]

    def test_an_initialisation_of_both_kinds_through_groups(self) -> None:
        start = [
            node("v", "VariableV2"),
            const("zero", 0.0, "float32"),
            node("v/Assign", "Assign", "v", "zero"),
            node("init", "NoOp", "^v/Assign"),
            node("make", "MakeIterator", "it"),
        ]
        both = [*start, node("both", "NoOp", "^init", "^make")]
        assert input_names(reading(node("it", "IteratorV2"), *both)) == ["joint_init"]
        apart = [*start, node("fetched", "NoOp", "^make"), node("other", "NoOp", "^init")]
        assert input_names(reading(node("it", "IteratorV2"), *apart)) == []

    def test_variables_and_host_operators_in_functions_of_data_sets(self) -> None:
        data = [
            node("v", "VarHandleOp"),
            node("files", "TensorSliceDataset"),
            node("map", "MapDataset", "files", "v", f={"function": "parse"}),
        ]
        body = {"parse": [node("p", "PyFunc"), node("r", "ReadVariableOp", "v:0"), node("n", "StringToNumber")]}
        facts = found(reading(node("it", "IteratorV2"), *data), "graph_input", body)
        assert [(fact.name, fact.get("nodes")) for fact in facts] == [
            ("variable", "`v`, `r`"),
            ("host_function", "`p`"),
        ]

    def test_a_py_func_in_a_step_is_not_of_a_data_set(self) -> None:
        assert input_names([fed("x", [8]), node("p", "PyFunc", "x")]) == []


def dropout(size: Node, product: list[int] | None = None, compared: str = "GreaterEqual") -> list[str]:
    known = {} if product is None else {"_output_shapes": [product]}
    nodes = [
        fed("x", [64, 8]),
        const("rate", 0.3, "float32"),
        size,
        node("random", "RandomUniform", size.name),
        node("keep", compared, "random", "rate"),
        node("mask", "Cast", "keep"),
        node("scaled", "Mul", "x", "rate"),
        node("y", "Mul", "scaled", "mask", **known),
        *trained("y"),
    ]
    return [fact.get("noise_shape") for fact in found(nodes, "graph_dropout")]


class TestPatterns:
    def test_dropout_of_a_shape_that_is_computed(self) -> None:
        assert dropout(node("s", "Shape", "x")) == ["no"]

    def test_dropout_with_a_noise_shape_that_is_not_told(self) -> None:
        assert dropout(const("s", shape=[2])) == ["unknown"]

    def test_dropout_that_rounds_down(self) -> None:
        assert dropout(node("s", "Shape", "x"), compared="Floor") == ["no"]

    def test_a_single_random_number_decides_something_else(self) -> None:
        assert dropout(const("s", shape=[0])) == []

    def test_random_numbers_that_are_only_scaled_are_noise(self) -> None:
        assert dropout(node("s", "Shape", "x"), compared="Mul") == []

    def test_slow_operators_are_counted_by_direction(self) -> None:
        nodes = [
            fed("x", [4, 8, 8, 3]),
            const("size", shape=[2]),
            node("up", "ResizeBilinear", "x", "size", align_corners=True, _output_shapes=[[4, 16, 16, 3]]),
            node("gradients/up_grad/g", "ResizeBilinearGrad", "up", "x"),
            node("w", "VariableV2"),
            node("sgd", "ApplyGradientDescent", "w", "gradients/up_grad/g"),
        ]
        (fact,) = found(nodes, "graph_slow_op")
        wanted = ["resize", 1, 1, "`up` [4, 16, 16, 3]", "align_corners"]
        assert told(fact, "forward", "backward", "shapes", "mode") == wanted


WORDS = (
    "Const",
    "Switch",
    "Merge",
    "TopKV2",
    "RandomUniform",
    "Mul",
    "Sum",
    "Where",
    "IteratorGetNext",
    "NoOp",
    "Fill",
)


@given(
    some.lists(
        some.tuples(
            some.sampled_from(WORDS),
            some.lists(some.sampled_from(["n0", "n1:1", "^n2", "n3:out:2", "gone", "", "^", ":", "n4:x"]), max_size=4),
            some.dictionaries(
                some.sampled_from(["T", "shape", "value", "_output_shapes", "output_shapes", "output_types", "f"]),
                some.one_of(
                    some.none(),
                    some.text(max_size=3),
                    some.integers(),
                    some.lists(some.integers(), max_size=3),
                    some.just({"function": "n1"}),
                    some.just([None, [1, -1]]),
                    some.just({"dtype": "float16"}),
                ),
                max_size=3,
            ),
        ),
        max_size=8,
    )
)
def test_whatever_a_file_holds_is_no_reason_to_fall_over(rows: list[tuple[str, list[str], dict[str, Any]]]) -> None:
    nodes = [Node(f"n{at}", op, tuple(taken), attrs) for at, (op, taken, attrs) in enumerate(rows)]
    one = TensorFlowGraphView("model.pb", Graph("graph_def", [Body("", nodes), Body("n1", nodes)]))
    for part in PARTS:
        part.facts(one, Target())
