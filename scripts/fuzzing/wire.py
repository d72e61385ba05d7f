"""The wire format of Protocol Buffers, written by hand: for messages that no library would write."""

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
