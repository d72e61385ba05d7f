"""Graph files of PyTorch that are damaged, or made to do harm: a clean answer, in bounded time and memory."""

from __future__ import annotations

import io
import json
import pickle
import struct
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from npulint.facts.graph import Graph, NodeFrame
from npulint.facts.model import Problem
from npulint.graphs.read import read_graph
from npulint.graphs.read.torch.frames import frames
from npulint.graphs.read.torch.nodes import readable
from npulint.graphs.read.torch.script.ranges import Ranges

REASONS = {"not-a-graph", "graph-damaged", "graph-too-large", "graph-pickled", "graph-compiled", "unreadable"}
QUICK = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
TRACE = 'File "/home/a/net.py", line 12, in forward\n    y = F.huber_loss(x, t)'
CODE = """class Net(Module):
  __parameters__ = ["weight", ]
  __annotations__["0"] = __torch__.Other
  weight : Tensor
  def forward(self: __torch__.Net,
    x: Tensor) -> Tensor:
    _0 = getattr(self, "0")
    y = torch.add(torch.mul(x, 2), [1, -2.5], alpha=1)
    values, order, = torch.topk(y, 1)
    if bool(torch.gt(torch.sum(values), 0)):
      z = (_0).forward(order, )
    else:
      z = ops.testvision.nms(y, "a (b", True)
    return torch.to(z, 7)
"""


def tensor(name: str) -> dict[str, Any]:
    return {"as_tensor": {"name": name}}


def node(target: str, takes: list[str], gives: str, **more: Any) -> dict[str, Any]:
    inputs = [{"name": f"a{place}", "arg": tensor(name), "kind": 1} for place, name in enumerate(takes)]
    inputs += [{"name": name, "arg": value, "kind": 2} for name, value in more.items()]
    told = {"target": f"torch.ops.{target}", "inputs": inputs, "outputs": [tensor(gives)], "name": gives}
    return told | {"metadata": {"stack_trace": TRACE, "torch_fn": "f"}, "is_hop_single_tensor_return": None}


def meta(sizes: list[Any]) -> dict[str, Any]:
    shape = [{"as_int": one} if isinstance(one, int) else {"as_expr": {"expr_str": one, "hint": None}} for one in sizes]
    return {"dtype": 7, "sizes": shape, "requires_grad": False, "device": {"type": "cpu", "index": None}, "layout": 7}


def sample() -> dict[str, Any]:
    branch = {
        "inputs": [tensor("x")],
        "outputs": [tensor("sin")],
        "nodes": [node("aten.sin.default", ["x"], "sin")],
        "tensor_values": {"x": meta([2]), "sin": meta([2])},
    }
    graph = {
        "inputs": [tensor("w"), tensor("x")],
        "outputs": [tensor("huber")],
        "nodes": [
            node("aten.mul.Tensor", ["w", "x"], "mul", alpha={"as_int": 1}),
            node("higher_order.cond", ["mul"], "cond", g={"as_graph": {"name": "true_graph_0", "graph": branch}}),
            node("aten.view.default", ["cond"], "view", size={"as_sym_ints": [{"as_int": -1}, {"as_name": "s"}]}),
            node("aten.huber_loss.default", ["view", "x"], "huber", delta={"as_float": "Infinity"}),
        ],
        "tensor_values": {"x": meta([2, "Symbol('s0', positive=True)"]), "mul": meta([2]), "huber": meta([])},
        "sym_int_values": {},
    }
    inputs = [
        {"parameter": {"arg": {"name": "w"}, "parameter_name": "layer.weight"}},
        {"user_input": {"arg": tensor("x")}},
    ]
    outputs = [{"loss_output": {"arg": {"name": "huber"}}}, {"user_output": {"arg": tensor("view")}}]
    signature = {"input_specs": inputs, "output_specs": outputs}
    module = {"graph": graph, "signature": signature, "module_call_graph": [{"fqn": "", "signature": None}]}
    return {"graph_module": module, "torch_version": "2.13.0", "schema_version": {"major": 8, "minor": 20}}


def read(data: bytes, path: Path) -> Graph | Problem:
    path.write_bytes(data)
    found = read_graph(str(path), path.name)
    if isinstance(found, Problem):
        assert found.reason in REASONS
        assert len(found.detail) < 1000
    else:
        assert msgspec.msgpack.decode(msgspec.msgpack.encode(found), type=Graph) == found
    return found


