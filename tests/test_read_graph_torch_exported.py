"""The reader of exported programs against PyTorch itself: what it tells is what the graph modules hold."""

# mypy: disable-error-code="no-untyped-call"

from __future__ import annotations

import io
import operator
import zipfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from npulint.discover.files import discover
from npulint.facts.graph import Graph, Node
from npulint.graphs.read import read_graph
from npulint.judge.settings import Settings
from tests.daily import parameters
from tests.live_support import framework, quiet

pytestmark = pytest.mark.slow

MODELS = Path(__file__).with_name("torch_models.py")
NAMES = (
    *("convolutions", "convolutions_eval", "convolutions_strict", "convolutions_decomposed", "attention", "recurrent"),
    *("conditional", "looping", "mapped", "scanned", "dynamic", "stateful", "stateful_functional", "custom", "typed"),
    "training",
)
COUNTED = ("call_function", "placeholder")


@pytest.fixture(scope="module")
def models() -> ModuleType:
    framework("torch")
    with quiet():
        import tests.torch_models

        return tests.torch_models


@pytest.fixture(scope="module")
def programs(models: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Any, str]]:
    import torch

    folder = tmp_path_factory.mktemp("exported")
    found = {}
    with quiet():
        for name, make in models.EXPORTED.items():
            program = make()
            torch.export.save(program, folder / f"{name}.pt2")
            found[name] = (program, str(folder / f"{name}.pt2"))
    return found


def graph_of(path: str) -> Graph:
    found = read_graph(path, path)
    assert isinstance(found, Graph), found
    return found


def modules(module: Any) -> Iterator[Any]:
    """A graph module and those that its nodes are given, once for each time."""
    yield module
    for node in module.graph.nodes:
        for one in node.all_input_nodes if node.op == "call_function" else ():
            inner = getattr(module, str(one.target), None) if one.op == "get_attr" else None
            if type(inner).__name__.startswith("GraphModule") or hasattr(inner, "graph"):
                yield from modules(inner)


def spelled(target: Any) -> str:
    import torch

    if isinstance(target, torch._ops.HigherOrderOperator):
        return f"higher_order.{target.name()}"
    return str(target) if isinstance(target, torch._ops.OpOverload) else f"{target.__module__}.{target.__name__}"


def told(module: Any) -> list[tuple[str, Any]]:
    """The operators and inputs of one graph module, as PyTorch tells them: what takes a part of a tuple is none."""
    return [
        ("placeholder" if node.op == "placeholder" else spelled(node.target), node)
        for node in module.graph.nodes
        if node.op in COUNTED and node.target is not operator.getitem
    ]


@pytest.mark.slow
def test_there_are_as_many_models_as_names(models: ModuleType) -> None:
    assert set(models.EXPORTED) == set(NAMES)


@pytest.mark.slow
@pytest.mark.parametrize("name", parameters(NAMES, str, per_group=6))
def test_operators_are_those_of_torch(programs: dict[str, tuple[Any, str]], name: str) -> None:
    program, path = programs[name]
    graph = graph_of(path)
    expected = [Counter(op for op, _ in told(module)) for module in modules(program.graph_module)]
    found = [Counter(node.op for node in body.nodes) for body in graph.bodies]
    assert found[0] == expected[0]
    assert sorted(sorted(one.items()) for one in found) == sorted(sorted(one.items()) for one in expected)
    assert graph.form == "exported_program"
    assert graph.version == __import__("torch").__version__


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_inputs_types_and_shapes_are_those_of_torch(programs: dict[str, tuple[Any, str]], name: str) -> None:
    program, path = programs[name]
    nodes = {node.name: node for node in graph_of(path).bodies[0].nodes}
    assert list(nodes) == [node.name for _, node in told(program.graph_module)]
    for op, fx in told(program.graph_module):
        node = nodes[fx.name]
        assert node.op == op
        assert_outputs(node, fx.meta["val"])
        producers = [producer(one) for one in fx.all_input_nodes if one.op != "get_attr"]
        assert sorted({text.partition(":")[0] for text in node.inputs}) == sorted(set(producers))


def producer(node: Any) -> str:
    return str(node.args[0].name if node.target is operator.getitem else node.name)


def assert_outputs(node: Node, value: Any) -> None:
    import torch

    values = value if isinstance(value, list | tuple) else [value]
    tensors = [one for one in values if isinstance(one, torch.Tensor)]
    assert node.attrs.get("dtypes", []) == [str(one.dtype).removeprefix("torch.") for one in tensors]
    shapes = node.attrs.get("shapes", [])
    assert len(shapes) == len(tensors)
    for shape, tensor in zip(shapes, tensors, strict=True):
        sizes: list[Any] = list(tensor.shape)
        for size, real in zip(shape, sizes, strict=True):
            assert size == real if isinstance(real, int) else size.replace(" ", "") == str(real).replace(" ", "")


