"""Source locations of TorchScript code, from the debug tables in the archive. Only pickled tuples, lists, numbers and
texts are decoded; nothing is looked up by name, nothing is called."""

from __future__ import annotations

from bisect import bisect_right
from typing import Any

import msgspec

from npulint.core.lazy_regex import lazy_compile
from npulint.facts.graph import NodeFrame
from npulint.graphs.read.torch.frames import kept

_MARK = object()
_NAME = object()
_NEWLINE = lazy_compile(rb"\n")
_DEPTH = 100
_LINES = 2**31
_SOURCE = 32 * 1024 * 1024  # characters
_FORMAT = "FORMAT_WITH_STRING_TABLE"
_TRACED = lazy_compile(r"(?P<path>.{1,1024})\((?P<line>\d{1,9})\): (?P<function>\S[^\n]{0,255})")


class Ranges:
    """The source locations of one file of code, by byte offset."""

    def __init__(self, data: bytes) -> None:
        """An invalid table counts as empty."""
        self._starts: list[int] = []
        self._places: list[Any] = []
        self._texts: list[str] = []
        self._frames: dict[Any, tuple[NodeFrame, ...]] = {}
        self._sources: dict[tuple[int | str, ...], _Source] = {}
        self._room = _SOURCE
        try:
            self._fill(plain(data))
        except (ValueError, TypeError, IndexError, KeyError, AttributeError, MemoryError):
            self._starts, self._places = [], []

    def _fill(self, table: Any) -> None:
        if isinstance(table, tuple) and len(table) == 3 and table[0] == _FORMAT:
            _, texts, table = table
            self._texts = [text if isinstance(text, str) else "" for text in texts]
        last = -1
        for entry in table:
            start, place = entry[0], entry[1]
            if not isinstance(start, int) or start < last:
                raise ValueError("order")
            last = start
            self._starts.append(start)
            self._places.append(place)

    def frames(self, offset: int) -> tuple[NodeFrame, ...]:
        """The source locations of the code at a byte offset, innermost last."""
        at = bisect_right(self._starts, offset) - 1
        if at < 0:
            return ()
        try:
            return self._of(self._places[at])
        except (ValueError, TypeError, IndexError, KeyError, AttributeError):
            return ()

    def _of(self, place: Any) -> tuple[NodeFrame, ...]:
        (source, path, first), begin, _ = place
        parts = (source,) if isinstance(source, str) else tuple(source)
        if not all(type(part) in (int, str) for part in (*parts, first, begin)) or not 0 <= first < _LINES:
            raise ValueError("place")
        key = (parts, path if isinstance(path, int | str) else "", first, begin)
        if key not in self._frames:
            self._frames[key] = kept(self._made(*key))
        return self._frames[key]

    def _made(self, parts: tuple[int | str, ...], path: int | str, first: int, begin: int) -> list[NodeFrame]:
        source = self._sources.get(parts)
        if source is None:
            source = self._sources[parts] = self._source(parts)
        if source.calls or not source.function:
            return source.calls
        name = self._texts[path] if isinstance(path, int) else path
        return (
            [NodeFrame(name[:1024], first + bisect_right(source.newlines, begin - 1), source.function)] if name else []
        )

    def _source(self, parts: tuple[int | str, ...]) -> _Source:
        texts = [part if isinstance(part, str) else self._texts[part] for part in parts]
        self._room -= sum(map(len, texts))
        if self._room < 0:
            raise ValueError("too much source")
        text = "".join(texts)
        data = text.encode("utf-8", "replace")
        newlines = [match.end() - 1 for match in _NEWLINE.finditer(data)]
        return _Source(_calls(text), newlines, _function(text) if text else "")


class _Source(msgspec.Struct):
    """A source: the call stack in its place, or its line ends and its function."""

    calls: list[NodeFrame]
    newlines: list[int]
    function: str


def _calls(text: str) -> list[NodeFrame]:
    """The call stack of a traced operator, which replaces its source; the innermost comes first."""
    node_frames = []
    for line in text.split("\n"):
        if line:
            match = _TRACED.fullmatch(line)
            if match is None:
                return []
            node_frames.append(NodeFrame(match["path"][:1024], int(match["line"]), match["function"]))
    return node_frames[::-1]


