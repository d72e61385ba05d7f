"""Protocol buffers written by hand, for graphs that no framework would write."""

from __future__ import annotations


def varint(value: int) -> bytes:
    """A number of variable length."""
    written = b""
    while value > 127:
        written += bytes((value & 127 | 128,))
        value >>= 7
    return written + bytes((value,))


def field(number: int, value: bytes | str | int) -> bytes:
    """A field with a text, a message or a number."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value % (1 << 64))
    data = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(data)) + data


def attr(key: str, value: bytes) -> bytes:
    """An attribute of a node."""
    return field(5, field(1, key) + field(2, value))


def node(name: str, op: str, *inputs: str, attrs: bytes = b"") -> bytes:
    """A node of a GraphDef."""
    return field(1, field(1, name) + field(2, op) + b"".join(field(3, one) for one in inputs) + attrs)
