"""The reader of TorchScript archives against PyTorch itself: what it tells is what the graphs of the methods hold."""

# mypy: disable-error-code="no-untyped-call"

from __future__ import annotations

import re
import zipfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from npulint.discover.files import discover
from npulint.facts.graph import Body, Graph
from npulint.graphs.read import read_graph
from npulint.judge.settings import Settings
from tests.live_support import framework, line_of, quiet

MODELS = Path(__file__).with_name("torchscript_models.py")
NAMES = (
    *("block", "flow", "numbers", "custom", "recurrent", "calls", "traced", "traced_deep", "traced_custom", "frozen"),
    "function",
)
KEPT = {"prim::If": "prim.If", "prim::Loop": "prim.Loop"}
LEFT_OUT = {"aten::__getitem__"}  # written as a subscript, as what takes a part of a tuple


@pytest.fixture(scope="module")
def models() -> ModuleType:
    framework("torch")
    with quiet():
        import tests.torchscript_models

        return tests.torchscript_models


@pytest.fixture(scope="module")
def archives(models: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("scripted")
    with quiet():
        for name, make in models.SCRIPTED.items():
            make().save(str(folder / f"{name}.pt"))
    return {name: str(folder / f"{name}.pt") for name in models.SCRIPTED}


def graph_of(path: str) -> Graph:
    found = read_graph(path, path)
    assert isinstance(found, Graph), found
    assert found.form == "torchscript"
    return found


def plain(name: str) -> str:
    return re.sub(r"___torch_mangle_\d+\.", "", name.removeprefix("__torch__."))


def nodes_of(block: Any) -> Iterator[Any]:
    for node in block.nodes():
        yield node
        for inner in node.blocks():
            yield from nodes_of(inner)


def operators(graph: Any) -> Counter[str]:
    kinds = [node.kind() for node in nodes_of(graph)]
    named = [
        KEPT.get(kind, "" if kind.startswith("prim::") else kind.replace("::", "."))
        for kind in kinds
        if kind not in LEFT_OUT
    ]
    return Counter(kind for kind in named if kind)


def methods(path: str) -> dict[str, list[Any]]:
    """The graphs of the methods of a loaded archive by their plain qualified names."""
    import torch

    with quiet():
        loaded = torch.jit.load(path)
    found: dict[str, Any] = {}
    if isinstance(loaded, torch.jit.ScriptFunction):
        return {}
    queue = [loaded._c]
    while queue:
        module = queue.pop()
        queue += [one for _, one in torch._C.ModuleDict(module).items()]
        for name in module._method_names():
            found[f"{module._type().qualified_name()}.{name}"] = module._get_method(name).graph
    grouped: dict[str, list[Any]] = {}
    for name in sorted(found):
        grouped.setdefault(plain(name), []).append(found[name])
    return grouped


def bodies(graph: Graph, name: str) -> list[Body]:
    return [body for body in graph.bodies if re.sub(r"_\d+$", "", body.name) == name or body.name == name]


@pytest.mark.slow
def test_there_are_as_many_models_as_names(models: ModuleType) -> None:
    assert set(models.SCRIPTED) == set(NAMES)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in NAMES if name != "function"])
def test_operators_of_methods_are_those_of_torch(archives: dict[str, str], name: str) -> None:
    graph = graph_of(archives[name])
    compared = 0
    for method, graphs in methods(archives[name]).items():
        expected = sorted(sorted(operators(one).items()) for one in graphs)
        found = sorted(sorted(Counter(node.op for node in body.nodes).items()) for body in bodies(graph, method))
        found = [[]] * (len(expected) - len(found)) + found  # methods without operators have no body
        assert found == expected, method
        compared += sum(map(len, expected))
    assert compared


@pytest.mark.parametrize("name", NAMES)
def test_operators_of_functions_are_those_of_torch(archives: dict[str, str], name: str) -> None:
    unit: Any = framework("torch").jit._state._python_cu
    functions = {plain(one.qualified_name): one for one in unit.get_functions()}
    for body in graph_of(archives[name]).bodies:
        method = body.name.split(".")[-2][0].isupper()
        if body.name in functions and not method:
            assert Counter(node.op for node in body.nodes) == operators(functions[body.name].graph), body.name


def test_a_function_is_read_as_well(archives: dict[str, str]) -> None:
    graph = graph_of(archives["function"])
    assert any(node.op == "aten.clamp_min" for body in graph.bodies for node in body.nodes)


@pytest.mark.parametrize("name", ["block", "flow", "numbers", "custom", "recurrent", "calls"])
def test_lines_of_scripted_code_are_those_of_the_source(archives: dict[str, str], name: str) -> None:
    graph = graph_of(archives[name])
    for method, graphs in methods(archives[name]).items():
        expected = Counter[tuple[str, int]]()
        for node in (node for one in graphs for node in nodes_of(one)):
            kind = KEPT.get(node.kind(), node.kind().replace("::", "."))
            match = re.match(r'\s*File "([^"]*)", line (\d+)', node.sourceRange())
            if match and match[1] == str(MODELS) and node.kind() not in LEFT_OUT:
                expected[kind, int(match[2])] += 1
        found = Counter[tuple[str, int]]()
        for node in (node for body in bodies(graph, method) for node in body.nodes):
            if method.startswith("tests.") and node.frames and node.frames[-1].path == str(MODELS):
                found[node.op, node.frames[-1].line] += 1
        if method.startswith("tests."):
            assert found == Counter(
                {
                    key: count
                    for key, count in expected.items()
                    if not key[0].startswith("prim.") or key[0] in KEPT.values()
                }
            ), method


