"""What the server does with messages that are not what the protocol says: it answers, logs one line and goes on, or
ends with a clear message."""

from __future__ import annotations

import asyncio
import io
import json
import os
import random
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from npulint.hosts.server import serving
from npulint.hosts.server.serving import BrokenHeaderError, MalformedMessageError, MessageReader, length_of, message_in
from tests.test_server_trouble import answers, message

ROOT = Path(__file__).parent.parent
SECONDS = 30


def framed(body: bytes) -> bytes:
    return b"Content-Length: %d\r\n\r\n" % len(body) + body


class Conversation:
    """A server process that has heard an initialize request, then some bytes; its input stays open, as an editor's."""

    def __init__(self, folder: Path, data: bytes) -> None:
        environ = {**os.environ, "NPULINT_CACHE_DIR": str(folder / "cache"), "PYTHONPATH": str(ROOT), "LC_ALL": "C"}
        process = subprocess.Popen(
            [sys.executable, "-m", "npulint", "server"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=folder, env=environ,
        )  # fmt: skip
        assert process.stdin is not None and process.stdout is not None and process.stderr is not None
        hello: dict[str, Any] = {"processId": None, "rootUri": None, "capabilities": {}}
        with process, ThreadPoolExecutor(2) as pool:
            out, err = pool.submit(process.stdout.read), pool.submit(process.stderr.read)
            try:
                process.stdin.write(message(id=1, method="initialize", params=hello) + data)
                process.stdin.flush()
                self.code = process.wait(SECONDS)
            finally:
                process.kill()
            said, self.stderr = answers(out.result()), err.result().decode()
        self.log = [one["params"]["message"] for one in said if one.get("method") == "window/logMessage"]
        self.answers = [one for one in said if "method" not in one and one.get("id") != 1]

    @property
    def errors(self) -> list[tuple[Any, int]]:
        """Id and code of each error that was answered."""
        return [(one.get("id"), one["error"]["code"]) for one in self.answers if "error" in one]


END = message(id=9, method="shutdown") + message(method="exit")
PARSE, REQUEST, PARAMS = -32700, -32600, -32602
MALFORMED: dict[str, tuple[bytes, list[tuple[Any, int]]]] = {
    "broken JSON": (b"{broken", [(None, PARSE)]),
    "nothing": (b"", [(None, PARSE)]),
    "not UTF-8": (b'"\xff\xfe"', [(None, PARSE)]),
    "nested too deeply": (b"[" * 100_000, [(None, PARSE)]),
    "a huge number": (b'{"id": %s}' % (b"9" * 10_000), [(None, PARSE)]),
    "no number": (b'{"jsonrpc": "2.0", "id": 5, "method": "shutdown", "params": NaN}', [(None, PARSE)]),
    "a list": (b'[{"jsonrpc": "2.0", "id": 5, "method": "shutdown"}]', [(None, REQUEST)]),
    "null": (b"null", [(None, REQUEST)]),
    "an empty object": (b"{}", [(None, REQUEST)]),
    "another version": (b'{"jsonrpc": "1.0", "id": 5, "method": "shutdown"}', [(5, REQUEST)]),
    "only an id": (b'{"jsonrpc": "2.0", "id": 5}', [(5, REQUEST)]),
    "an object as id": (b'{"jsonrpc": "2.0", "id": {"a": 1}, "method": "shutdown"}', [(None, REQUEST)]),
    "a flag as id": (b'{"jsonrpc": "2.0", "id": true, "method": "shutdown"}', [(None, REQUEST)]),
    "a number as method": (b'{"jsonrpc": "2.0", "id": 5, "method": 7}', [(5, REQUEST)]),
    "wrong parameters": (
        b'{"jsonrpc": "2.0", "id": 5, "method": "textDocument/hover", "params": {"textDocument": 3}}',
        [(5, PARAMS)],
    ),
    "wrong parameters of a notification": (
        b'{"jsonrpc": "2.0", "method": "textDocument/didOpen", "params": {"a\\u001b[31m": 1}}',
        [],
    ),
    "a cancellation of nothing": (b'{"jsonrpc": "2.0", "method": "$/cancelRequest"}', []),
}


@pytest.mark.slow
def test_malformed_messages_are_answered_and_logged_on_one_line_each(tmp_path: Path) -> None:
    said = Conversation(tmp_path, b"".join(framed(body) for body, _ in MALFORMED.values()) + END)
    assert said.errors == [error for _, errors in MALFORMED.values() for error in errors]
    assert len(said.log) == len(MALFORMED)
    assert all(line.startswith("malformed message: ") and len(line) < 400 for line in said.log)
    assert all(line.isprintable() for line in said.log)
    assert said.answers[-1] == {"jsonrpc": "2.0", "id": 9, "result": None}
    assert (said.code, said.stderr) == (0, "")


@pytest.mark.slow
@pytest.mark.parametrize(
    "head",
    [
        pytest.param(b"Content-Length: -1", id="negative"),
        pytest.param(b"Content-Length: abc", id="no number"),
        pytest.param(b"Content-Length: ", id="empty"),
        pytest.param(b"Content-Length: 99999999999", id="huge"),
        pytest.param(b"Content-Length: " + b"9" * 5000, id="more digits than Python converts"),
        pytest.param(b"Content-Type: x", id="missing"),
        pytest.param(b"Content-Length: 2\r\nContent-Length: 3", id="two"),
        pytest.param(b"\x1b[31m" + b"x" * 10_000, id="too long"),
    ],
)
def test_a_header_without_a_usable_length_ends_the_server(tmp_path: Path, head: bytes) -> None:
    said = Conversation(tmp_path, head + b"\r\n\r\n{}" + message(id=3, method="shutdown"))
    assert said.code == 2
    assert said.errors == [(None, PARSE)]
    (line,) = said.stderr.splitlines()
    assert "the header of a message is malformed" in line and line.isprintable()


@pytest.mark.slow
@pytest.mark.parametrize("data", [b"Content-Length: 9000\r\n\r\n{", b"Content-Le", b""])
def test_an_end_in_the_middle_of_a_message_ends_the_server(tmp_path: Path, data: bytes) -> None:
    environ = {**os.environ, "NPULINT_CACHE_DIR": str(tmp_path / "cache"), "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-m", "npulint", "server"],
        input=data, capture_output=True, timeout=SECONDS, check=False, cwd=tmp_path, env=environ,
    )  # fmt: skip
    assert done.returncode in (1, 2)
    assert b"Traceback" not in done.stderr