@pytest.mark.parametrize("name", NAMES)
def test_places_are_those_that_torch_noted(programs: dict[str, tuple[Any, str]], name: str) -> None:
    program, path = programs[name]
    nodes = {node.name: node for node in graph_of(path).bodies[0].nodes}
    own = 0
    for _, fx in told(program.graph_module):
        noted = [line.split('"') for line in (fx.meta.get("stack_trace") or "").split("\n") if 'File "' in line]
        places = [(parts[1], int(parts[2].split(",")[1].removeprefix(" line "))) for parts in noted]
        expected = [(file, line) for file, line in places if "torch/" not in file and file[0] != "<"]
        assert [(frame.path, frame.line) for frame in nodes[fx.name].frames] == expected
        own += any(file == str(MODELS) for file, _ in expected)
    assert own or name == "training"  # the gradients are traced anew, without places


def test_every_marked_operator_has_its_line(programs: dict[str, tuple[Any, str]]) -> None:
    lines = MODELS.read_text().split("\n")
    for name, op, text in (
        ("convolutions", "aten.conv2d.default", "# conv2d batch_norm max_pool2d"),
        ("convolutions_strict", "aten.linear.default", "# linear log_softmax"),
        ("dynamic", "aten.nonzero.default", "# nonzero item"),
        ("stateful", "aten.mul.Tensor", "# mul"),
        ("custom", "testvision.nms.default", "# nms"),
        ("typed", "aten.huber_loss.default", "# huber_loss"),
        ("typed", "aten.topk.default", "# topk"),
        ("recurrent", "aten.lstm.input", "# embedding lstm"),
    ):
        nodes = [node for body in graph_of(programs[name][1]).bodies for node in body.nodes if node.op == op]
        assert nodes, (name, op)
        for node in nodes:
            assert text in lines[node.frames[-1].line - 1]
            assert node.frames[-1].function == "forward"


def test_bodies_of_branches_say_whom_they_serve(programs: dict[str, tuple[Any, str]]) -> None:
    bodies = {body.name: body for body in graph_of(programs["conditional"][1]).bodies}
    assert bodies[""].serves == ""
    assert bodies["true_graph_0"].serves == bodies["false_graph_0"].serves == "/cond"
    inner = bodies["true_graph_0.true_graph_0"]
    assert inner.serves.startswith("true_graph_0/cond")
    assert [node.op for node in inner.nodes] == ["placeholder", "aten.tan.default"]


def test_the_signature_tells_what_inputs_are(programs: dict[str, tuple[Any, str]]) -> None:
    graph = graph_of(programs["stateful_functional"][1])
    kinds = {node.name: node.attrs for node in graph.bodies[0].nodes if node.op == "placeholder"}
    assert kinds["b_seen"]["kind"] == "buffer"
    assert kinds["b_seen"]["target"] == "seen"
    assert kinds["b_seen"]["mutated"] == "yes"
    assert "mutated" not in kinds["b_scale"]
    assert kinds["x"]["kind"] == "user_input"
    assert graph.collections["buffer"] == 2
    assert graph.collections["buffer_mutation"] == 1
    convolutions = graph_of(programs["convolutions"][1])
    weights = [node for node in convolutions.bodies[0].nodes if node.attrs.get("kind") == "parameter"]
    assert len(weights) == convolutions.collections["parameter"] == 6
    assert all(node.attrs["requires_grad"] for node in weights)


def test_a_step_with_its_gradients_has_phases(programs: dict[str, tuple[Any, str]]) -> None:
    graph = graph_of(programs["training"][1])
    assert graph.collections["gradient_to_parameter"] == 2
    assert graph.collections["loss_output"] == 1
    phases = {node.op: node.phase for node in graph.bodies[0].nodes}
    assert {phases[op] for op in ("aten.addmm.default", "aten.tanh.default", "aten.gather.default")} == {"forward"}
    assert {phases[op] for op in ("aten.mm.default", "aten.exp.default", "aten.scatter.value")} == {"backward"}


def test_arguments_are_small_values(programs: dict[str, tuple[Any, str]]) -> None:
    typed = graph_of(programs["typed"][1]).bodies[0].nodes
    nodes = {node.op: node.attrs["arguments"] for node in typed if "arguments" in node.attrs}
    assert nodes["aten.huber_loss.default"]["delta"] == 0.5
    assert nodes["aten.topk.default"]["k"] == 2
    assert nodes["aten.contiguous.default"]["memory_format"] == "channels_last"
    custom = {node.op: node for node in graph_of(programs["custom"][1]).bodies[0].nodes}
    assert custom["testlib.scaled.default"].attrs["arguments"] == {"factor": 2.0, "names": [1, 2]}


def test_sizes_that_are_not_known_are_text(programs: dict[str, tuple[Any, str]]) -> None:
    found = graph_of(programs["dynamic"][1]).bodies[0].nodes
    nodes = {node.op: node for node in found}
    batch, other = (node.attrs["shapes"][0][0] for node in found if node.op == "placeholder")
    assert batch.startswith("s")
    assert nodes["aten.view.default"].attrs["shapes"] in ([[f"{batch} + {other}", 4]], [[f"{other} + {batch}", 4]])
    assert nodes["aten.index.Tensor"].attrs["shapes"][0][0].startswith("u")