def program(data: bytes | str, name: str = "m/models/model.json", **kept: Any) -> bytes:
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w") as archive:
        archive.writestr(name, data, **kept)
    return whole.getvalue()


def script(code: str | bytes, table: bytes = b"") -> bytes:
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w") as archive:
        archive.writestr("m/code/__torch__.py", code)
        archive.writestr("m/code/__torch__.py.debug_pkl", table)
    return whole.getvalue()


def reason(found: Graph | Problem) -> tuple[str, str]:
    assert isinstance(found, Problem), found
    return found.reason, found.detail


def test_the_samples_are_sound(tmp_path: Path) -> None:
    found = read(program(json.dumps(sample())), tmp_path / "a.pt2")
    assert isinstance(found, Graph)
    assert [len(body.nodes) for body in found.bodies] == [6, 2]
    assert found.bodies[0].nodes[1].attrs["shapes"] == [[2, "s0"]]
    scripted = read(script(CODE), tmp_path / "a.pt")
    assert isinstance(scripted, Graph)
    assert [one.op for one in scripted.bodies[0].nodes] == [
        *("aten.mul", "aten.add", "aten.topk", "aten.sum", "aten.gt", "aten.Bool", "prim.If", "testvision.nms"),
        "aten.to",
    ]


def test_the_form_of_the_first_releases(tmp_path: Path) -> None:
    whole = sample()
    graph = whole["graph_module"]["graph"]
    for one in graph["nodes"]:
        del one["name"], one["is_hop_single_tensor_return"]
        for argument in one["inputs"]:
            del argument["kind"]
    several = [{"as_tensor": "x"}, {"as_none": []}]
    graph["nodes"][0]["inputs"].append({"name": "bias", "arg": {"as_optional_tensors": several}})
    whole["graph_module"]["signature"] = {
        "inputs_to_parameters": {"w": "layer.weight"},
        "inputs_to_buffers": {},
        "buffers_to_mutate": {},
        "user_inputs": ["x"],
        "user_outputs": ["view"],
        "backward_signature": {
            "loss_output": "huber",
            "gradients_to_parameters": {"mul": "layer.weight"},
            "gradients_to_user_inputs": {},
        },
    }
    del whole["torch_version"]
    path = tmp_path / "a.pt2"
    found = read(program(json.dumps(whole), "serialized_exported_program.json"), path)
    assert isinstance(found, Graph)
    assert found.version == ""
    kinds = ("gradient_to_parameter", "loss_output", "parameter", "user_input", "user_output")
    assert found.collections == dict.fromkeys(kinds, 1)
    nodes = {node.name: node for node in found.bodies[0].nodes}
    assert list(nodes) == ["w", "x", "mul", "cond", "view", "huber"]
    assert nodes["mul"].inputs == ("w", "x", "x")
    assert nodes["w"].attrs["kind"] == "parameter"


CHANGES = st.lists(
    st.tuples(st.sampled_from(("flip", "cut", "drop", "splice")), st.integers(0, 10**6), st.binary(max_size=6)),
    min_size=1,
    max_size=6,
)


def changed(data: bytes, changes: list[tuple[str, int, bytes]]) -> bytes:
    for kind, place, more in changes:
        at = place % (len(data) + 1)
        if kind == "flip":
            data = data[:at] + more + data[at + len(more) :]
        elif kind == "cut":
            data = data[: max(at, 60)]
        elif kind == "drop":
            data = data[:at] + data[at + 1 + place % 50 :]
        else:
            data = data[:at] + data[place % 97 : place % 97 + 40] + data[at:]
    return data


@QUICK
@given(CHANGES)
def test_changed_bytes_of_json(tmp_path: Path, changes: list[tuple[str, int, bytes]]) -> None:
    read(changed(json.dumps(sample()).encode(), changes), tmp_path / "a.json")


@QUICK
@given(CHANGES)
def test_changed_bytes_of_archives(tmp_path: Path, changes: list[tuple[str, int, bytes]]) -> None:
    read(changed(program(json.dumps(sample())), changes), tmp_path / "a.pt2")
    read(changed(script(CODE, pickle.dumps(((0, (("def f(x):\n", "a.py", 3), 1, 2)),), 2)), changes), tmp_path / "a.pt")


@QUICK
@given(CHANGES)
def test_changed_bytes_of_code(tmp_path: Path, changes: list[tuple[str, int, bytes]]) -> None:
    read(script(changed(CODE.encode(), changes)), tmp_path / "a.pt")


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)


