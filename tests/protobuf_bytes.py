"""Protocol buffers written by hand, for graphs that no framework would write."""

from __future__ import annotations

from scripts.fuzzing.wire import field, varint

__all__ = ["attr", "field", "node", "varint"]


def attr(key: str, value: bytes) -> bytes:
    """An attribute of a node."""
    return field(5, field(1, key) + field(2, value))


def node(name: str, op: str, *inputs: str, attrs: bytes = b"") -> bytes:
    """A node of a GraphDef."""
    return field(1, field(1, name) + field(2, op) + b"".join(field(3, one) for one in inputs) + attrs)
