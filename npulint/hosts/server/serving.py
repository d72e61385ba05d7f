"""Runs the server on standard input and output."""

from __future__ import annotations

import asyncio
import gc
import json
import logging
import os
import re
import sys
from collections.abc import Mapping
from concurrent.futures import Executor
from typing import Any, BinaryIO, NoReturn

from cattrs import transform_error
from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcException
from pygls.io_ import StdoutWriter

from npulint.core.errors import NpulintError
from npulint.core.lazy_regex import lazy_compile
from npulint.core.texts import say
from npulint.hosts.server.features import register
from npulint.hosts.server.server import Pages, Server
from npulint.report.terminal import escape_control_chars

# Reads messages of the base protocol: a header with the length, then JSON. Trusts nothing in them.

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
    lengths = {field[1] for field in fields if len(field) == 2 and field[0].lower() == b"content-length"}
    if len(lengths) != 1:
        raise BrokenHeaderError("several different lengths" if lengths else f"no Content-Length: {_text(header[0])}")
    word = lengths.pop()
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
    message_id = message.get("id")
    name = message_id if isinstance(message_id, str | int) and not isinstance(message_id, bool) else None
    if message.get("jsonrpc") != "2.0":
        raise MalformedMessageError(INVALID_REQUEST, 'no "jsonrpc": "2.0"', name)
    if "id" in message and name is None and not (message_id is None and "error" in message):
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


_MOST = 300  # characters of the description of a message


def serve(environ: Mapping[str, str], pages: Pages) -> int:
    """Serve until the client disconnects; returns 0 after a regular shutdown, else 1. Raises `NpulintError` when the
    client sends a header that does not tell where the next message begins."""
    out = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # prints must not corrupt the message stream
    gc.enable()
    logging.getLogger("pygls.protocol.json_rpc").addFilter(_is_no_traceback_of_input)
    server = Server(environ, pages)
    register(server)
    server.protocol.set_writer(StdoutWriter(out))
    try:
        asyncio.run(_converse(server, sys.stdin.buffer))
    except (KeyboardInterrupt, SystemExit, BrokenPipeError):
        pass
    except BrokenHeaderError as error:
        text = say(server.lang, "server.header", text=escape_control_chars(str(error)))
        _answer(server, None, PARSE_ERROR, text)
        raise NpulintError(text) from error
    finally:
        server.shutdown()  # type: ignore[no-untyped-call]  # of pygls
    return 0 if server.protocol.ended_well else 1


async def _converse(server: Server, stream: BinaryIO) -> None:
    """Handle messages until the stream ends. Raises `BrokenHeaderError`, and `SystemExit` when the client asks to."""
    reader = MessageReader(stream, server.thread_pool)
    while (body := await reader.body()) is not None:
        try:
            message = _structured(server, message_in(body))
        except MalformedMessageError as error:
            _refuse(server, error)
            continue
        try:
            server.protocol.handle_message(message)
        except Exception as error:  # a bug in one message must not end the server
            server.report_server_error(error, JsonRpcException)


def _structured(server: Server, message: dict[str, Any]) -> Any:
    """The message with its parameters as objects. Raises `MalformedMessageError` for those of another shape."""
    protocol = server.protocol
    try:
        return protocol.structure_message(message)
    except JsonRpcException as error:
        detail = _detail(error.__cause__ or error)
        if "method" not in message:
            protocol.give_up(message["id"], error)
            raise MalformedMessageError(INVALID_REQUEST, detail, answered=False) from error
        code = error.code if error.code == lsp.ErrorCodes.InvalidParams else INVALID_REQUEST
        text = f"{message['method']}: {detail}"
        raise MalformedMessageError(code, text, message.get("id"), "id" in message) from error


def _detail(error: BaseException) -> str:
    try:
        return "; ".join(transform_error(error, path="params"))
    except Exception:  # it knows errors of cattrs only
        return f"{type(error).__name__}: {error}"


def _refuse(server: Server, error: MalformedMessageError) -> None:
    """Log a malformed message on one line, and answer it if it may have been a request."""
    text = escape_control_chars(str(error))
    text = say(server.lang, "server.malformed", text=text if len(text) <= _MOST else text[:_MOST] + "…")
    server.log(lsp.MessageType.Error, text)
    if error.answered:
        _answer(server, error.id, error.code, text)


def _answer(server: Server, id: str | int | None, code: int, text: str) -> None:
    """Send an error response; its id is null if that of the request is not known."""
    server.protocol.send({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": text}})


def _is_no_traceback_of_input(record: logging.LogRecord) -> bool:
    """Whether a record of pygls is about something else than a malformed message, which has its own line."""
    return not str(record.msg).startswith("Unable to deserialize message")