_DEF = lazy_compile(r"[ \t]*(?:@[^\n]*\n[ \t]*)*def[ \t]+(\w+)")


def _function(text: str) -> str:
    match = _DEF.match(text)
    return match[1][:256] if match else "?"


def plain(data: bytes) -> Any:
    """The value of a pickle of plain tuples, lists, numbers and texts. Raises ValueError for any other."""
    return _Machine(data).run()


class _Machine:
    """A pickle machine. A class is only a token, and calling it returns its first argument, because lists of numbers
    are written as a call."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0
        self.stack: list[Any] = []
        self.memo: dict[int, Any] = {}
        self.marks = 0

    def run(self) -> Any:
        stack, data = self.stack, self.data
        while self.at < len(data):
            code = data[self.at]
            self.at += 1
            if code == 0x2E:  # STOP
                return stack.pop()
            if code == 0x4B:  # and the next three: by far the most frequent
                stack.append(self.number(1))
            elif code == 0x4D:
                stack.append(self.number(2))
            elif code == 0x68:  # BINGET
                stack.append(self.memo[self.number(1)])
            elif code == 0x87:  # TUPLE3
                stack[-3:] = [tuple(stack[-3:])]
            else:
                self.other(code)
        raise ValueError("no end")

    def number(self, size: int, signed: bool = False) -> int:
        """Read a number."""
        start, self.at = self.at, self.at + size
        if self.at > len(self.data):
            raise ValueError("cut off")
        return int.from_bytes(self.data[start : self.at], "little", signed=signed)

    def text(self, size: int) -> str:
        """Read a text."""
        start, self.at = self.at, self.at + size
        if self.at > len(self.data):
            raise ValueError("cut off")
        return self.data[start : self.at].decode("utf-8", "replace")

    def other(self, code: int) -> None:
        """Execute one of the rarer opcodes."""
        stack = self.stack
        if code in (0x71, 0x72):  # BINPUT, LONG_BINPUT
            self.memo[self.number(1 if code == 0x71 else 4)] = stack[-1]
        elif code == 0x6A:  # LONG_BINGET
            stack.append(self.memo[self.number(4)])
        elif code == 0x4A:  # BININT
            stack.append(self.number(4, signed=True))
        elif code == 0x8A:  # LONG1
            stack.append(self.number(self.number(1), signed=True))
        elif code in (0x58, 0x8C):  # BINUNICODE, SHORT_BINUNICODE
            stack.append(self.text(self.number(4 if code == 0x58 else 1)))
        elif code == 0x80:  # PROTO
            self.number(1)
        elif code == 0x28:
            self.marks += 1
            if self.marks > _DEPTH:
                raise ValueError("nested too deeply")
            stack.append(_MARK)
        elif code in (0x85, 0x86):  # TUPLE1, TUPLE2
            size = code - 0x84
            stack[-size:] = [tuple(stack[-size:])]
        else:
            self.collections(code)

    def collections(self, code: int) -> None:
        """Execute an opcode that creates a tuple or list, or calls a constructor."""
        stack = self.stack
        if code == 0x74:  # TUPLE
            items = self.items()
            stack.append(tuple(items))
        elif code == 0x65:  # APPENDS
            items = self.items()
            stack[-1].extend(items)
        elif code == 0x61:  # APPEND
            item = stack.pop()
            stack[-1].append(item)
        elif code in (0x5D, 0x29, 0x4E):  # EMPTY_LIST, EMPTY_TUPLE, NONE
            stack.append([] if code == 0x5D else () if code == 0x29 else None)
        elif code == 0x63:  # GLOBAL
            for _ in range(2):
                self.at = self.data.index(b"\n", self.at) + 1
            stack.append(_NAME)
        elif code == 0x52:  # REDUCE
            arguments, called = stack.pop(), stack.pop()
            if called is not _NAME:
                raise ValueError("call")
            stack.append(arguments[0])
        else:
            raise ValueError(f"code {code}")

    def items(self) -> list[Any]:
        """Pop the items above the last mark, and the mark."""
        stack = self.stack
        at = len(stack) - 1
        while stack[at] is not _MARK:
            at -= 1
            if at < 0:
                raise ValueError("mark")
        self.marks -= 1
        items = stack[at + 1 :]
        del stack[at:]
        return items
