"""The binary and the text form of graphs of TensorFlow, without TensorFlow."""

from __future__ import annotations

import os
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from npulint.facts.graph import Graph
from npulint.graphs.read.errors import GraphError
from npulint.graphs.read.protobuf import wire
from npulint.graphs.read.tensorflow.attributes import number_of, word
from npulint.graphs.read.tensorflow.binary import read_binary
from npulint.graphs.read.tensorflow.text import read_text
from tests.protobuf_bytes import attr, field, node, varint


def binary(data: bytes, form: str = "graph_def") -> Graph:
    return read_binary(form, "", data)


def text(source: str | bytes) -> Graph:
    return read_text("", source.encode() if isinstance(source, str) else source)


def value_of(told: bytes) -> Any:
    return binary(node("n", "Op", attrs=attr("a", told))).bodies[0].nodes[0].attrs.get("a", "unset")


def text_value(told: str) -> Any:
    source = f'node {{ name: "n" op: "Op" attr {{ key: "a" value {{ {told} }} }} }}'
    return text(source).bodies[0].nodes[0].attrs.get("a", "unset")


def tensor(dtype: int, *sizes: int, rest: bytes = b"") -> bytes:
    shape = b"".join(field(2, field(1, size)) for size in sizes)
    return field(8, field(1, dtype) + field(2, shape) + rest)


