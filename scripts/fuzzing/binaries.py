"""Binary files: protocol buffers with any fields and lengths, event files, and archives."""

from __future__ import annotations

import io
import json
import struct
import warnings
import zipfile
import zlib

from hypothesis import strategies as st

from scripts.fuzzing.mutation import encoded, mutants, mutated, nasty
from scripts.fuzzing.trees import trees
from scripts.fuzzing.wire import field, varint

_OPERATORS = (
    *("MatMul", "Conv2D", "Placeholder", "Const", "VariableV2", "Cast", "IteratorGetNext", "PartitionedCall", "While"),
    *(
        "GeOp",
        "NpuOnnxGraphOp",
        "_Arg",
        "_Retval",
        "Merge",
        "NextIteration",
        "Enter",
        "If",
        "StatelessIf",
        "DropOutDoMask",
    ),
)


@st.composite
def _field(draw: st.DrawFn, depth: int) -> bytes:
    """Any field of the wire format, some with lengths that are wrong."""
    number = draw(st.one_of(st.integers(1, 12), st.sampled_from([0, 15, 16, 2**28, 2**29 - 1, 2**40])))
    wire = draw(st.sampled_from([0, 1, 2, 2, 2, 2, 3, 4, 5, 6, 7]))
    tag = varint(number << 3 | wire)
    if wire == 0:
        return tag + varint(draw(st.sampled_from([0, 1, 2, 19, 2**31, 2**63, 2**64 - 1, 2**70])))
    if wire in (1, 5):
        return tag + draw(st.binary(min_size=8 if wire == 1 else 4, max_size=8 if wire == 1 else 4))
    if wire != 2:
        return tag
    inner = draw(_messages(depth - 1)) if depth else encoded(draw(nasty))
    length = draw(st.sampled_from([len(inner)] * 6 + [0, len(inner) + 1, 2**31, 2**63 - 1]))
    return tag + varint(length) + inner


@st.composite
def _messages(draw: st.DrawFn, depth: int = 3) -> bytes:
    if depth and draw(st.booleans()):
        return b"".join(draw(_field(depth)) for _ in range(draw(st.integers(0, 5))))
    return encoded(draw(st.one_of(nasty, st.sampled_from(["x", "model/layer/MatMul", "^x", "x:1", *_OPERATORS]))))


@st.composite
def _node(draw: st.DrawFn, names: list[str]) -> bytes:
    name = draw(st.one_of(st.sampled_from(names), nasty))
    inputs = [draw(st.one_of(st.sampled_from(names), nasty)) for _ in range(draw(st.integers(0, 3)))]
    inputs *= draw(st.sampled_from([1, 1, 1, 1, 500]))
    parts = [field(1, encoded(name)), field(2, encoded(draw(st.one_of(st.sampled_from(_OPERATORS), nasty))))]
    parts += [field(3, encoded(one)) for one in inputs]
    for _ in range(draw(st.integers(0, 3))):
        key = draw(st.sampled_from(["T", "dtype", "shape", "value", "f", "body", "_XlaCompile", "_output_shapes", ""]))
        parts.append(field(5, field(1, encoded(key)) + field(2, draw(_messages(2)))))
    return b"".join(parts)


@st.composite
def graphs(draw: st.DrawFn) -> bytes:
    """A GraphDef."""
    names = [
        draw(st.one_of(st.sampled_from(["a", "b", "loss", "gradients/a_grad", "while/x"]), nasty)) for _ in range(3)
    ]
    data = b"".join(field(1, draw(_node(names))) for _ in range(draw(st.integers(1, 8))))
    if draw(st.integers(0, 5)) == 0:  # a long chain
        count = draw(st.sampled_from([100, 3000]))
        data += b"".join(
            field(1, field(1, b"c%d" % i) + field(2, b"Add") + field(3, b"c%d" % ((i + 1) % count)))
            for i in range(count)
        )
    for _ in range(draw(st.integers(0, 2))):
        signature = field(1, draw(st.sampled_from([b"f", b"g", b"body"]))) + draw(_messages(2))
        data += field(2, field(1, field(1, signature) + field(3, draw(_node(names)))))
    return data + (draw(_field(3)) if draw(st.integers(0, 2)) == 0 else b"")


@st.composite
def _events(draw: st.DrawFn) -> bytes:
    """A file of TensorBoard: records with a length and checksums."""
    records = b""
    for step in range(draw(st.integers(0, 8))):
        number = draw(st.sampled_from([1.0, 0.0, 1e38, float("nan"), float("inf"), -1.0]))
        value = field(1, encoded(draw(st.one_of(st.sampled_from(["loss", "loss_scale", "accuracy"]), nasty))))
        value += varint(2 << 3 | 5) + struct.pack("<f", number)
        event = varint(1 << 3 | 1) + struct.pack("<d", number) + varint(2 << 3) + varint(step)
        event += field(5, field(1, value)) + (draw(_field(2)) if draw(st.booleans()) else b"")
        length = draw(st.sampled_from([len(event)] * 9 + [0, 2**20, 2**40, 2**64 - 1]))
        records += (struct.pack("<QI", length, 0) + event + b"\0\0\0\0") * draw(st.sampled_from([1, 1, 1, 300]))
    return records