def test_traced_operators_have_the_whole_way(archives: dict[str, str]) -> None:
    graph = graph_of(archives["traced"])
    nodes = {node.op: node for body in graph.bodies for node in body.nodes}
    for op in ("aten._convolution", "aten.batch_norm", "aten.relu"):
        own = [frame for frame in nodes[op].frames if frame.path == str(MODELS)]
        assert own[-1].line == line_of(MODELS, "F.relu(self.norm(self.conv(x)))")
        assert own[-1].function == "forward"
        assert line_of(MODELS, "return torch.jit.trace(") in [frame.line for frame in own[:-1]]


def test_operators_in_modules_of_torch_have_the_line_that_calls_them(archives: dict[str, str]) -> None:
    graph = graph_of(archives["flow"])
    lines = {
        node.op: [(frame.path, frame.line) for frame in node.frames][-1:]
        for body in graph.bodies
        for node in body.nodes
        if node.op in ("aten.huber_loss", "aten.linear", "aten.conv2d")
    }
    assert lines == {
        "aten.huber_loss": [(str(MODELS), line_of(MODELS, "return F.huber_loss("))],
        "aten.linear": [(str(MODELS), line_of(MODELS, "z = self.head("))],
        "aten.conv2d": [(str(MODELS), line_of(MODELS, "F.relu(self.norm(self.conv(x)))"))],
    }
    conv = next(node for body in graph.bodies for node in body.nodes if node.op == "aten.conv2d")
    assert conv.frames[0].line == line_of(MODELS, "y = self.block(x) + self.other(x)")


def test_types_and_arguments_that_the_code_tells(archives: dict[str, str]) -> None:
    nodes = {node.op: node for body in graph_of(archives["numbers"]).bodies for node in body.nodes}
    assert nodes["aten.zeros"].attrs["dtypes"] == ["float64"]
    assert nodes["aten.zeros"].attrs["arguments"]["0"] == [2]
    assert nodes["aten.pow"].attrs["arguments"] == {"1": 2}
    (body,) = bodies(graph_of(archives["flow"]), "tests.torchscript_models.Flow.again")
    assert [node.attrs.get("dtypes") for node in body.nodes if node.op == "aten.to"] == [["float64"], ["float64"]]


def test_nodes_know_what_they_take_and_stand_in(archives: dict[str, str]) -> None:
    (body,) = bodies(graph_of(archives["flow"]), "tests.torchscript_models.Flow.forward")
    nodes = {node.name: node for node in body.nodes}
    assert len(nodes) == len(body.nodes)
    topk = next(node for node in body.nodes if node.op == "aten.topk")
    product = next(node for node in body.nodes if node.inputs == (topk.name, f"{topk.name}:1"))
    assert product.op == "aten.mul"
    sine = next(node for node in body.nodes if node.op == "aten.sin")
    assert sine.attrs["within"][:2] == ["prim.Loop", "prim.If"]
    halved = next(node for node in body.nodes if node.op == "aten.div")
    assert halved.attrs["within"][0] == "prim.Loop"
    assert "within" not in topk.attrs


def test_archives_without_tables_have_no_lines(archives: dict[str, str], tmp_path: Path) -> None:
    path = tmp_path / "bare.pt"
    with zipfile.ZipFile(archives["flow"]) as old, zipfile.ZipFile(path, "w") as new:
        for info in old.infolist():
            if not info.filename.endswith(".debug_pkl"):
                new.writestr(info.filename, old.read(info))
    bare, whole = graph_of(str(path)), graph_of(archives["flow"])
    assert [(body.name, [node.op for node in body.nodes]) for body in bare.bodies] == [
        (body.name, [node.op for node in body.nodes]) for body in whole.bodies
    ]
    assert not any(node.frames for body in bare.bodies for node in body.nodes)


def test_archives_for_phones_are_read_by_their_code(models: ModuleType, tmp_path: Path) -> None:
    path = tmp_path / "flow.ptl"
    with quiet():
        models.SCRIPTED["flow"]()._save_for_lite_interpreter(str(path))
    assert [file.kind for file in discover([str(tmp_path)], Settings().discovery()).files] == ["graph"]
    assert bodies(graph_of(str(path)), "tests.torchscript_models.Flow.forward")


def test_code_of_an_importable_package_is_no_torchscript(tmp_path: Path) -> None:
    path = tmp_path / "package.pt"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("p/.data/extern_modules", "torch\n")
        archive.writestr("p/code/net.py", "def f(x): return (x\n")
    found = read_graph(str(path), "package.pt")
    assert getattr(found, "reason", "") == "not-a-graph"


def test_operators_of_a_function_know_who_calls_it(archives: dict[str, str]) -> None:
    wanted = next(number for number, line in enumerate(MODELS.read_text().split("\n"), 1) if "y = helper(x, 3)" in line)
    graph = graph_of(archives["calls"])
    loops = [node for body in graph.bodies for node in body.nodes if node.op == "prim.Loop"]
    assert loops
    for node in loops:
        assert (MODELS.name, wanted) in {(Path(one.path).name, one.line) for one in node.frames}


def test_what_an_index_takes_is_known_through_its_annotation(tmp_path: Path) -> None:
    torch = framework("torch")
    with quiet():
        made = torch.jit.trace(lambda x: (x * 2)[x > 0], torch.randn(4), check_trace=False)
        made.save(str(tmp_path / "masked.pt"))
    nodes = {node.op: node for body in graph_of(str(tmp_path / "masked.pt")).bodies for node in body.nodes}
    assert nodes["aten.index"].inputs == (nodes["aten.mul"].name, nodes["aten.gt"].name)