FLOAT = struct.pack("<f", 2.5)
VALUES: list[tuple[bytes, str, Any]] = [
    (field(2, "text"), 's: "text"', "text"),
    (field(2, "é模"), 's: "\\303\\251\\xE6\\xA8\\xa1"', "é模"),
    (field(2, b"\xff"), 's: "\\377"', "\ufffd"),
    (field(2, "x" * 1000), f's: "{"x" * 1000}"', "x" * 256),
    (field(3, 7), "i: 7", 7),
    (field(3, -1), "i: -1", -1),
    (field(3, 16), "i: 0x10", 16),
    (varint(4 << 3 | 5) + FLOAT, "f: 2.5", 2.5),
    (varint(4 << 3 | 5) + FLOAT, "f: 2.5f", 2.5),
    (varint(4 << 3 | 5) + struct.pack("<f", float("inf")), "f: inf", float("inf")),
    (varint(4 << 3 | 5) + struct.pack("<f", 0.1), "f: 0.1", struct.unpack("<f", struct.pack("<f", 0.1))[0]),
    (field(5, 1), "b: true", True),
    (field(5, 0), "b: false", False),
    (field(6, 1), "type: DT_FLOAT", "float32"),
    (field(6, 19), "type: DT_HALF", "float16"),
    (field(6, 101), "type: DT_FLOAT_REF", "float32_ref"),
    (field(6, 99), "type: 99", "type_99"),
    (field(7, b""), "shape { }", []),
    (field(7, field(2, field(1, -1)) + field(2, field(1, 3))), "shape { dim { size: -1 } dim { size: 3 } }", [-1, 3]),
    (field(7, field(2, b"")), "shape { dim { } }", [0]),
    (field(7, field(3, 1)), "shape { unknown_rank: true }", None),
    (field(9, "T"), 'placeholder: "T"', {"placeholder": "T"}),
    (field(10, field(1, "f") + field(2, b"")), 'func { name: "f" attr { key: "k" } }', {"function": "f"}),
    (b"", "", "unset"),
    (field(1, b""), "list { }", []),
    (field(1, field(2, "a") + field(2, "b")), 'list { s: "a" s: "b" }', ["a", "b"]),
    (field(1, field(2, "a") + field(2, "b")), 'list { s: ["a", "b"] }', ["a", "b"]),
    (field(1, field(3, b"\x01\x02")), "list { i: [1, 2] }", [1, 2]),
    (field(1, field(3, 1) + field(3, 2)), "list < i: 1; i: 2, >", [1, 2]),
    (field(1, field(4, FLOAT * 2)), "list { f: 2.5 f: 2.5 }", [2.5, 2.5]),
    (field(1, field(5, b"\x01\x00")), "list { b: true b: false }", [True, False]),
    (field(1, field(6, b"\x01\x03")), "list { type: [DT_FLOAT, DT_INT32] }", ["float32", "int32"]),
    (
        field(1, field(7, field(3, 1)) + field(7, field(2, field(1, 2)))),
        "list { shape [{ unknown_rank: true }, { dim { size: 2 } }] }",
        [None, [2]],
    ),
    (field(1, field(9, field(1, "f")) * 2), "list { func { name: 'f' } func < name: 'f' > }", [{"function": "f"}] * 2),
    (field(1, field(3, bytes(range(100)))), f"list {{ i: {list(range(100))} }}", list(range(64))),
    (
        tensor(3, rest=field(7, 5)),
        "tensor { dtype: DT_INT32 tensor_shape { } int_val: 5 }",
        {"dtype": "int32", "shape": [], "value": 5},
    ),
    (
        tensor(1, 2, rest=field(4, FLOAT * 2)),
        "tensor { dtype: DT_FLOAT tensor_shape { dim { size: 2 } } tensor_content: '\\000\\000 @\\000\\000 @' }",
        {"dtype": "float32", "shape": [2]},
    ),
    (
        tensor(1, 1, rest=field(4, FLOAT)),
        "tensor { tensor_content: '\\000\\000' ' @' dtype: DT_FLOAT tensor_shape { dim { size: 1 } } }",
        {"dtype": "float32", "shape": [1], "value": 2.5},
    ),
    (
        tensor(19, rest=field(13, varint(0x4100))),
        "tensor { dtype: DT_HALF tensor_shape { } half_val: 16640 }",
        {"dtype": "float16", "shape": [], "value": 2.5},
    ),
    (
        tensor(14, rest=field(13, varint(0x4020))),
        "tensor { dtype: DT_BFLOAT16 tensor_shape { } half_val: 16416 }",
        {"dtype": "bfloat16", "shape": [], "value": 2.5},
    ),
    (tensor(9), "tensor { dtype: DT_INT64 tensor_shape { } }", {"dtype": "int64", "shape": [], "value": 0}),
    (
        tensor(9, rest=field(10, varint((1 << 64) - 3))),
        "tensor { dtype: DT_INT64 tensor_shape { } int64_val: -3 }",
        {"dtype": "int64", "shape": [], "value": -3},
    ),
    (
        tensor(10, rest=field(11, b"\x01")),
        "tensor { dtype: DT_BOOL bool_val: true }",
        {"dtype": "bool", "shape": [], "value": True},
    ),
    (
        tensor(7, rest=field(8, "x")),
        'tensor { dtype: DT_STRING string_val: "x" tensor_shape { } }',
        {"dtype": "string", "shape": []},
    ),
    (
        tensor(8, rest=field(9, FLOAT * 2)),
        "tensor { dtype: DT_COMPLEX64 tensor_shape { } scomplex_val: 2.5 scomplex_val: 2.5 }",
        {"dtype": "complex64", "shape": []},
    ),
]


@pytest.mark.parametrize(("wire", "written", "told"), VALUES)
def test_the_value_of_an_attribute(wire: bytes, written: str, told: Any) -> None:
    assert repr(value_of(wire)) == repr(told)
    assert repr(text_value(written)) == repr(told)


def test_element_types_have_a_name_and_a_number() -> None:
    for number in (*range(34), *range(101, 134)):
        spelt = word(number).upper().replace("FLOAT32", "FLOAT").replace("FLOAT64", "DOUBLE").replace("FLOAT16", "HALF")
        if spelt.startswith("B") and "HALF" in spelt:
            spelt = spelt.replace("HALF", "FLOAT16")
        assert number_of(f"DT_{spelt}") == number
    assert number_of("DT_NONE") is None