def test_a_package_of_several_models(models: ModuleType, tmp_path: Path) -> None:
    from torch.export.pt2_archive._package import package_pt2

    path = tmp_path / "several.pt2"
    with quiet():
        parts = {"first": models.EXPORTED["mapped"](), "second": models.EXPORTED["conditional"]()}
        package_pt2(str(path), exported_programs=parts)
    graph = graph_of(str(path))
    assert [body.name for body in graph.bodies if not body.serves] == ["first", "second"]
    assert {body.serves for body in graph.bodies if body.name.startswith("second.")} >= {"second/cond"}
    assert graph.collections["user_input"] == 3


def members(path: str) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as archive:
        return {info.filename: archive.read(info) for info in archive.infolist()}


def test_the_layout_of_older_releases_and_the_bare_member(programs: dict[str, tuple[Any, str]], tmp_path: Path) -> None:
    path = programs["attention"][1]
    (text,) = [data for name, data in members(path).items() if "/models/" in name]
    flat = tmp_path / "flat.pt2"
    with zipfile.ZipFile(flat, "w") as archive:
        archive.writestr("serialized_exported_program.json", text)
        archive.writestr("serialized_state_dict.pt", b"PK")
        archive.writestr("version", "8.4")
    bare = tmp_path / "model.json"
    bare.write_bytes(text)
    assert graph_of(str(flat)) == graph_of(str(bare)) == graph_of(path)
    given = read_graph("model.json", "model.json", text)
    assert given == graph_of(path)


def test_weights_whole_models_and_compiled_packages_are_no_graphs(models: ModuleType, tmp_path: Path) -> None:
    import torch

    torch.save(models.Training().state_dict(), tmp_path / "weights.pt")
    torch.save(models.Training(), tmp_path / "whole.pth")
    torch.save(models.Training().state_dict(), tmp_path / "old.pt", _use_new_zipfile_serialization=False)
    with zipfile.ZipFile(tmp_path / "compiled.pt2", "w") as archive:
        archive.writestr("m/data/aotinductor/model/x.wrapper.so", b"\x7fELF")
    walked = discover([str(tmp_path)], Settings().discovery())
    assert not walked.files  # only who names them is told
    assert not walked.problems
    reasons = {path.name: read_graph(str(path), path.name) for path in tmp_path.iterdir()}
    assert {name: getattr(one, "reason", "") for name, one in reasons.items()} == {
        "weights.pt": "graph-pickled",
        "whole.pth": "graph-pickled",
        "old.pt": "graph-pickled",
        "compiled.pt2": "graph-compiled",
    }


def test_what_is_pickled_is_never_opened(programs: dict[str, tuple[Any, str]], tmp_path: Path) -> None:
    evil = b"cos\nsystem\n(S'touch " + bytes(tmp_path / "run") + b"'\ntR."
    path = tmp_path / "evil.pt2"
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in members(programs["typed"][1]).items():
            archive.writestr(name, data if name.endswith(".json") else evil)
    assert graph_of(str(path)) == graph_of(programs["typed"][1])
    assert not (tmp_path / "run").exists()


def test_layouts_that_are_not_strided_are_told(tmp_path: Path) -> None:
    torch = framework("torch")

    class Sparse(torch.nn.Module):  # type: ignore[name-defined]
        def forward(self, x: Any) -> Any:
            return torch.sparse.mm(x, torch.ones(4, 2)) + x.to_sparse().to_dense().sum()

    with quiet():
        program = torch.export.export(Sparse(), (torch.randn(4, 4),))
        data = io.BytesIO()
        torch.export.save(program, data)
    path = tmp_path / "sparse.pt2"
    path.write_bytes(data.getvalue())
    nodes = [node for body in graph_of(str(path)).bodies for node in body.nodes if "layouts" in node.attrs]
    assert nodes
    assert nodes[0].attrs["layouts"] == ["sparse_coo"]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("self.layer(x).mean()", 1),
        ("(self.layer(x).mean(), x)", 1),
        ("self.layer(x).mean().double()", 1),
        ("self.layer(x)", 0),
        ("(x, self.layer(x).mean())", 0),
        ("self.layer(x).argmax()", 0),
    ],
)
def test_a_program_whose_first_output_is_one_number_is_told(text: str, wanted: int, tmp_path: Path) -> None:
    torch = framework("torch")

    class Net(torch.nn.Module):  # type: ignore[name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.layer = torch.nn.Linear(3, 2)

        def forward(self, x: Any) -> Any:
            return eval(text)

    path = str(tmp_path / "net.pt2")
    with quiet():
        torch.export.save(torch.export.export(Net(), (torch.randn(4, 3),)), path)
    assert graph_of(path).collections.get("scalar_output", 0) == wanted
