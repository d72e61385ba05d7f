"""Reads messages of the base protocol: a header with the length, then JSON. Trusts nothing in them."""

from __future__ import annotations

import asyncio
import json
import re
from concurrent.futures import Executor
from typing import Any, BinaryIO, NoReturn

from npulint.core.lazy_regex import lazy_compile

PARSE_ERROR, INVALID_REQUEST = -32700, -32600

MAX_BYTES = 128 << 20
"""Maximum size of a message; editors open no larger files."""

_CHUNK = 1 << 20  # bytes read at once, so that memory is only used for what arrives
_LINE = 8192  # bytes of a line in a header
_LINES = 32  # of a header
_NUMBER = lazy_compile(rb"[0-9]{1,12}")


class BrokenHeaderError(Exception):
    """A header from which the length of the message is not clear, so that nobody knows where the next one begins."""


class MalformedMessageError(Exception):
    """A message that is no request, notification or response. `code` is that of the answer, `id` that of the request;
    `answered` is false for messages that JSON-RPC does not answer."""

    def __init__(self, code: int, text: str, id: str | int | None = None, answered: bool = True) -> None:
        super().__init__(text)
        self.code = code
        self.id = id
        self.answered = answered


class MessageReader:
    """Reads the bodies of messages from a blocking stream, in threads of `executor`."""

    def __init__(self, stream: BinaryIO, executor: Executor) -> None:
        self._stream = stream
        self._executor = executor

    async def body(self) -> bytes | None:
        """The body of the next message; None at the end of the stream. Raises `BrokenHeaderError`."""
        header: list[bytes] = []
        while True:
            line = await self._call(self._stream.readline, _LINE)
            if not line:
                return None
            if not line.endswith(b"\n") or len(header) == _LINES:
                raise BrokenHeaderError(f"too long: {_text(header[0] if header else line)}")
            if line.strip():
                header.append(line.strip())
            elif header:
                return await self._bytes(length_of(header))

    async def _bytes(self, count: int) -> bytes | None:
        parts: list[bytes] = []
        while count:
            part = await self._call(self._stream.read, min(count, _CHUNK))
            if not part:
                return None
            parts.append(part)
            count -= len(part)
        return b"".join(parts)

    async def _call(self, read: Any, count: int) -> bytes:
        data: bytes = await asyncio.get_running_loop().run_in_executor(self._executor, read, count)
        return data


def length_of(header: list[bytes]) -> int:
    """The length in the lines of a header. Raises `BrokenHeaderError`."""
    fields = [re.split(rb"[ \t]*:[ \t]*", line, maxsplit=1) for line in header]
    found = {field[1] for field in fields if len(field) == 2 and field[0].lower() == b"content-length"}
    if len(found) != 1:
        raise BrokenHeaderError("several different lengths" if found else f"no Content-Length: {_text(header[0])}")
    word = found.pop()
    if not _NUMBER.fullmatch(word):
        raise BrokenHeaderError(f"Content-Length: {_text(word)}")
    length = int(word)
    if length > MAX_BYTES:
        raise BrokenHeaderError(f"Content-Length: {length} > {MAX_BYTES}")
    return length


def message_in(body: bytes) -> dict[str, Any]:
    """The JSON-RPC message in a body. Raises `MalformedMessageError`."""
    try:
        message = json.loads(body.decode("utf-8"), parse_constant=_refused)
    except (ValueError, RecursionError) as error:
        raise MalformedMessageError(PARSE_ERROR, f"no JSON: {error}") from error
    if not isinstance(message, dict):
        raise MalformedMessageError(INVALID_REQUEST, "not an object")
    known = message.get("id")
    name = known if isinstance(known, str | int) and not isinstance(known, bool) else None
    if message.get("jsonrpc") != "2.0":
        raise MalformedMessageError(INVALID_REQUEST, 'no "jsonrpc": "2.0"', name)
    if "id" in message and name is None and not (known is None and "error" in message):
        raise MalformedMessageError(INVALID_REQUEST, "the id is neither a string nor an integer")
    if not isinstance(message.get("method", ""), str):
        raise MalformedMessageError(INVALID_REQUEST, "the method is not a string", name)
    if "method" not in message and not ("id" in message and ("result" in message or "error" in message)):
        raise MalformedMessageError(INVALID_REQUEST, "neither a request nor a response", name)
    return message


def _text(data: bytes) -> str:
    """The beginning of a part of a header, for messages."""
    return data[:40].decode("ascii", "backslashreplace")


def _refused(word: str) -> NoReturn:
    raise ValueError(f"{word} is not JSON")
