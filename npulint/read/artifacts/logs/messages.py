"""The known messages, compiled for searching bytes."""

from __future__ import annotations

import re
from functools import cache

import msgspec

from npulint.data.error_patterns import Pattern, patterns

_CODE_LENGTH = 6
_SHAPE = re.compile(rb"[EW][0-9ABEFHIJKLZ][0-9]{4}")


class Message(msgspec.Struct, frozen=True):
    """A known message and its pattern for a line in bytes."""

    pattern: Pattern
    search: re.Pattern[bytes]


@cache
def by_literal() -> dict[bytes, tuple[Message, ...]]:
    """The messages to test when a literal (or code) was found; series are read elsewhere."""
    found: dict[bytes, list[Message]] = {}
    for pattern in patterns().values():
        if pattern.kind != "series":
            message = Message(pattern, re.compile(pattern.regex.encode()))
            for literal in pattern.literals:
                found.setdefault(literal.encode(), []).append(message)
    return {literal: tuple(messages) for literal, messages in found.items()}


@cache
def literals() -> tuple[bytes, ...]:
    """The literals of lines to process; CANN codes are always included."""
    return tuple(one for one in by_literal() if not is_code(one))


def is_code(literal: bytes) -> bool:
    """Whether the bytes are a CANN code."""
    return len(literal) == _CODE_LENGTH and _SHAPE.fullmatch(literal) is not None
