"""Runs the server on standard input and output."""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import sys
from collections.abc import Mapping
from typing import Any, BinaryIO

from cattrs import transform_error
from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcException
from pygls.io_ import StdoutWriter

from npulint.core.errors import NpulintError
from npulint.core.texts import say
from npulint.hosts.server.features import register
from npulint.hosts.server.messages import (
    INVALID_REQUEST,
    PARSE_ERROR,
    BrokenHeaderError,
    MalformedMessageError,
    MessageReader,
    message_in,
)
from npulint.hosts.server.server import Pages, Server
from npulint.report.terminal import escape_control_chars

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