@st.composite
def protobufs(draw: st.DrawFn) -> dict[str, bytes]:
    """A graph of TensorFlow in any wrapping, an event file, or a graph as text."""
    form = draw(st.integers(0, 6))
    if form == 0:
        name, data = "events.out.tfevents.1700000000.host", draw(_events())
    elif form == 1:
        return draw(mutants(".pbtxt"))
    elif form == 2:
        name, data = "frozen.pb", b"".join(draw(_field(4)) for _ in range(draw(st.integers(1, 6))))
    else:
        name, data = "frozen.pb", draw(graphs())
        if form == 3:
            name, data = "model.ckpt-1.meta", field(1, draw(_messages(2))) + field(2, data) + draw(_field(3))
        elif form == 4:
            name, data = (
                "saved/saved_model.pb",
                varint(1 << 3) + varint(1) + field(2, field(2, data)) + draw(_field(2)),
            )
    if draw(st.integers(0, 3)) == 0:
        data = draw(mutated(data, data))
    return {name: data}


_ONNX_OPERATORS = (
    "Conv",
    "Resize",
    "TopK",
    "MaxPool",
    "If",
    "Loop",
    "Constant",
    "Cast",
    "NonZero",
    "ReduceL2",
    "Gelu",
    "X",
)
_VALUES = ("x", "y", "a", "b", "", "c:1")


@st.composite
def _tensor(draw: st.DrawFn) -> bytes:
    sizes = draw(st.lists(st.sampled_from([0, 1, 3, 2**31, 2**64 - 1]), max_size=4))
    parts = [varint(1 << 3) + varint(one) for one in sizes] * draw(st.sampled_from([1, 1, 1, 200]))
    parts += [varint(2 << 3) + varint(draw(st.sampled_from([0, 1, 7, 11, 16, 99, 2**40])))]
    parts += [field(draw(st.sampled_from([4, 5, 7, 9, 10, 11])), draw(st.binary(max_size=40)))]
    return b"".join(parts) + field(8, encoded(draw(st.one_of(st.sampled_from(_VALUES), nasty))))


@st.composite
def _attribute(draw: st.DrawFn, depth: int) -> bytes:
    name = draw(
        st.sampled_from(["mode", "to", "axes", "kernel_shape", "body", "then_branch", "antialias", "value", ""])
    )
    kinds = [
        field(4, encoded(draw(nasty))),
        varint(3 << 3) + varint(draw(st.sampled_from([0, 1, 11, 2**64 - 1]))),
        field(8, draw(st.binary(max_size=12))),
        field(5, draw(_tensor())),
        draw(_field(2)),
    ]
    if depth:
        kinds.append(field(draw(st.sampled_from([6, 11])), draw(_onnx_graph(depth - 1))))
    return field(1, encoded(name)) + draw(st.sampled_from(kinds))


@st.composite
def _onnx_graph(draw: st.DrawFn, depth: int = 2) -> bytes:
    parts = []
    for _ in range(draw(st.integers(0, 4))):
        node = b"".join(field(1, encoded(draw(st.sampled_from(_VALUES)))) for _ in range(draw(st.integers(0, 4))))
        node += b"".join(field(2, encoded(draw(st.sampled_from(_VALUES)))) for _ in range(draw(st.integers(0, 2))))
        node += field(4, encoded(draw(st.one_of(st.sampled_from(_ONNX_OPERATORS), nasty))))
        node += field(3, encoded(draw(st.one_of(st.sampled_from(["n", "n", ""]), nasty))))
        node += b"".join(field(5, draw(_attribute(depth))) for _ in range(draw(st.integers(0, 2))))
        trace = draw(
            st.sampled_from(['  File "train.py", line 1, in f\n', 'File "' * 999, "a(1): b\n" * 99, "(" * 9999])
        )
        node += field(9, field(1, b"pkg.torch.onnx.stack_trace") + field(2, encoded(trace))) + field(6, encoded(trace))
        parts.append(field(1, node))
    parts += [field(5, draw(_tensor())) for _ in range(draw(st.integers(0, 2)))]
    for number in (11, 12, 13):
        shape = b"".join(field(1, draw(_messages(1))) for _ in range(draw(st.integers(0, 3))))
        kind = draw(st.sampled_from([field(1, varint(1 << 3) + varint(1) + field(2, shape)), draw(_field(2))]))
        parts.append(field(number, field(1, encoded(draw(st.sampled_from(_VALUES)))) + field(2, kind)))
    return b"".join(parts)


