"""Finds the lines of a log that contain wanted literals, skipping all others cheaply."""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterable, Iterator
from typing import Protocol

import msgspec

from npulint.core.lazy_regex import lazy_compile
from npulint.runs.read.logs.shapes import LONGEST, Ahead, Part, Shapes, codes_in, search_for
from npulint.runs.read.logs.thinning import EXACT, Thinning

CHUNK = 1 << 20
CAP = 1 << 14
"""Maximum bytes of a line that are processed."""
ENOUGH = 2 << 20
"""Bytes of a line after which the rest of it is not searched, but for the end of a chunk: no program writes such lines,
and a search of them costs a second for each megabyte."""
_AFTER = 1 << 13
_CODE = 6  # bytes of a CANN code
_FEW = 4  # parts of a very long line that are processed after much of the log

_COLOUR = lazy_compile(rb"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07\x1b]{0,200}(?:\x07|\x1b\\)|[@-Z\\^_])")
_SOURCE = lazy_compile(rb"\[rank[0-9]{1,5}\]: ?|\([^()\n]{1,60} pid=[^()\n]{1,40}\) ")
_BOMS = ((codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))


class Readable(Protocol):
    """A byte stream; `read` may return fewer bytes than requested, and none at the end."""

    def read(self, size: int, /) -> bytes | None:
        """At most `size` bytes."""


class LogLine(msgspec.Struct):
    """A line, or one part of a line that a progress bar rewrote: its number, its bytes without colours, the wanted
    literals and codes in it, and the number of similar lines it represents. It ends at offset `end` of `data`."""

    number: int
    text: bytes
    found: set[bytes]
    data: bytes
    end: int
    lines: int = 1

    @property
    def after(self) -> bytes:
        """The beginning of the following text."""
        return self.data[self.end : self.end + _AFTER]


class _Recoded:
    """Converts a UTF-16 stream to UTF-8."""

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
    """A stream whose head was read already."""

    def __init__(self, stream: Readable, head: bytes) -> None:
        self._stream, self._head = stream, head

    def read(self, size: int, /) -> bytes:
        head, self._head = self._head, b""
        return head or self._stream.read(size) or b""


def plain(stream: Readable) -> Readable:
    """The stream without byte order mark; UTF-16, as Windows shells write it, is converted to UTF-8."""
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
    """One pass over a log. `watch` receives each chunk once, up to the end of its last complete line, with the number
    of its first line. Of a log over 64 MB, most lines that differ only in numbers are skipped, except those with a
    changed number after one of the words `levels`, and those with one of the words `always`. Of a longer line than
    `ENOUGH` only the beginning is searched."""

    def __init__(
        self,
        literals: Iterable[bytes],
        watch: Callable[[bytes, int, int], None],
        levels: Iterable[bytes] = (),
        always: Iterable[bytes] = (),
    ) -> None:
        self._literals = tuple(sorted(set(literals)))
        self._shapes = Shapes(self._literals)
        self._search = search_for(self._literals)
        self._watch = watch
        self._thinning = Thinning(levels, always)
        self._passed = 0
        self._of_line = 0  # bytes of the line that the last chunk has left unfinished
        self.lines = 0
        self._ended = True

    def over(self, stream: Readable) -> Iterator[LogLine]:
        """The lines with wanted literals, in order."""
        stream, rest, more = plain(stream), b"", True
        while more:
            read = stream.read(CHUNK)
            more = bool(read)
            data = rest + (read or b"")
            cut = _cut(data) if more else len(data)
            self._watch(data, cut, self.lines + 1)
            yield from self._within(data, self._begin(data, cut), cut)
            self._passed += cut
            if cut:
                self.lines += data.count(b"\n", 0, cut)
                self._ended = data[cut - 1] == 10
            rest = data[cut:]
        self.lines += not self._ended

    def _begin(self, data: bytes, cut: int) -> int:
        """Where the search of a chunk begins: after the rest of a line of which enough was searched."""
        enough = self._of_line >= ENOUGH
        last = max(data.rfind(b"\n", 0, cut), data.rfind(b"\r", 0, cut)) + 1
        self._of_line = cut - last if last else self._of_line + cut
        if not enough:
            return 0
        breaks = (data.find(b"\n", 0, cut) + 1, data.find(b"\r", 0, cut) + 1)
        return min(filter(None, breaks), default=cut)

    def _within(self, data: bytes, begin: int, cut: int) -> Iterator[LogLine]:
        if begin == cut:
            return
        part = Part(data[begin:cut])
        number, counted, thin = self.lines + 1, 0, self._passed >= EXACT
        for place, shape, codes in self._shapes.wanted(part):
            text, lines = part.texts[place], 1
            if thin and len(text) <= LONGEST:
                lines = self._thinning.lines(shape, text, codes)
                if not lines:
                    continue
            start = begin + part.starts[place]
            number += data.count(b"\n", counted, start)
            counted = start
            if len(text) > LONGEST:
                yield from self._windows(data, start, start + len(text), number, _FEW if thin else len(text))
                continue
            hits = {literal for literal in shape.literals if literal in text}
            if codes:
                hits |= codes
            if hits:
                yield LogLine(number, without_colours(text), hits, data, start + len(text), lines)

    def _windows(self, data: bytes, start: int, end: int, number: int, most: int) -> Iterator[LogLine]:
        """The parts of a very long line around wanted literals."""
        ahead = Ahead(self._search, data, end)
        at = start
        while (first := ahead.first(at)) < end and most:
            begin, at = _bounds(first, start, end)
            hits = {literal for literal in self._literals if data.find(literal, first, at + len(literal) - 1) >= 0}
            hits.update(codes_in(data[first : at + _CODE - 1]))
            yield LogLine(number, without_colours(data[begin:at]), hits, data, at)
            most -= 1


def _cut(data: bytes) -> int:
    """The end of the part to process now: after a line, with enough text behind it for explanations."""
    reach = max(len(data) - _AFTER, 0)
    end = data.rfind(b"\n", 0, reach) + 1 or data.rfind(b"\r", 0, reach) + 1
    return end or (reach if len(data) > CAP + _AFTER else 0)


def _bounds(at: int, start: int, end: int) -> tuple[int, int]:
    """The bounds of the part around offset `at` of a very long line."""
    if at - start >= CAP:
        start = at - 200
    high = start + CAP if at < start + CAP - 1024 else at + 1024
    return start, min(high, end)


def without_source(line: bytes) -> bytes:
    """A line without the rank or process prefix of launchers."""
    match = _SOURCE.match(line)
    return line if match is None else line[match.end() :]


def without_colours(line: bytes) -> bytes:
    """A line without the escape sequences of terminals."""
    return _COLOUR.sub(b"", line) if b"\x1b" in line else line


def decoded(line: bytes) -> str:
    """The text of a line: UTF-8, else GB18030; an incomplete last character is dropped."""
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError as error:
        if error.reason == "unexpected end of data" and error.start >= len(line) - 3:
            return line[: error.start].decode("utf-8")
    try:
        return line.decode("gb18030")
    except UnicodeDecodeError:
        return line.decode("utf-8", "replace")