def test_contents_of_tensors_are_stepped_over(tmp_path: Path) -> None:
    location = tmp_path / "graph.pb"
    weights = tensor(1, 5_000_000, rest=field(4, bytes(20_000_000)))
    location.write_bytes(
        node("w", "Const", attrs=attr("value", weights) + attr("dtype", field(6, 1))) + node("y", "Relu", "w")
    )
    told = read_binary("graph_def", str(location)).bodies[0].nodes
    assert [(one.name, one.op, one.inputs) for one in told] == [("w", "Const", ()), ("y", "Relu", ("w",))]
    assert told[0].attrs == {"value": {"dtype": "float32", "shape": [5_000_000]}, "dtype": "float32"}


FUNCTION = field(
    1,
    field(
        1, field(1, "f") + field(2, field(1, "a") + field(3, 1)) + field(2, field(1, "b") + field(3, 1) + field(16, 1))
    )
    + field(3, field(1, "sum") + field(2, "Add") + field(3, "a") + field(3, "b:0") + field(3, "^c"))
    + field(4, field(1, "out") + field(2, "sum:z:0"))
    + field(7, field(1, 0) + field(2, field(1, field(1, "_name") + field(2, field(2, "x"))))),
)
FUNCTION_TEXT = """
    library {
      function {
        signature {
          name: "f" input_arg { name: "a" type: DT_FLOAT } input_arg { name: "b" type: DT_FLOAT is_ref: true }
        }
        arg_attr { key: 0 value { attr { key: "_name" value { s: "x" } } } }
        ret { key: "out" value: "sum:z:0" }
        node_def { name: "sum" op: "Add" input: "a" input: "b:0" input: "^c" }
      }
    }
"""


@pytest.mark.parametrize("graph", [lambda: binary(field(2, FUNCTION)), lambda: text(FUNCTION_TEXT)])
def test_functions_begin_with_their_arguments(graph: Any) -> None:
    main, function = graph().bodies
    assert (main.name, main.nodes, function.name) == ("", [], "f")
    assert [(one.name, one.op, one.attrs) for one in function.nodes] == [
        ("a", "_Arg", {"_name": "x", "T": "float32", "index": 0}),
        ("b", "_Arg", {"T": "float32_ref", "index": 1}),
        ("sum", "Add", {}),
    ]
    assert function.nodes[2].inputs == ("a", "b:0", "^c")


def test_two_functions_never_have_one_name() -> None:
    assert [body.name for body in binary(field(2, FUNCTION * 3)).bodies] == ["", "f", "f#2", "f#3"]
    assert [body.name for body in text(FUNCTION_TEXT * 2).bodies] == ["", "f", "f#2"]


def meta(tag: str, op: str) -> bytes:
    info = field(1, field(4, tag) + field(5, "1.15.0"))
    collections = field(4, field(1, "train_op") + field(2, field(1, field(1, "a") + field(1, "b"))))
    collections += field(4, field(1, "steps") + field(2, field(3, field(1, b"\x01\x80\x01\x05"))))
    collections += field(4, field(1, "rates") + field(2, field(4, field(1, FLOAT * 3))))
    return info + field(2, node("n", op)) + collections


META_TEXT = """meta_info_def {{ tags: "{tag}" tensorflow_version: "1.15.0" stripped_op_list {{ op {{ name: "A" }} }} }}
graph_def {{ node {{ name: "n" op: "{op}" }} }}
collection_def {{ key: "train_op" value {{ node_list {{ value: "a" value: "b" }} }} }}
collection_def {{ key: "steps" value {{ int64_list {{ value: [1, 128, 5] }} }} }}
collection_def {{ key: "rates" value {{ float_list {{ value: 1.5 value: 2 value: 3 }} }} }}
"""


