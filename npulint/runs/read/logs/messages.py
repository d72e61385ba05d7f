"""The known messages, compiled for searching bytes."""

from __future__ import annotations

import re
from functools import cache

import msgspec

from npulint.data.error_patterns import Pattern, patterns

_CODE_LENGTH = 6
_INTERNAL = b"9999"  # ends codes of internal errors, which say nothing of a family
_SHAPE = re.compile(rb"[EW][0-9ABEFHIJKLZ][0-9]{4}")


class Message(msgspec.Struct, frozen=True):
    """A known message and its pattern for a line in bytes."""

    pattern: Pattern
    search: re.Pattern[bytes]


@cache
def families() -> tuple[tuple[bytes, tuple[Message, ...]], ...]:
    """The messages of codes that begin alike (``E6*``) by that beginning, the longest first."""
    found = [(one.removesuffix(b"*"), messages) for one, messages in _by_text().items() if one.endswith(b"*")]
    return tuple(sorted(found, key=lambda one: (-len(one[0]), one[0])))


def of_found(found: set[bytes]) -> dict[str, Message]:
    """The messages by id to test in a line with these literals and codes. A code that no message names itself belongs
    to its family."""
    table = by_literal()
    messages = {message.pattern.id: message for literal in found for message in table.get(literal, ())}
    for code in (one for one in found if is_code(one) and one not in table and not one.endswith(_INTERNAL)):
        for begin, family in families():
            if code.startswith(begin):
                messages.update((message.pattern.id, message) for message in family)
                break
    return messages


@cache
def by_literal() -> dict[bytes, tuple[Message, ...]]:
    """The messages to test when a literal (or code) was found; series are read elsewhere."""
    return {literal: messages for literal, messages in _by_text().items() if not literal.endswith(b"*")}


@cache
def _by_text() -> dict[bytes, tuple[Message, ...]]:
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