@QUICK
@given(st.integers(0, 10**6), VALUES)
def test_values_of_any_type_in_any_place(tmp_path: Path, place: int, value: Any) -> None:
    whole = sample()
    spots: list[tuple[Any, Any]] = []
    queue: list[Any] = [whole]
    while queue:
        one = queue.pop()
        for key in one if isinstance(one, dict) else range(len(one)) if isinstance(one, list) else ():
            spots.append((one, key))
            queue.append(one[key])
    holder, key = spots[place % len(spots)]
    holder[key] = value
    found = read(program(json.dumps(whole)), tmp_path / "a.pt2")
    if isinstance(found, Problem) and found.reason == "graph-damaged":
        assert found.detail.startswith("m/models/model.json: ")


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda whole: whole.pop("graph_module"), "graph_module"),
        (
            lambda whole: whole["graph_module"]["graph"]["nodes"][1].update(target=3),
            "$.graph_module.graph.nodes[1].target",
        ),
        (lambda whole: whole["graph_module"]["graph"].update(nodes={}), "$.graph_module.graph.nodes"),
    ],
)
def test_the_place_of_the_damage_is_told(tmp_path: Path, change: Any, told: str) -> None:
    whole = sample()
    change(whole)
    why, detail = reason(read(program(json.dumps(whole)), tmp_path / "a.pt2"))
    assert why in ("graph-damaged", "not-a-graph")
    assert detail.startswith("m/models/model.json: ")
    assert told in detail


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=200))
def test_tables_of_sources_may_hold_anything(data: bytes) -> None:
    Ranges(data).frames(3)
    Ranges(b"\x80\x02" + data + b".").frames(0)


def test_tables_call_nothing(tmp_path: Path) -> None:
    target = tmp_path / "run"

    class Evil:
        def __reduce__(self) -> Any:
            return (Path.touch, (target,))

    assert Ranges(pickle.dumps((Evil(), Evil()), 2)).frames(0) == ()
    assert not target.exists()
    assert Ranges(b"cos\nsystem\n(X\x05\x00\x00\x00touchtR.").frames(0) == ()


def test_tables_that_grow_when_they_are_read() -> None:
    laughs: Any = ("x" * 1000,)
    for _ in range(60):
        laughs = (laughs, laughs)
    entry = (0, ((laughs, "a.py", 3), 1, 2))
    assert Ranges(pickle.dumps((entry,), 2)).frames(0) == ()
    long = (0, (([0] * 1_000_000, 0, 3), 1, 2), 0)
    assert Ranges(pickle.dumps(("FORMAT_WITH_STRING_TABLE", ("def f():\n" * 100_000,), (long,)), 2)).frames(0) == ()
    assert Ranges(pickle.dumps(((0, (("def f():", "a.py", 2**70), 1, 2)),), 2)).frames(0) == ()


def test_numbers_and_names_that_no_record_can_hold(tmp_path: Path) -> None:
    whole = sample()
    graph = whole["graph_module"]["graph"]
    graph["nodes"][0]["inputs"].append({"name": "n" * 10**6, "arg": {"as_int": 10**30}})
    graph["nodes"][0]["name"] = "m" * 10**6
    graph["tensor_values"]["x"]["sizes"] = [{"as_int": -(10**30)}]
    found = read(program(json.dumps(whole)), tmp_path / "a.pt2")
    assert isinstance(found, Graph)
    assert len(msgspec.msgpack.encode(found)) < 10_000
    code = f"def f(x: Tensor) -> Tensor:\n  return torch.add(x, {10**30}, {'9' * 10**6}, 9223372036854775807)\n"
    assert isinstance(read(script(code), tmp_path / "a.pt"), Graph)


def test_tables_of_older_releases_hold_the_source_itself() -> None:
    source = "def forward(self, x):\n    a = 1\n    return x.sin()\n"
    table = ((0, (("", "", 0), 0, 0)), (40, ((source, "/home/a/net.py", 7), source.index("x.sin"), 50)))
    ranges = Ranges(pickle.dumps(table, 2))
    assert ranges.frames(10) == ()
    assert ranges.frames(45) == (NodeFrame("/home/a/net.py", 9, "forward"),)