@pytest.mark.parametrize(
    "graph",
    [
        lambda: binary(field(1, 1) + field(2, meta("serve", "A")) + field(2, meta("train", "B")), "saved_model"),
        lambda: text(
            "saved_model_schema_version: 1\n"
            + "".join(
                f"meta_graphs {{ {META_TEXT.format(tag=tag, op=op)} }}" for tag, op in (("serve", "A"), ("train", "B"))
            )
        ),
    ],
)
def test_of_a_saved_model_the_graph_that_trains(graph: Any) -> None:
    found = graph()
    assert (found.form, found.version, found.tags) == ("saved_model", "1.15.0", ("train",))
    assert found.collections == {"train_op": 2, "steps": 3, "rates": 3}
    assert [one.op for one in found.bodies[0].nodes] == ["B"]


def test_a_meta_graph_in_both_forms() -> None:
    told = binary(meta("x", "A"), "meta_graph")
    written = text(META_TEXT.format(tag="x", op="A"))
    assert msgspec.structs.replace(told, bodies=[]) == msgspec.structs.replace(written, bodies=[])
    assert written.bodies[0].nodes[0].line == 2


def test_lines_comments_and_any_order_of_fields() -> None:
    found = text(
        '# a comment with node { and "\n'
        "versions { producer: 21 };\n"
        "node # of the input\n"
        "{ input: 'a' 'b' # in two parts\n"
        "  op: \"A\" attr: { value: { i: 1 } key: 'k' }\n"
        "  name: 'first' device: '/cpu' }\r\n"
        "\n"
        'node: < op: \'B\', name: "se\\"cond" input: ["x", \'^y\'] >\n'
        "node [ { op: 'C' }, { op: 'D' } ]"
    )
    nodes = [(one.name, one.op, one.inputs, one.attrs, one.line) for one in found.bodies[0].nodes]
    assert nodes == [
        ("first", "A", ("ab",), {"k": 1}, 3),
        ('se"cond', "B", ("x", "^y"), {}, 8),
        ("", "C", (), {}, 9),
        ("", "D", (), {}, 9),
    ]


def test_the_same_attribute_is_read_once_and_told_to_all() -> None:
    one = 'node {\n  op: "A"\n  attr {\n    key: "T"\n    value {\n      type: DT_HALF\n    }\n  }\n}\n'
    odd = 'node {\n  op: "B"\n  attr {\n    key: "T"\n    value {\n  }\n  }\n}\n'
    found = text(one + odd + one + odd + one)
    assert [one.attrs for one in found.bodies[0].nodes] == [{"T": "float16"}, {}] * 2 + [{"T": "float16"}]
    assert [one.line for one in found.bodies[0].nodes] == [1, 10, 18, 27, 35]


SOUND = node("a", "A", "b", attrs=attr("k", field(7, field(2, field(1, 3))))) + field(2, FUNCTION)
WRITTEN = 'node { name: "a" op: "A" attr { key: "k" value { list { s: "x" } } } }' + FUNCTION_TEXT


@pytest.mark.parametrize(
    ("data", "detail"),
    [
        (node("a", "A")[:-1], "byte 0"),
        (node("a", "A") + node("b", "B")[:-1], "byte 8"),
        (field(1, field(1, "a")), "byte 2"),
        (b"\xff" * 12, "byte 0"),
        (node("a", "A") + b"\x07", "byte 8"),
        (node("a", "A") + b"\x00\x01", "byte 8"),
        (node("a", "A", attrs=attr("k", b"\x12\x7f")), "byte 15"),
        (node("a", "A", attrs=attr("k", field(1, field(4, b"abc")))), "byte 19"),
    ],
)
def test_what_is_no_message_names_the_byte(data: bytes, detail: str) -> None:
    with pytest.raises(GraphError) as error:
        binary(data)
    assert (error.value.reason, error.value.detail) == ("graph-damaged", detail)


