"""The lines of a log that hold something wanted; all others cost nothing."""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterable, Iterator
from typing import Protocol

import msgspec

from npulint.later import regex
from npulint.read.artifacts.logs.literals import Search

CHUNK = 1 << 22
CAP = 1 << 14
"""The longest line that is looked at, in bytes."""
_AFTER = 1 << 13

_COLOUR = regex(rb"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07\x1b]{0,200}(?:\x07|\x1b\\)|[@-Z\\^_])")
_BOMS = ((codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))


class Readable(Protocol):
    """A stream of bytes; `read` may give less than it was asked for, and nothing at the end."""

    def read(self, size: int, /) -> bytes | None:
        """At most `size` bytes."""


class Line(msgspec.Struct):
    """One line, or one part of a line that a progress bar rewrote: its number in the file, its bytes without colours,
    the wanted literals and codes that it holds, and the start of what follows it."""

    number: int
    text: bytes
    found: set[bytes]
    after: bytes


class _Recoded:
    """A stream of UTF-16 as UTF-8."""

    def __init__(self, stream: Readable, encoding: str, head: bytes) -> None:
        self._stream, self._head = stream, head
        self._decode = codecs.getincrementaldecoder(encoding)("replace").decode

    def read(self, size: int, /) -> bytes:
        while True:
            data = self._head or self._stream.read(size) or b""
            self._head = b""
            text = self._decode(data, not data)
            if text or not data:
                return text.encode("utf-8", "replace")


class _Pushed:
    """A stream of which the head was read already."""

    def __init__(self, stream: Readable, head: bytes) -> None:
        self._stream, self._head = stream, head

    def read(self, size: int, /) -> bytes:
        head, self._head = self._head, b""
        return head or self._stream.read(size) or b""


def plain(stream: Readable) -> Readable:
    """The stream without its byte order mark; UTF-16, as Windows shells write it, becomes UTF-8."""
    head = b""
    while len(head) < 3:
        more = stream.read(3 - len(head))
        if not more:
            break
        head += more
    for mark, encoding in _BOMS:
        if head.startswith(mark):
            return _Recoded(stream, encoding, head[len(mark) :])
    return _Pushed(stream, head.removeprefix(codecs.BOM_UTF8))


class Scan:
    """One pass over a log. `watch` is shown each chunk once, up to where its last whole line ends, with the number of
    its first line."""

    def __init__(self, literals: Iterable[bytes], watch: Callable[[bytes, int, int], None]) -> None:
        self._search = Search(literals)
        self._watch = watch
        self.lines = 0
        self._ended = True

    def over(self, stream: Readable) -> Iterator[Line]:
        """The lines that hold something wanted, in their order."""
        stream, rest, more = plain(stream), b"", True
        while more:
            read = stream.read(CHUNK)
            more = bool(read)
            data = rest + (read or b"")
            cut = _cut(data) if more else len(data)
            self._watch(data, cut, self.lines + 1)
            yield from self._within(data, cut)
            if cut:
                self.lines += data.count(b"\n", 0, cut)
                self._ended = data[cut - 1] == 10
            rest = data[cut:]
        self.lines += not self._ended

    def _within(self, data: bytes, cut: int) -> Iterator[Line]:
        counted, number, end, line = 0, self.lines + 1, -1, None
        for begin, literal in self._search.hits(data, cut):
            if begin >= end or line is None:
                if line is not None:
                    yield line
                start, end = _bounds(data, begin)
                number += data.count(b"\n", counted, start)
                counted = start
                line = Line(number, _plain(data[start:end]), set(), data[end : end + _AFTER])
            line.found.add(literal)
        if line is not None:
            yield line


def _cut(data: bytes) -> int:
    """Where the part ends that is looked at now: after a line, with enough behind it to see what belongs to it."""
    reach = max(len(data) - _AFTER, 0)
    found = data.rfind(b"\n", 0, reach) + 1 or data.rfind(b"\r", 0, reach) + 1
    return found or (reach if len(data) > CAP + _AFTER else 0)


def _bounds(data: bytes, at: int) -> tuple[int, int]:
    """Where the line around `at` begins and ends; of a very long one a part around it."""
    low = max(0, at - CAP)
    start = max(data.rfind(b"\n", low, at), data.rfind(b"\r", low, at)) + 1
    if start == 0 and low:
        start = at - 200
    high = start + CAP if at < start + CAP - 1024 else at + 1024
    line_end = data.find(b"\n", at, high)
    high = line_end if line_end >= 0 else min(high, len(data))
    part_end = data.find(b"\r", at, high)
    return start, part_end if part_end >= 0 else high


def _plain(line: bytes) -> bytes:
    return _COLOUR.sub(b"", line) if b"\x1b" in line else line


def decoded(line: bytes) -> str:
    """The text of a line: UTF-8, else GB18030; a character cut in two at its end is left out."""
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError as error:
        if error.reason == "unexpected end of data" and error.start >= len(line) - 3:
            return line[: error.start].decode("utf-8")
    try:
        return line.decode("gb18030")
    except UnicodeDecodeError:
        return line.decode("utf-8", "replace")