@settings(max_examples=300, deadline=None)
@given(st.text(alphabet="SymbolInteger()'s0,+*- 12=", max_size=60) | st.text(max_size=60))
def test_sizes_may_be_any_text(text: str) -> None:
    assert len(readable(text)) <= 256


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Symbol('s0', positive=True, integer=True)", "s0"),
        ("Mul(Integer(2), Symbol('s77', positive=True, integer=True))", "2*s77"),
        ("Add(Symbol('s0'), Mul(Integer(-1), Symbol('u1')))", "s0 + (-1)*u1"),
        ("FloorDiv(Add(Symbol('s0'), Integer(1)), Integer(2))", "(s0 + 1)//2"),
        ("Max(Integer(1), Symbol('u0'))", "Max(1, u0)"),
        ("Pow(Symbol('s0'), Integer(2))", "s0**2"),
        ("s0 + 3", "s0 + 3"),
        ("(" * 3000, "(" * 256),
        ("-" * 3900, "-" * 256),
        ("Max(" * 30 + "1" + ")" * 30, "Max(" * 30 + "1" + ")" * 30),
    ],
)
def test_sizes_are_written_as_people_do(text: str, expected: str) -> None:
    assert readable(text) == expected


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=300))
def test_stack_traces_may_be_any_text(text: str) -> None:
    assert isinstance(frames(text), tuple)


def test_stack_traces_of_both_kinds() -> None:
    text = (
        'File "/a/train.py", line 3, in <module>\n    run()\n  File "/a/models/net.py", line 12, in forward\n'
        '    y = self.conv(x)\n  File "/v/lib/python3.11/site-packages/torch/nn/modules/conv.py", line 5, in forward\n'
        '  File "<eval_with_key>.5", line 9, in forward\n  File "torch/fx/passes/x.py", line 1, in f\n'
    )
    assert frames(text) == (NodeFrame("/a/train.py", 3, "<module>"), NodeFrame("/a/models/net.py", 12, "forward"))
    assert frames("# File: C:\\a\\net.py:12 in forward, code: y = x") == (NodeFrame("C:\\a\\net.py", 12, "forward"),)


def test_archives_that_claim_too_much(tmp_path: Path) -> None:
    data = bytearray(program(json.dumps(sample())))
    directory = data.rindex(b"PK\x01\x02")
    struct.pack_into("<L", data, directory + 24, 2**31)
    assert reason(read(bytes(data), tmp_path / "a.pt2"))[0] == "graph-too-large"
    struct.pack_into("<L", data, directory + 24, 40)
    why, detail = reason(read(bytes(data), tmp_path / "b.pt2"))
    assert why == "graph-damaged"
    assert "m/models/model.json" in detail
    end = data.rindex(b"PK\x05\x06")
    struct.pack_into("<L", data, end + 12, 2**30)
    assert reason(read(bytes(data), tmp_path / "c.pt2"))[0] == "graph-too-large"


def test_members_that_are_encrypted_or_named_twice(tmp_path: Path) -> None:
    data = bytearray(program(json.dumps(sample())))
    directory = data.rindex(b"PK\x01\x02")
    struct.pack_into("<H", data, directory + 8, 1)
    assert "encrypted" in reason(read(bytes(data), tmp_path / "a.pt2"))[1]
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w") as archive:
        archive.writestr("m/models/a.json", json.dumps(sample()))
        with pytest.warns(UserWarning, match="Duplicate"):
            archive.writestr("m/models/a.json", "{}")
    why, detail = reason(read(whole.getvalue(), tmp_path / "b.pt2"))
    assert (why, detail) == ("graph-damaged", "two members named m/models/a.json")


@pytest.mark.parametrize("name", ["/models/a.json", "../models/a.json", "a/../../models/a.json"])
def test_names_that_lead_out_of_the_archive(tmp_path: Path, name: str) -> None:
    assert "out of the archive" in reason(read(program(json.dumps(sample()), name), tmp_path / "a.pt2"))[1]