@pytest.mark.parametrize(
    ("source", "detail"),
    [
        ('node {\n op: "A"', "line 2: ends too early"),
        ('node { op: "A" }\n}', "line 2: } ends nothing"),
        ('node { op: "A" >', "line 1: > ends nothing"),
        ('node {\n op: "A\n" }', "line 2: a string without end"),
        ('node { op: "A" }\n\nnode', "line 3: no value"),
        ("node { op: }", "line 1: no value"),
        ("node { : }", "line 1: no field"),
        ("node {\n name: 'a'\n}", "line 3: no such value"),
        ("node { op: 'A' attr: 'x' }", "line 1: attr is no message"),
        ("node { op: A }", "line 1: no such value"),
        ("node { op: 'A' attr { key: 'a' value { i: x } } }", "line 1: no such value"),
        ("node { op: 'A' attr { key: 'a' value { i: 99999999999999999999 } } }", "line 1: no such value"),
        ("node { op: 'A' attr { key: 'a' value { type: DT_NONE } } }", "line 1: no such value"),
        ("node { op: 'A' attr { key: 'a' value { shape { dim: 1 } } } }", "line 1: no such value"),
        ("a {" * 200, "line 1: nested too deeply"),
        ("node { input: " + "[" * 200, "line 1: no value"),
    ],
)
def test_what_is_no_text_of_a_graph_names_the_line(source: str, detail: str) -> None:
    with pytest.raises(GraphError) as error:
        text(source)
    assert (error.value.reason, error.value.detail) == ("graph-damaged", detail)


def test_every_cut_through_a_node_is_damage() -> None:
    ends = {len(node("a", "A", "b", attrs=attr("k", field(7, field(2, field(1, 3))))))}
    for end in set(range(1, len(SOUND))) - ends:
        with pytest.raises(GraphError, match="graph-damaged"):
            binary(SOUND[:end])
    whole = WRITTEN.rstrip()
    for end in range(1, len(whole)):
        if whole[:end].strip() != whole.split("\n")[0]:
            with pytest.raises(GraphError, match=r"graph-damaged|not-a-graph"):
                text(whole[:end] if end > 4 else "node {")


@pytest.mark.parametrize("form", ["graph_def", "meta_graph", "saved_model"])
def test_nothing_is_no_graph(form: str) -> None:
    with pytest.raises(GraphError, match="not-a-graph"):
        binary(b"", form)
    with pytest.raises(GraphError, match="not-a-graph"):
        text("")


def test_a_file_that_becomes_shorter_is_damaged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    location = tmp_path / "graph.pb"
    location.write_bytes(SOUND)

    def longer(descriptor: int) -> os.stat_result:
        status = real(descriptor)
        return os.stat_result((*status[:6], status.st_size + 100, *status[7:]))

    real = os.fstat
    monkeypatch.setattr(os, "fstat", longer)
    with pytest.raises(GraphError, match="graph-damaged"):
        read_binary("graph_def", str(location))


