"""The lines of a log that hold something wanted; all others cost nothing."""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterable, Iterator
from typing import Protocol

import msgspec

from npulint.lazy_regex import lazy_compile
from npulint.read.artifacts.logs.literals import Ahead, Search
from npulint.read.artifacts.logs.shapes import LONGEST, Part, Shapes, codes_in
from npulint.read.artifacts.logs.thinning import EXACT, Thinning

CHUNK = 1 << 20
CAP = 1 << 14
"""The longest line that is looked at, in bytes."""
_AFTER = 1 << 13
_CODE = 6  # bytes of a code of CANN
_FEW = 4  # parts of a very long line that are shown once much of the log was seen

_COLOUR = lazy_compile(rb"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07\x1b]{0,200}(?:\x07|\x1b\\)|[@-Z\\^_])")
_BOMS = ((codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))


class Readable(Protocol):
    """A stream of bytes; `read` may give less than it was asked for, and nothing at the end."""

    def read(self, size: int, /) -> bytes | None:
        """At most `size` bytes."""


class LogLine(msgspec.Struct):
    """One line, or one part of a line that a progress bar rewrote: its number in the file, its bytes without colours,
    the wanted literals and codes that it holds, and for how many lines like it it stands. It ends at `end` of `data`.
    """

    number: int
    text: bytes
    found: set[bytes]
    data: bytes
    end: int
    lines: int = 1

    @property
    def after(self) -> bytes:
        """The start of what follows."""
        return self.data[self.end : self.end + _AFTER]


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
    its first line. Of a log beyond 64 MB most of the lines that say the same with other numbers are passed over, but
    those with another number after one of the words `levels`, and those with one of the words `always`."""

    def __init__(
        self,
        literals: Iterable[bytes],
        watch: Callable[[bytes, int, int], None],
        levels: Iterable[bytes] = (),
        always: Iterable[bytes] = (),
    ) -> None:
        self._literals = tuple(sorted(set(literals)))
        self._shapes = Shapes(self._literals)
        self._search = Search(self._literals)
        self._watch = watch
        self._thinning = Thinning(levels, always)
        self._passed = 0
        self.lines = 0
        self._ended = True

    def over(self, stream: Readable) -> Iterator[LogLine]:
        """The lines that hold something wanted, in their order."""
        stream, rest, more = plain(stream), b"", True
        while more:
            read = stream.read(CHUNK)
            more = bool(read)
            data = rest + (read or b"")
            cut = _cut(data) if more else len(data)
            self._watch(data, cut, self.lines + 1)
            yield from self._within(data, cut)
            self._passed += cut
            if cut:
                self.lines += data.count(b"\n", 0, cut)
                self._ended = data[cut - 1] == 10
            rest = data[cut:]
        self.lines += not self._ended

    def _within(self, data: bytes, cut: int) -> Iterator[LogLine]:
        part = Part(data[:cut])
        number, counted, thin = self.lines + 1, 0, self._passed >= EXACT
        for place, shape, codes in self._shapes.wanted(part):
            text, lines = part.texts[place], 1
            if thin and len(text) <= LONGEST:
                lines = self._thinning.lines(shape, text, codes)
                if not lines:
                    continue
            start = part.starts[place]
            number += data.count(b"\n", counted, start)
            counted = start
            if len(text) > LONGEST:
                yield from self._windows(data, start, start + len(text), number, _FEW if thin else len(text))
                continue
            found = {one for one in shape.literals if one in text}
            if codes:
                found |= codes
            if found:
                yield LogLine(number, _plain(text), found, data, start + len(text), lines)

    def _windows(self, data: bytes, start: int, end: int, number: int, most: int) -> Iterator[LogLine]:
        """The parts of a very long line around what is wanted."""
        ahead = Ahead(self._search, data, end)
        at = start
        while (first := ahead.first(at)) < end and most:
            begin, at = _bounds(first, start, end)
            found = {one for one in self._literals if data.find(one, first, at + len(one) - 1) >= 0}
            found.update(codes_in(data[first : at + _CODE - 1]))
            yield LogLine(number, _plain(data[begin:at]), found, data, at)
            most -= 1


def _cut(data: bytes) -> int:
    """Where the part ends that is looked at now: after a line, with enough behind it to see what belongs to it."""
    reach = max(len(data) - _AFTER, 0)
    found = data.rfind(b"\n", 0, reach) + 1 or data.rfind(b"\r", 0, reach) + 1
    return found or (reach if len(data) > CAP + _AFTER else 0)


def _bounds(at: int, start: int, end: int) -> tuple[int, int]:
    """Where the part around `at` of a very long line begins and ends."""
    if at - start >= CAP:
        start = at - 200
    high = start + CAP if at < start + CAP - 1024 else at + 1024
    return start, min(high, end)


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