def read_all(stream: io.BytesIO) -> list[bytes]:
    """The bodies of all messages in a stream."""

    async def bodies() -> list[bytes]:
        found = []
        with ThreadPoolExecutor(1) as pool:
            reader = MessageReader(stream, pool)
            while (body := await reader.body()) is not None:
                found.append(body)
        return found

    return asyncio.run(bodies())


def test_headers_may_be_spelled_as_in_other_protocols() -> None:
    heads = [
        b"content-length:2",
        b"CONTENT-LENGTH :  2 ",
        b"Content-Type: x\r\nContent-Length: 2",
        b"Content-Length: 2\r\nContent-Length: 2",
    ]
    text = b"\r\n" + b"".join(head + b"\r\n\r\n{}\r\n" for head in heads) + b"Content-Length: 1\n\n7"
    assert read_all(io.BytesIO(text)) == [b"{}"] * len(heads) + [b"7"]


def test_memory_is_used_only_for_what_arrives() -> None:
    asked: list[int] = []

    class Stream(io.BytesIO):
        def read(self, size: int | None = -1, /) -> bytes:
            asked.append(size or 0)
            return super().read(size)

    assert read_all(Stream(b"Content-Length: %d\r\n\r\n{" % serving.MAX_BYTES)) == []
    assert asked and max(asked) <= 1 << 20
    large = b"x" * (3 << 20)
    assert read_all(Stream(framed(large))) == [large]


@pytest.mark.parametrize("word", [b"", b"+3", b"0x3", b"3.0", b"\xb2", b"3 3"])
def test_only_plain_digits_are_a_length(word: bytes) -> None:
    with pytest.raises(BrokenHeaderError):
        length_of([b"Content-Length: " + word])


def test_any_change_of_a_message_is_understood_or_refused() -> None:
    chance = random.Random(7)
    whole = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"a": [1, None, "x"]}}).encode()
    codes = []
    for _ in range(3000):
        data = bytearray(whole)
        for _ in range(chance.randrange(1, 4)):
            data[chance.randrange(len(data))] = chance.randrange(256)
        try:
            codes.append(0 if message_in(bytes(data))["jsonrpc"] == "2.0" else 1)
        except MalformedMessageError as error:
            codes.append(error.code)
    assert set(codes) == {0, PARSE, REQUEST}