@st.composite
def onnx_models(draw: st.DrawFn) -> dict[str, bytes]:
    """An ONNX model, whole or damaged, or one in the text format."""
    if draw(st.integers(0, 4)) == 0:
        files = draw(mutants(".textproto"))
        return files
    depth = draw(st.sampled_from([0, 1, 2]))
    graph = draw(_onnx_graph(depth))
    if draw(st.integers(0, 9)) == 0:  # graphs within graphs
        for _ in range(draw(st.sampled_from([20, 400]))):
            graph = field(1, field(4, b"If") + field(5, field(1, b"then_branch") + field(6, graph)))
    domain = field(1, encoded(draw(st.sampled_from(["", "ai.onnx", "com.microsoft", "x::y"]))))
    opset = varint(2 << 3) + varint(draw(st.sampled_from([0, 9, 17, 20, 2**64 - 1])))
    function = field(1, b"X") + field(10, b"local") + field(7, field(4, b"Add"))
    data = varint(1 << 3) + varint(8) + field(2, encoded(draw(nasty))) + field(7, graph)
    data += field(8, domain + opset) + field(25, function) * draw(st.sampled_from([0, 1, 300]))
    if draw(st.integers(0, 3)) == 0:
        data = draw(mutated(data, data))
    return {"model.onnx": data, "train.py": b"import torch\n\n\ndef f(x):\n    return x\n"}


_CODE = (
    "class Net(Module):\n  weight : Tensor\n  def forward(self: __torch__.Net,\n    x: Tensor) -> Tensor:\n"
    "    _0 = torch.add(torch.mul(x, 2), [1, -2.5], alpha=1)\n    return _0\n"
)
_MEMBERS = (
    *("models/model.json", "archive/serialized_exported_program.json", "m/code/__torch__.py", "m/data.pkl", "version"),
    *(
        "m/code/__torch__.py.debug_pkl",
        "m/constants.pkl",
        "archive_format",
        "../../x",
        "/abs.py",
        "m/code/\x1b.py",
        "m/a/",
    ),
    *("xl/worksheets/sheet1.xml", "xl/sharedStrings.xml", "xl/workbook.xml", "[Content_Types].xml"),
)
_NAMES = ("model.pt2", "model.pt", "net.ts", "x.pth", "result_1.xlsx", "m.jit", "model.ptl")
_SHEET = (
    '<?xml version="1.0"?>{0}<worksheet><sheetData><row r="1"><c r="A1" t="s"><v>0</v></c><c r="{1}"><v>{2}</v></c>'
    "</row></sheetData></worksheet>"
)
_ENTITIES = '<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;&a;"><!ENTITY c SYSTEM "file:///etc/passwd">]>'


@st.composite
def _member(draw: st.DrawFn) -> bytes:
    form = draw(st.integers(0, 5))
    if form == 0:
        return encoded(json.dumps(draw(trees())))
    if form == 1:
        return _CODE.replace("x", draw(st.sampled_from(["x", "x" * 9000, "(" * 3000, '"']))).encode()
    if form == 2:
        return b"\x80\x02cos\nsystem\nX\x01\x00\x00\x00x\x85R." + draw(st.binary(max_size=30))
    if form == 3:
        return bytes(draw(st.sampled_from([0, 10, 5_000_000, 90_000_000])))
    if form == 4:
        cells = (
            draw(st.sampled_from(["", _ENTITIES])),
            draw(st.sampled_from(["B1", "ZZZZ9", "A99999999999"])),
            draw(nasty),
        )
        return encoded(_SHEET.format(*cells))
    return encoded(draw(nasty))


@st.composite
def archives(draw: st.DrawFn) -> dict[str, bytes]:
    """A zip archive as PyTorch and spreadsheets use it, or the example of the repository, damaged."""
    if draw(st.integers(0, 2)) == 0:
        return draw(mutants(".pt2"))
    buffer = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(buffer, "w") as archive:
        warnings.simplefilter("ignore")  # a name twice is meant
        for _ in range(draw(st.integers(1, 5))):
            method = draw(st.sampled_from([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED]))
            member = zipfile.ZipInfo(draw(st.sampled_from(_MEMBERS)))
            archive.writestr(member, draw(_member()), compress_type=method, compresslevel=1)
    data = buffer.getvalue()[:1_000_000]
    if draw(st.integers(0, 2)) == 0:
        data = draw(mutated(data, data))
    if draw(st.integers(0, 9)) == 0:
        data = zlib.compress(data, 1)
    return {draw(st.sampled_from(_NAMES)): data}