@pytest.mark.parametrize(
    ("limit", "most", "data", "source"),
    [
        ("NODES", 2, node("a", "A") * 3, "node { op: 'A' }" * 3),
        ("KEPT", 5000, node("a" * 2000, "A") * 3, f"node {{ op: 'A' name: '{'a' * 2000}' }}" * 3),
        ("STEPS", 50, node("a", "A", *"b" * 60), "node { op: 'A' " + "# c\n" * 60 + "}"),
    ],
)
def test_there_is_a_limit_to_everything(
    limit: str, most: int, data: bytes, source: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    binary(data), text(source)
    monkeypatch.setattr(wire, limit, most)
    with pytest.raises(GraphError, match="graph-too-large"):
        binary(data)
    with pytest.raises(GraphError, match="graph-too-large"):
        text(source)


def test_one_node_does_not_have_any_number_of_inputs() -> None:
    with pytest.raises(GraphError, match="fields of one node"):
        binary(field(1, field(1, "a") + field(2, "A") + field(3, "x") * (wire.PARTS + 1)))
    with pytest.raises(GraphError, match="fields of one message"):
        text("node { op: 'A' " + 'input: "x" ' * (wire.PARTS + 1) + "}")


@pytest.mark.parametrize(
    "source",
    [b"node {" * 2_000_000, b"{" * 2_000_000, b"node { op: '" + b"\\'" * 500_000, b" " * 5_000_000, b"a" * 5_000_000],
)
def test_texts_without_end_are_told_quickly(source: bytes) -> None:
    with pytest.raises(GraphError):
        text(source)


def test_functions_in_functions_are_not_followed() -> None:
    inner = b""
    for _ in range(5000):
        inner = field(10, field(1, "g") + field(2, field(1, "k") + field(2, inner)))
    assert value_of(inner) == {"function": "g"}


def graph_or_reason(read: Callable[[], Graph]) -> Graph | str:
    try:
        return read()
    except GraphError as error:
        return error.reason


spots = st.lists(st.tuples(st.floats(0, 1), st.binary(max_size=8)), min_size=1, max_size=4)


def spoilt(data: bytes, changes: list[tuple[float, bytes]], cut: float) -> bytes:
    for place, other in changes:
        at = int(place * len(data))
        data = data[:at] + other + data[at + len(other) // 2 :]
    return data[: int(cut * len(data)) + 1]


@given(spots, st.floats(0, 1), st.sampled_from(["graph_def", "meta_graph", "saved_model"]))
def test_spoilt_binaries_give_a_graph_or_a_reason(changes: list[tuple[float, bytes]], cut: float, form: str) -> None:
    sound = {"graph_def": SOUND, "meta_graph": meta("a", "A"), "saved_model": field(2, meta("a", "A"))}[form]
    found = graph_or_reason(lambda: binary(spoilt(sound, changes, cut), form))
    if isinstance(found, Graph):
        assert msgspec.msgpack.decode(msgspec.msgpack.encode(found), type=Graph).form == form
    else:
        assert found in ("graph-damaged", "not-a-graph")


pieces = st.sampled_from([b"{", b"}", b"<", b">", b"[", b"]", b'"', b"'", b"\\", b"#", b":", b",", b"\n", b"\0", b"-"])


@given(st.lists(st.tuples(st.floats(0, 1), pieces | st.binary(max_size=4)), max_size=4), st.floats(0, 1))
def test_spoilt_texts_give_a_graph_or_a_reason(changes: list[tuple[float, bytes]], cut: float) -> None:
    sound = (
        WRITTEN
        + META_TEXT.format(tag="a", op="A")
        + "".join(f"node {{ op: 'A' attr {{ key: 'k' value {{ {told} }} }} }}\n" for _, told, _ in VALUES)
    ).encode()
    found = graph_or_reason(lambda: text(spoilt(sound, changes, cut)))
    if isinstance(found, Graph):
        assert msgspec.msgpack.decode(msgspec.msgpack.encode(found), type=Graph).bodies[0].name == ""
    else:
        assert found in ("graph-damaged", "not-a-graph")


@pytest.mark.parametrize(
    ("producer", "release"), [(0, ""), (27, "1.x"), (134, ""), (175, "2.x"), (2474, "2.x"), (1 << 40, "2.x")]
)
def test_a_graph_tells_which_tensorflow_wrote_it(producer: int, release: str) -> None:
    plain = node("n", "A") + field(4, field(1, producer))
    written = f'node {{ name: "n" op: "A" }} versions {{ producer: {producer} }}'
    assert binary(plain).version == text(written).version == release
    assert binary(field(2, plain), "meta_graph").version == text(f"graph_def {{ {written} }}").version == release
    named = f'meta_info_def {{ tensorflow_version: "1.15.0" }} graph_def {{ {written} }}'
    assert binary(meta("serve", "A"), "meta_graph").version == text(named).version == "1.15.0"
