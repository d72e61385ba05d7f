"""Parses scalars of the protobuf text format. All functions raise `ValueError` for invalid input."""

from __future__ import annotations

import re
from typing import Any

from npulint.core.lazy_regex import lazy_compile

_ESCAPE = lazy_compile(
    rb"\\(?:([0-7]{1,3})|[xX]([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(.?))", re.DOTALL
)
_PLAIN = {b"n": b"\n", b"t": b"\t", b"r": b"\r", b"a": b"\a", b"b": b"\b", b"f": b"\f", b"v": b"\v"}
_TRUE = frozenset(("true", "True", "t", "1"))
_FALSE = frozenset(("false", "False", "f", "0"))
_LARGEST = 1 << 64
_DIGITS = 40  # of an integer; longer ones are invalid and slow


def text(value: Any, most: int | None = None) -> str:
    """A string from its raw parts, truncated to `most` characters."""
    if type(value) is tuple and len(value) == 1 and b"\\" not in value[0]:
        return str(value[0], "utf-8", "replace")[:most]
    return content(value, None if most is None else 4 * most).decode("utf-8", "replace")[:most]


def content(value: Any, most: int | None = None) -> bytes:
    """The bytes of a string from its raw parts; of a long one at least the first `most`."""
    if type(value) is not tuple:
        raise ValueError(value)
    return b"".join(unescaped(raw if most is None else raw[: 10 * most]) for raw in value)


def unescaped(raw: bytes) -> bytes:
    """The bytes of a quoted string, from the text between its quotes."""
    return _ESCAPE.sub(_byte, raw) if b"\\" in raw else raw


def _byte(match: re.Match[bytes]) -> bytes:
    octal, sixteen, short, long, other = match.groups()
    if octal is not None:
        return bytes((int(octal, 8) & 0xFF,))
    if sixteen is not None:
        return bytes((int(sixteen, 16),))
    if short is not None or long is not None:
        point = int(short or long, 16)
        return chr(point if point < 0x110000 else 0xFFFD).encode("utf-8", "replace")
    return _PLAIN.get(other, other)


def integer(word: str) -> int:
    """``12``, ``-1``, ``0x1F``, ``017``: at most 64 bits."""
    digits = word[1:] if word.startswith("-") else word
    if len(digits) > _DIGITS or not digits[:1].isdigit():
        raise ValueError(word)
    octal = len(digits) > 1 and digits[0] == "0" and digits.isdigit()
    value = int(digits, 8 if octal else 0)
    if value >= _LARGEST or (value > _LARGEST >> 1 and digits is not word):
        raise ValueError(word)
    return -value if digits is not word else value


def real(word: str) -> float:
    """``1.5``, ``-2e-3``, ``1f``, ``inf``, ``-nan``."""
    text = word.lower()
    try:
        return float(text)
    except ValueError:
        if text.endswith("f") and text[:-1].strip("+-")[:1] in set("0123456789."):
            return float(text[:-1])
        return float(integer(word))


def truth(word: str) -> bool:
    """``true``, ``false``, and their other spellings."""
    if word in _TRUE or word in _FALSE:
        return word in _TRUE
    raise ValueError(word)
