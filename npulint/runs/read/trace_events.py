"""Reads Chrome traces event by event in constant memory: files may have gigabytes."""

from __future__ import annotations

import codecs
import json
from collections.abc import Iterator
from typing import Any, BinaryIO

from npulint.runs.read.rows import Seen

_CHUNK = 1 << 20
_EVENT = 4 << 20
_START = '"traceEvents"'
_BETWEEN = " \t\r\n,\ufeff"
_decoder = json.JSONDecoder()


class Reader:
    """Reads at most `limit` bytes of a trace. `line` is that of the last event; `damaged` or `cut` (by the limit) say
    that the rest is missing."""

    def __init__(self, stream: BinaryIO, limit: int) -> None:
        self._stream = stream
        self._left = limit
        self._decode = codecs.getincrementaldecoder("utf-8-sig")("replace").decode
        self._text = ""
        self._at = 0
        self.cut = False
        self.line = self._next = 1
        self.damaged = False

    def enter(self) -> bool:
        """Skip to the first event; False if there is no list of events."""
        first = True
        while self._more():
            head = self._text.lstrip(_BETWEEN)
            if first and head.startswith("["):
                return self._from(len(self._text) - len(head) + 1)
            first = first and not head
            at = self._text.find(_START)
            bracket = self._text.find("[", at) if at >= 0 else -1
            if bracket >= 0:
                return self._from(bracket + 1)
            if head and at < 0:  # another key has an array first
                self._next += self._text.count("\n", 0, -len(_START))
                self._text = self._text[-len(_START) :] if len(self._text) > len(_START) else self._text
        return False

    def _from(self, at: int) -> bool:
        self._next += self._text.count("\n", 0, at)
        self._at = at
        return True

    def next(self) -> Any:
        """The next event, or None."""
        while True:
            self._skip()
            if self._at < len(self._text):
                if self._text[self._at] == "]":
                    return None
                try:
                    event, end = _decoder.raw_decode(self._text, self._at)
                except (ValueError, RecursionError):
                    if len(self._text) - self._at > _EVENT:
                        self.damaged = True
                        return None
                else:
                    self.line = self._next
                    self._next += self._text.count("\n", self._at, end)
                    self._at = end
                    return event if event is not None else 0
            if not self._more():
                self.damaged = not self.cut
                return None

    def _skip(self) -> None:
        text, at = self._text, self._at
        while at < len(text) and text[at] in _BETWEEN:
            self._next += text[at] == "\n"
            at += 1
        self._at = at

    def _more(self) -> bool:
        """Read more; False at the end of the file or at the limit."""
        if self._left <= 0:
            self.cut = True
            return False
        data = self._stream.read(min(_CHUNK, self._left))
        self._left -= len(data)
        if not data:
            return False
        self._text = self._text[self._at :] + self._decode(data)
        self._at = 0
        return True


def events(reader: Reader, seen: Seen) -> Iterator[tuple[int, dict[str, Any]]]:
    """(line, event) of a trace (a list, or an object with `traceEvents`). Invalid JSON ends the reading and counts as
    malformed; so does an event over 4 MB."""
    if not reader.enter():
        seen.reject(1)
        return
    while True:
        event = reader.next()
        if event is None:
            if reader.damaged:
                seen.reject(reader.line)
            return
        if isinstance(event, dict):
            seen.rows += 1
            yield reader.line, event
        else:
            seen.reject(reader.line)
