"""A conversation of an editor with the language server, in this process and over its real transport."""

from __future__ import annotations

import io
import json
import logging
import re
import threading
import time
from pathlib import Path

from scripts.fuzzing.example import OUT, Example, Failure, traced

_SECONDS = 8.0
"""After which a request counts as unanswered."""

NONSENSE = 1000
"""The first number of a request that may stay unanswered."""


def converse(example: Example, project: Path) -> Failure | None:
    """Say all messages of an example, wait for the answers before the last two, and judge what was said."""
    from npulint.hosts.server.features import register
    from npulint.hosts.server.server import Server
    from npulint.judge.catalogue.load import load_catalogue
    from npulint.report.rule_pages import pages_of

    said = [one.replace(OUT.encode(), str(project.parent).encode()) for one in example.messages]
    said = [_measured(before, after) for before, after in zip(example.messages, said, strict=True)]
    heard = _Heard()
    told = _Told(said, heard)
    logged = _Logged()
    load_catalogue(
        whole=False
    )  # from now on it is in the cache: reading all checks is no part of the wait for an answer
    logging.getLogger().addHandler(logged)
    server = Server({"LC_ALL": "C"}, pages_of)
    register(server)
    try:
        server.start_io(told, heard)  # type: ignore[arg-type]  # a reader of lines and bytes is all it takes
    finally:
        logging.getLogger().removeHandler(logged)
    return _judged(told, heard, logged)


def _measured(before: bytes, after: bytes) -> bytes:
    """A message whose length is right again, if it was before."""
    head, _, body = before.partition(b"\r\n\r\n")
    if head != b"Content-Length: %d" % len(body):
        return after
    changed = after.partition(b"\r\n\r\n")[2]
    return b"Content-Length: %d\r\n\r\n" % len(changed) + changed


def _judged(told: _Told, heard: _Heard, logged: _Logged) -> Failure | None:
    for text in (
        *logged.texts,
        *(json.dumps(one).replace("\\n", "\n").replace('\\"', '"') for one in heard.messages()),
    ):
        if "Traceback (most recent call last)" in text and re.search(r'/npulint/[^"]+", line', text):
            return traced(text)
    if told.unanswered:
        names = " ".join(dict.fromkeys(told.unanswered.values()))
        return Failure("unanswered", names, f"{told.unanswered}\n{heard.getvalue()[-5000:]!r}")
    return None


class _Heard(io.BytesIO):
    """What the server writes."""

    def close(self) -> None:
        """Stay readable."""

    def messages(self) -> list[dict[str, object]]:
        """All messages so far, as far as they are complete."""
        found, data = [], self.getvalue()
        while data:
            head, _, rest = data.partition(b"\r\n\r\n")
            length = int(head.split(b"\r\n")[0].removeprefix(b"Content-Length: "))
            if len(rest) < length:
                break
            found.append(json.loads(rest[:length]))
            data = rest[length:]
        return found


class _Told:
    """What the server reads: message by message, the last two only when all requests were answered."""

    def __init__(self, said: list[bytes], heard: _Heard) -> None:
        self._waiting = list(said)
        self._heard = heard
        self._data = io.BytesIO()
        self._lock = threading.Lock()
        self._requests = dict(request for request in map(_request, said) if request is not None)
        self.unanswered: dict[int, str] = {}

    def readline(self) -> bytes:
        """The next line of a header."""
        with self._lock:
            line = self._data.readline()
            if not line and self._waiting:
                if len(self._waiting) == 2:
                    self._await_answers()
                self._data = io.BytesIO(self._waiting.pop(0))
                line = self._data.readline()
            return line

    def read(self, size: int = -1) -> bytes:
        """The next part of a body."""
        with self._lock:
            return self._data.read(size)

    def close(self) -> None:
        """There is nothing to close."""

    def _await_answers(self) -> None:
        end = time.monotonic() + _SECONDS
        while time.monotonic() < end:
            answered = [one.get("id") for one in self._heard.messages() if "method" not in one]
            self.unanswered = {number: name for number, name in self._requests.items() if number not in answered}
            if not self.unanswered:
                return
            time.sleep(0.005)


def _request(said: bytes) -> tuple[int, str] | None:
    """The number and the method of a request that is one."""
    try:
        body = json.loads(said.partition(b"\r\n\r\n")[2])
    except (ValueError, RecursionError):
        return None
    if not isinstance(body, dict) or body.get("jsonrpc") != "2.0" or "method" not in body:
        return None
    number, method = body.get("id"), body["method"]
    return (number, str(method)) if type(number) is int and number < NONSENSE else None


class _Logged(logging.Handler):
    """What is logged as an error, with its traceback."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.texts: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep a record."""
        self.texts.append(self.format(record))
