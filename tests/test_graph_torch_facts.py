"""What hand-made graphs of PyTorch say."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from npulint.facts.graph import Body, Graph, Node, NodeFrame
from npulint.facts.model import Fact, FileFacts
from npulint.graphs.facts.graph_programs import graph_facts
from npulint.graphs.facts.target import Target
from npulint.model.code.project import Project
from npulint.model.values.context import Context
from npulint.read.python import read_python

SOURCE = "import torch\n\n\ndef forward(x, y):\n    a = x + y\n    b = a * 2\n    return b\n"


def said(nodes: list[Node], form: str = "exported_program", target: Target | None = None, **more: Any) -> list[Fact]:
    """All facts of a graph whose nodes were made by the lines of SOURCE."""
    code, _ = read_python(more.pop("source", SOURCE), "model.py")
    context = Context(Project("", [FileFacts("model.py", "python", code)]))
    bodies = more.pop("bodies", [Body("", nodes)])
    return graph_facts("model.pt2", Graph(form, bodies, **more), context, target or Target())


def at(line: int) -> tuple[NodeFrame, ...]:
    return (
        NodeFrame("/opt/run/model.py", line, "forward"),
        NodeFrame("/usr/lib/python3/site-packages/torch/x.py", 3, "f"),
    )


def op(operator: str, line: int = 0, *inputs: str, **more: Any) -> Node:
    attrs: dict[str, Any] = {key: more.pop(key) for key in ("dtypes", "shapes", "arguments", "layouts") if key in more}
    title = more.pop("name", operator.split(".")[1])
    return Node(title, operator, inputs, attrs, frames=at(line) if line else (), **more)


def one(facts: list[Fact], kind: str, name: str = "") -> Fact:
    found = [fact for fact in facts if fact.kind == kind and name in ("", fact.name)]
    assert len(found) == 1, [(fact.kind, fact.name) for fact in facts]
    return found[0]


def test_an_operator_is_told_once_for_each_line_with_its_count() -> None:
    nodes = [op("aten.add.Tensor", 5, count=3), op("aten.add.Tensor", 5, name="add_1"), op("aten.add.Tensor", 6)]
    facts = [fact for fact in said(nodes) if fact.kind == "torch_op"]
    assert [(fact.path, fact.span.line, fact.get("count")) for fact in facts] == [
        ("model.py", 5, 4),
        ("model.py", 6, 1),
    ]
    assert facts[0].get("nodes") == "`add`, `add_1`"
    assert (facts[0].name, facts[0].get("overload"), facts[0].get("op")) == ("aten.add", "Tensor", "aten.add.Tensor")


def test_without_frames_of_the_project_the_graph_itself_is_the_place() -> None:
    foreign = Node("mul", "aten.mul.Tensor", frames=(NodeFrame("/home/other/net.py", 3, "forward"),))
    assert [(fact.path, fact.span.line) for fact in said([foreign]) if fact.kind == "torch_op"] == [("model.pt2", 1)]


def test_verdicts_follow_the_release_and_say_when_it_is_assumed() -> None:
    node = op("aten.linalg_cholesky.default", 5)
    old = one(said([node], target=Target(torch="2.6.0")), "torch_op")
    assert (old.get("verdict"), old.get("reaches"), old.get("release")) == ("decomposes", "linalg_cholesky_ex.L", "2.6")
    assert (old.get("assumed"), old.get("certain")) == ("no", "no")
    new = one(said([node]), "torch_op")
    assert (new.get("verdict"), new.get("reaches"), new.get("release"), new.get("assumed")) == (
        "npu",
        "",
        "2.13",
        "yes",
    )


def test_the_name_that_reaches_the_backend_and_what_to_write_instead() -> None:
    fact = one(said([op("aten.fmax.default", 5)]), "torch_op")
    assert (fact.get("verdict"), fact.get("computed")) == ("cpu_out", "`fmax.out`")
    assert "torch.maximum(a, b)" in fact.get("instead")
    composite = one(said([op("aten.linalg_inv.default", 5)]), "torch_op")
    assert (composite.get("computed"), composite.get("instead")) == ("`linalg_inv_ex.inverse`", "torch.inverse(a)")


def test_conditions_on_arguments_have_to_hold_for_sure() -> None:
    def reaches(name: str, **arguments: Any) -> str:
        return str(one(said([op(name, 5, arguments=arguments)]), "torch_op").get("reaches"))

    assert reaches("aten.linalg_matrix_power.default", n=-1) == "linalg_inv_ex.inverse"
    assert reaches("aten.linalg_matrix_power.default", n=3) == ""
    assert reaches("aten.linalg_matrix_power.default") == ""
    assert reaches("aten.linalg_matrix_power.default", n=True) == ""
    assert reaches("aten.linalg_pinv.default", hermitian=True) == "_linalg_eigh.eigenvalues"
    assert reaches("aten.linalg_pinv.default", hermitian=False) == ""


def test_gradients_are_foretold_only_where_the_graph_does_not_hold_them() -> None:
    forward = op("aten.embedding_bag.padding_idx", 5)
    assert one(said([forward]), "torch_op").get("backward") == "_embedding_bag_backward"
    backward = op("aten._embedding_bag_backward.default", 5, phase="backward")
    recorded = said([op("aten.embedding_bag.padding_idx", 5, phase="forward"), backward], "live_torch")
    assert one(recorded, "torch_op", "aten.embedding_bag").get("backward") == ""
    assert one(recorded, "torch_op", "aten._embedding_bag_backward").get("echo") == "no"


def test_a_gradient_echoes_the_operator_that_the_cpu_computes_at_the_same_line() -> None:
    nodes = [
        op("aten.huber_loss.default", 5, phase="forward"),
        op("aten.huber_loss_backward.out", 5, phase="backward"),
        op("aten.huber_loss_backward.out", 6, phase="backward"),
    ]
    echoes = {f.span.line: f.get("echo") for f in said(nodes, "live_torch") if f.get("phase") == "backward"}
    assert echoes == {5: "yes", 6: "no"}


def test_kernels_that_compute_on_the_cpu_depend_on_arguments_and_chips() -> None:
    def inside(node: Node, soc: str = "") -> str:
        return str(one(said([node], target=Target(soc=soc)), "torch_op").get("inside"))

    assert inside(op("aten.polar.default", 5)) == "chip"
    assert inside(op("aten.polar.default", 5), "910A") == "yes"
    assert inside(op("aten.polar.default", 5), "910B") == "no"
    assert inside(op("aten.std.correction", 5, arguments={"correction": 0.5}), "910B") == "yes"
    assert inside(op("aten.std.correction", 5, arguments={"correction": 1}), "910B") == "no"
    assert inside(op("aten.adaptive_max_pool3d.default", 5, dtypes=["float64"]), "910B") == "yes"
    assert inside(op("aten.adaptive_max_pool3d.default", 5, dtypes=["float32"]), "910B") == "no"


def test_causes_of_errors() -> None:
    def cause(node: Node, soc: str = "", *before: Node) -> str:
        facts = said([*before, node], target=Target(soc=soc))
        return str(one(facts, "torch_op", ".".join(node.op.split(".")[:2])).get("cause"))

    assert cause(op("aten._cudnn_rnn.default")) == "foreign"
    assert cause(op("aten.to_padded_tensor.default")) == "none"
    assert cause(op("aten.lstm_cell.default"), "950") == "chip"
    assert cause(op("aten.lstm_cell.default"), "910B") == "-"
    sparse = Node("x", "placeholder", (), {"layouts": ["sparse_coo"]})
    assert cause(op("aten.mm.default", 0, "x", "y"), "", sparse) == "sparse"
    assert cause(op("aten.mm.default", 0, "y", "z"), "", sparse) == "-"
    assert cause(op("aten.add.out", 0, "x", "y"), "", sparse) == "-"


def test_an_imported_package_brings_its_kernels() -> None:
    node = op("torchvision.nms", 5)
    assert one(said([node]), "torch_op").get("verdict") == "cpu"
    assert one(said([node], source=f"import torchvision_npu\n{SOURCE}"), "torch_op").get("verdict") == "npu"


def test_a_graph_trains_if_it_has_a_loss_a_gradient_or_layers_in_training() -> None:
    def trains(*nodes: Node, **more: Any) -> str:
        return str(one(said(list(nodes), **more), "graph").get("trains"))

    assert trains(op("aten.linear.default")) == "no"
    assert trains(op("aten.dropout.default", arguments={"p": 0.1, "train": False})) == "no"
    assert trains(op("aten.dropout.default", arguments={"p": 0.1, "train": True})) == "yes"
    assert trains(op("aten.cross_entropy_loss.default")) == "yes"
    assert trains(op("aten.threshold_backward.default")) == "yes"
    assert trains(op("aten.add.Tensor", phase="backward")) == "yes"
    assert trains(op("aten.add.Tensor"), collections={"loss_output": 1}) == "yes"
    statistics = Node("b", "placeholder", (), {"kind": "buffer", "target": "bn.running_mean", "mutated": "yes"})
    assert trains(statistics, op("aten.batch_norm.default")) == "yes"
    cache = Node("b", "placeholder", (), {"kind": "buffer", "target": "cache", "mutated": "yes"})
    assert trains(cache, op("aten.copy_.default")) == "no"


def test_the_counts_of_a_graph() -> None:
    nodes = [
        Node("x", "placeholder"),
        op("aten.add.Tensor", count=2),
        op("aten.linear.default"),
        op("aten.linalg_inv.default"),
        op("aten.fmax.default"),
        op("aten.to_padded_tensor.default"),
        op("mylib.fuse.default"),
        op("aten.sym_size.int"),
        op("_operator.add"),
    ]
    fact = one(said(nodes), "graph")
    counts = {word: fact.get(word) for word in ("npu", "decomposes", "cpu", "error", "custom", "unknown", "size")}
    assert counts == {"npu": 1, "decomposes": 1, "cpu": 2, "error": 1, "custom": 1, "unknown": 0, "size": 6}


def test_what_makes_the_host_wait() -> None:
    mask = Node("mask", "placeholder", (), {"dtypes": ["bool"], "shapes": [[4]]})
    nodes = [
        mask,
        op("aten.item.default", 5),
        op("aten.equal.default", 5),
        op("aten.nonzero.default", 5),
        op("aten.where.default", 5, "mask"),
        op("aten.where.self", 5, "mask", "a", "b"),
        op("aten.index.Tensor", 6, "x", "mask"),
        op("aten.index.Tensor", 7, "x", "i", name="plain"),
        op("aten.repeat_interleave.self_Tensor", 6),
        op("aten.repeat_interleave.self_Tensor", 7, arguments={"output_size": 9}),
        op("aten.repeat_interleave.self_int", 7),
        op("aten.one_hot.default", 6, arguments={"num_classes": -1}),
        op("aten.one_hot.default", 7, arguments={"num_classes": 9}),
        op("aten._to_copy.default", 7, arguments={"device": "cpu"}),
    ]
    found = {(f.name, f.span.line, f.get("shape"), f.get("count")) for f in said(nodes) if f.kind == "graph_sync"}
    assert found == {
        ("item", 5, "no", 1),
        ("equal", 5, "no", 1),
        ("nonzero", 5, "yes", 2),
        ("index", 6, "yes", 1),
        ("repeat_interleave", 6, "yes", 1),
        ("one_hot", 6, "yes", 1),
    }


def test_waiting_beside_an_operator_of_the_cpu_is_told_as_such() -> None:
    nodes = [op("aten.linalg_inv_ex.default", 5), op("aten._local_scalar_dense.default", 5)]
    assert one(said(nodes), "graph_sync").get("fallen") == "yes"
    assert one(said([op("aten.add.Tensor", 5), nodes[1]]), "graph_sync").get("fallen") == "no"


def test_copies_to_the_host_are_known_where_the_graph_was_not_made_on_it() -> None:
    copy = op("aten._to_copy.default", 5, arguments={"device": "cpu"}, phase="forward", count=2)
    assert one(said([copy], "live_torch"), "graph_sync").name == "cpu"
    given = Node("x", "placeholder", (), {"kind": "user_input", "device": "cuda"})
    assert one(said([given, copy]), "graph_sync").name == "cpu"
    assert not [fact for fact in said([copy]) if fact.kind == "graph_sync"]


def test_sizes_that_only_values_tell_are_told_where_they_arise() -> None:
    nodes = [
        Node("x", "placeholder", (), {"kind": "user_input", "shapes": [["s0", 4]]}),
        op("aten.masked_select.default", 5, "x", shapes=[["u0"]]),
        op("aten.mul.Tensor", 6, "masked_select", shapes=[["u0"]]),
        op("aten.sum.default", 6, "mul", shapes=[[]]),
        op("aten.zeros.default", 7, shapes=[["u1 + 1", 2]]),
    ]
    found = {(f.name, f.span.line, f.get("dims"), f.get("spread")) for f in said(nodes) if f.kind == "graph_dim"}
    assert found == {
        ("aten.masked_select", 5, "u0", 1),
        ("aten.zeros", 7, "u1", 0),
        ("inputs", 1, "s0", 0),
    }


def test_element_types_are_told_where_they_come_in() -> None:
    nodes = [
        op("aten.to.dtype", 5, "x", dtypes=["float64"], shapes=[[4]]),
        op("aten.mul.Tensor", 6, "to", "to", dtypes=["float64"], shapes=[[4]]),
        op("aten.scalar_tensor.default", 7, dtypes=["float64"], shapes=[[]]),
        op("aten.view_as_complex.default", 7, "y", dtypes=["complex64"], shapes=[[2]]),
        op("aten.add.Tensor", 7, "i", "i", dtypes=["int64"], shapes=[[4]], count=4),
    ]
    found = {(f.name, f.span.line, f.get("made_by"), f.get("total")) for f in said(nodes) if f.kind == "graph_type"}
    assert found == {
        ("float64", 5, "aten.to", 3),
        ("complex", 7, "aten.view_as_complex", 1),
        ("int64", 7, "aten.add", 4),
    }


def test_a_model_in_double_precision_is_told_once_at_its_inputs() -> None:
    given = [Node(f"p{n}", "placeholder", (), {"dtypes": ["float64"], "shapes": [[4, 4]]}) for n in range(3)]
    nodes = [*given, op("aten.mm.default", 5, "p0", "p1", dtypes=["float64"], shapes=[[4, 4]])]
    fact = one(said(nodes), "graph_type")
    assert (fact.path, fact.span.line, fact.get("made_by"), fact.get("share")) == ("model.pt2", 1, "input", 100)


def test_branches_and_loop_bodies_are_judged_too() -> None:
    bodies = [
        Body("", [op("higher_order.cond", 5)]),
        Body("true_graph_0", [op("aten.mode.default", 6)], serves="/cond"),
    ]
    fact = one(said([], bodies=bodies), "torch_op", "aten.mode")
    assert (fact.span.line, fact.get("verdict")) == (6, "cpu")


_NAMES = st.sampled_from(
    ["aten.add.Tensor", "aten.fmax.default", "aten.linalg_inv.default", "x.y", "", "aten", "a.b.c.d"]
)
_VALUES = st.sampled_from([None, True, -1, 2.5, "cpu", [1], {"a": 1}])
_NODES = st.builds(
    Node,
    name=st.text(max_size=5),
    op=st.one_of(_NAMES, st.text(max_size=9)),
    inputs=st.lists(st.sampled_from(["a", "a:1", "^b", ""]), max_size=2).map(tuple),
    attrs=st.fixed_dictionaries(
        {},
        optional={
            "arguments": st.dictionaries(st.sampled_from(["n", "train", "hermitian", "device"]), _VALUES, max_size=3),
            "dtypes": st.lists(st.sampled_from(["float32", "float64", "int64", "bool"]), max_size=2),
            "shapes": st.lists(st.one_of(st.none(), st.lists(st.sampled_from([1, -1, "s0", "u0*2"]))), max_size=2),
            "layouts": st.lists(st.sampled_from(["strided", "sparse_coo"]), max_size=2),
        },
    ),
    phase=st.sampled_from(["", "forward", "backward", "optimizer"]),
)


@pytest.mark.slow
@given(st.lists(_NODES, max_size=8), st.sampled_from(["exported_program", "torchscript", "live_torch"]))
def test_every_operator_is_in_exactly_one_fact(nodes: list[Node], form: str) -> None:
    facts = said(nodes, form)
    told = sum(fact.get("count") for fact in facts if fact.kind == "torch_op")
    assert told == one(facts, "graph").get("size")


def test_the_flags_of_a_script_stand_at_places() -> None:
    def trains(name: str, **arguments: Any) -> bool:
        given = {key.removeprefix("at_"): value for key, value in arguments.items()}
        return bool(one(said([op(name, 5, arguments=given)], "torchscript"), "graph").get("trains") == "yes")

    assert trains("aten.dropout", at_1=0.1, at_2=True) and not trains("aten.dropout", at_1=0.1, at_2=False)
    assert trains("aten.batch_norm", at_5=True) and not trains("aten.batch_norm", at_8=True)
    assert trains("aten.gru", at_5=0.0, at_6=True) and trains("aten.lstm", at_5=1, at_6=0.0, at_7=True)
    assert not trains("aten.lstm", at_3=True, at_5=0.0, at_6=False, at_7=True)
    assert trains("aten.scaled_dot_product_attention", at_4=0.1)
    assert not trains("aten.scaled_dot_product_attention", dropout_p=0.0)


def test_a_single_number_out_of_parameters_is_a_loss() -> None:
    nodes = [op("aten.mean.default", 5)]
    for told, wanted in (({"scalar_output": 1, "parameter": 2}, "yes"), ({"scalar_output": 1}, "no"), ({}, "no")):
        assert one(said(nodes, collections=told), "graph").get("trains") == wanted


def test_products_of_sparse_tensors_are_errors_though_they_are_made_of_other_operators() -> None:
    made = op("aten.sparse_coo_tensor.indices_size", 5, layouts=["sparse_coo"])
    product = op("aten._sparse_mm.default", 6, "sparse_coo_tensor", "x")
    facts = said([made, product])
    assert one(facts, "torch_op", "aten._sparse_mm").get("cause") == "sparse"
    assert one(facts, "torch_op", "aten.sparse_coo_tensor").get("verdict") != "error"


def test_a_kernel_without_gradient_is_lost_unless_what_it_takes_is_cut_off() -> None:
    cut = [op("aten.detach.default", 5, "x"), op("aten.slogdet.default", 6, "detach")]
    assert one(said(cut), "torch_op", "aten.slogdet").get("lost") == "no"
    whole = [op("aten.mul.Tensor", 5, "x"), op("aten.slogdet.default", 6, "mul")]
    assert one(said(whole), "torch_op", "aten.slogdet").get("lost") == "yes"
    assert one(said(whole), "torch_op", "aten.mul").get("lost") == "no"


def test_what_a_script_has_one_name_for_is_not_taken_for_the_one_without_kernel() -> None:
    node = op("aten.linalg_inv", 5)
    assert one(said([node], "torchscript"), "torch_op").get("computed") == ""
    full = op("aten.linalg_inv.default", 5)
    assert one(said([full]), "torch_op").get("computed") == "`linalg_inv_ex.inverse`"
    reduced, plain = op("aten.scatter_", 5, arguments={"reduce": "add"}), op("aten.scatter_", 5, arguments={"1": 0})
    assert one(said([reduced], "torchscript"), "torch_op").get("verdict") == "cpu_out"
    assert one(said([plain], "torchscript"), "torch_op").get("verdict") == "npu"


def test_masks_and_repeats_of_a_script_give_shapes_from_values() -> None:
    def dims(*nodes: Node) -> list[str]:
        return [fact.name for fact in said(list(nodes), "torchscript") if fact.kind == "graph_dim"]

    mask, number = op("aten.gt", 4, "x"), op("aten.size", 4, "x")
    assert dims(mask, op("aten.index", 5, "gt")) == dims(mask, op("aten.index", 5, "x", "gt")) == ["aten.index"]
    assert dims(op("aten.to", 4), op("aten.index", 5, "x", "to")) == []
    assert dims(op("aten.cumsum", 4), op("aten.repeat_interleave", 5, "x", "cumsum")) == ["aten.repeat_interleave"]
    assert dims(number, op("aten.repeat_interleave", 5, "x", "size")) == []


def test_names_in_different_bodies_are_different_nodes() -> None:
    second = [op("aten.to", 4, name="m"), op("aten.index", 5, "y", "m")]
    bodies = [Body("a", [op("aten.gt", 4, "x", name="m")]), Body("b", second)]
    assert [fact for fact in said([], "torchscript", bodies=bodies) if fact.kind == "graph_dim"] == []


def test_a_kernel_that_computes_on_the_cpu_says_so_for_the_sentence() -> None:
    node = op("aten.std.correction", 5, arguments={"correction": 0.5})
    assert one(said([node]), "torch_op").get("computed") == "`std.correction`"


def test_what_brings_a_type_in_from_outside_has_its_name() -> None:
    given = Node("b_freqs", "placeholder", (), {"dtypes": ["complex64"], "shapes": [[4]], "target": "freqs"})
    nodes = [given, op("aten.mul.Tensor", 5, "b_freqs", dtypes=["complex64"], shapes=[[4]])]
    assert one(said(nodes), "graph_type").get("made_by") == "freqs"
