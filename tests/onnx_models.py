"""ONNX models written by hand, with the field numbers of onnx.proto."""

from __future__ import annotations

from tests.protobuf_bytes import field

FLOAT, INT64, STRING, DOUBLE = 1, 7, 8, 11
IMAGE = (1, 3, 8, 8)
TRACE = "pkg.torch.onnx.stack_trace"


def integer(name: str, value: int) -> bytes:
    """An attribute with a number."""
    return field(5, field(1, name) + field(3, value))


def word(name: str, value: str) -> bytes:
    """An attribute with a text."""
    return field(5, field(1, name) + field(4, value))


def integers(name: str, *values: int) -> bytes:
    """An attribute with a list of numbers, not packed."""
    return field(5, field(1, name) + b"".join(field(8, one) for one in values))


def inner(name: str, graph: bytes) -> bytes:
    """An attribute with a graph."""
    return field(5, field(1, name) + field(6, graph))


def trace(text: str) -> bytes:
    """The stack trace that the exporter of PyTorch records."""
    return field(9, field(1, TRACE) + field(2, text))


def node(op: str, inputs: str, outputs: str, *more: bytes, name: str = "", domain: str = "") -> bytes:
    """A node of a graph; `inputs` and `outputs` are names, separated by spaces (`-` for one that is left out)."""
    names = [
        b"".join(field(n, "" if one == "-" else one) for one in text.split()) for n, text in ((1, inputs), (2, outputs))
    ]
    own = (field(3, name) if name else b"") + field(4, op) + (field(7, domain) if domain else b"")
    return field(1, b"".join(names) + own + b"".join(more))


def value(number: int, name: str, kind: int, *shape: int | str) -> bytes:
    """An input (11), an output (12) or the type of a value (13)."""
    sizes = b"".join(field(1, field(1, one) if isinstance(one, int) else field(2, one)) for one in shape)
    return field(number, field(1, name) + field(2, field(1, field(1, kind) + field(2, sizes))))


def weight(name: str, kind: int, *shape: int, content: bytes = b"") -> bytes:
    """An initializer."""
    data = field(9, content) if content else b""
    return field(5, b"".join(field(1, one) for one in shape) + field(2, kind) + field(8, name) + data)


def graph(*parts: bytes) -> bytes:
    """A graph with an input x and an output y of images, unless the parts have inputs."""
    ends = value(11, "x", FLOAT, *IMAGE) + value(12, "y", FLOAT, *IMAGE)
    return b"".join(parts) + (b"" if any(part[:1] == b"\x5a" for part in parts) else ends)


def model(*parts: bytes, opset: int = 17, domains: tuple[str, ...] = (), functions: bytes = b"") -> bytes:
    """A model with the graph of these parts."""
    opsets = field(8, field(2, opset)) + b"".join(field(8, field(1, one) + field(2, 1)) for one in domains)
    return field(1, 8) + field(2, "pytorch") + field(3, "2.13.0") + field(7, graph(*parts)) + opsets + functions