def test_an_archive_that_is_cut_off(tmp_path: Path) -> None:
    data = program(json.dumps(sample()))
    for length in (100, len(data) // 2, len(data) - 10):
        assert reason(read(data[:length], tmp_path / "a.pt2"))[0] == "graph-damaged"


def test_json_that_is_nested_without_end(tmp_path: Path) -> None:
    deep = "[" * 200_000
    for text in (
        f'{{"graph_module": {{"graph": {{"nodes": [], "odd": {deep}',
        '{"graph_module": {"graph": {"nodes": ' + deep,
        '{"graph_module": {"graph": '
        + '{"nodes": [{"target": "t", "inputs": [{"arg": {"as_graph": {"name": "g", "graph": ' * 3000,
        '{"graph_module": {"graph": {"nodes": [{"target": "t", "inputs": [{"arg": '
        + '{"as_string_to_argument": {"a": ' * 50_000,
    ):
        assert reason(read(program(text), tmp_path / "a.pt2"))[0] == "graph-damaged"


@pytest.mark.slow
def test_code_that_is_nested_without_end(tmp_path: Path) -> None:
    head = "def f(x: Tensor) -> Tensor:\n"
    chain = f"{head}  return {'torch.sin(' * 5000}x{')' * 5000}\n"
    found = read(script(chain), tmp_path / "a.pt")
    assert isinstance(found, Graph)
    assert len(found.bodies[0].nodes) == 5000
    assert found.bodies[0].nodes[-1].inputs == ("sin_4998",)
    for text in ("torch.sin(" * 200_000, "x" + ")" * 10, "(x]", "[" * 300_000):
        assert reason(read(script(f"{head}  return {text}\n"), tmp_path / "a.pt"))[0] == "graph-damaged"
    blocks = "".join(f"{'  ' * depth}if torch.gt(x, 0):\n" for depth in range(1, 800))
    assert isinstance(read(script(head + blocks), tmp_path / "a.pt"), Graph)


def packed(begin: str, part: str, count: int, end: str) -> bytes:
    """An archive with a program of which a part stands there over and over."""
    return program(f'{{"graph_module": {{"graph": {begin}{part * count}{end}}}}}', compress_type=zipfile.ZIP_DEFLATED)


NODE = '{"nodes": [{"target": "a", "inputs": [{"arg": {"%s": ['


def test_a_header_that_takes_content_for_a_name_is_quoted_in_part(tmp_path: Path) -> None:
    data = script("def f(x: Tensor) -> Tensor:\n" + "  y = torch.sin(x)\n" * 200)
    at = data.index(b"PK\x03\x04") + 26  # the length of the name in the first member's own header
    found = read(data[:at] + (900).to_bytes(2, "little") + data[at + 2 :], tmp_path / "a.pt")
    assert isinstance(found, Problem) and found.reason == "graph-damaged"
    assert 400 < len(found.detail) < 1000


BOMBS = {
    "inputs": lambda: packed('{"nodes": [], "inputs": [', "{},", 20_000_000, "{}]}"),
    "names": lambda: packed(NODE % "as_tensors", '{"name": ""},', 1_400_000, '{"name": ""}]}}]}]}'),
    "nodes": lambda: packed('{"nodes": [', '{"target": "a"},', 1_400_000, '{"target": "a"}]}'),
    "numbers": lambda: packed(NODE % "as_ints", "1000,", 3_900_000, "1]}}]}]}"),
    "traces": lambda: packed(
        '{"nodes": [{"target": "a", "metadata": {"stack_trace": "', 'File \\"a\\", line 1\\n', 2_500_000, '"}}]}'
    ),
    "code": lambda: script("def f(x: Tensor) -> Tensor:\n" + "  y = torch.add(x, x)\n" * 40_000),
    "arguments": lambda: script("def f(x: Tensor) -> Tensor:\n  torch.add(" + "1, " * 200_000 + ")\n"),
    "table": lambda: script("def f(x: Tensor) -> Tensor:\n  torch.sin(x)\n", b"\x80\x02" + b"(" * 8_000_000 + b"."),
}
MEASURE = """
import resource, sys
from npulint.graphs.read import read_graph
import npulint.graphs.read.torch.exported, npulint.graphs.read.torch.torchscript
resource.setrlimit(resource.RLIMIT_AS, (1_000_000_000, 1_000_000_000))
resource.setrlimit(resource.RLIMIT_CPU, (200, 200))  # so that what never ends does end
found = read_graph(sys.argv[1], "a")
print(type(found).__name__, getattr(found, "reason", ""))
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="the limit of memory is that of Linux")
@pytest.mark.parametrize("name", sorted(BOMBS))
def test_memory_and_time_are_bounded(tmp_path: Path, name: str) -> None:
    path = tmp_path / "bomb.pt2"
    path.write_bytes(BOMBS[name]())
    done = subprocess.run([sys.executable, "-c", MEASURE, str(path)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
