"""Parses the protobuf text format message by message in one pass, skipping fields that are not requested."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from npulint.core.lazy_regex import lazy_compile
from npulint.graphs.read.errors import GraphError
from npulint.graphs.read.protobuf.wire import PARTS, Tally

Entries = list[tuple[str, Any]]
"""Fields of a message in their order. A value is a word (identifier or number), a tuple with the raw parts of a quoted
string, or what became of a message."""

_DEPTH = 100  # nested messages, the limit of protocol buffers
_FIELDS = 4096  # of a message within a value
_RAW = 64 * 1024  # bytes of a string as written
_STEPS = 4096  # fields between two counts
_SAME = 400  # bytes of a message that is cached
_REMEMBERED = 50_000
_INDENT = 40  # bytes of indentation that are skipped

_FIELD = lazy_compile(
    rb"[\s,;]*(?:([A-Za-z_]\w*)\s*(?::?\s*([{<])|:[ \t]*(?:([-+.\w]+)(?=[\s,;}>#])|"
    rb"\"([^\"\\\n]*)\"(?!\s*[\"'#])))|([}>]))"
)
_BLANK = lazy_compile(rb"[\s,;]*")
_SPACE = lazy_compile(rb"\s*")
_NAME = lazy_compile(rb"[A-Za-z_]\w*|\[[\w./% -]+\]")
_WORD = lazy_compile(rb"([-+]?)\s*([.\w][-+.\w]*)")
_MARK = b"\xef\xbb\xbf"  # UTF-8 byte order mark
_CLOSERS = {b"{": b"}", b"<": b">"}


class Frame(msgspec.Struct, gc=False):
    """An open message, or a list in brackets. `closer` is the closing bracket; `line` is set for nodes, `start` is the
    offset of its field."""

    role: str
    name: str
    closer: bytes
    line: int
    start: int
    entries: Entries


class Markup:
    """Parses one text.

    `roles` maps the role of a message and a field name to the role of the message in the field, `rest` those in its
    other fields; a message without a role is skipped with its contents. `made` maps a role to a function that converts
    the fields of a message and its line to a value; it may raise `ValueError`. Lines are only set for the role
    ``node``. Messages of the role `same` are often identical and cached."""

    def __init__(
        self,
        data: bytes,
        roles: Mapping[tuple[str, str], str],
        rest: Mapping[str, str],
        made: Mapping[str, Callable[[Entries, int], Any]],
        tally: Tally,
        same: str = "",
    ) -> None:
        self._data = data
        self._roles = roles
        self._rest = rest
        self._made = made
        self._tally = tally
        self._stack = [Frame("root", "", b"", 1, 0, [])]
        self._same = same
        self._seen: dict[bytes, tuple[str, Any]] = {}
        self._counted = (0, 1)  # an offset and its line

    def read(self) -> Entries:
        """The fields of the whole text. Raises `GraphError` with the malformed line."""
        stack, data, match = self._stack, self._data, _FIELD.match
        at = len(_MARK) if data.startswith(_MARK) else 0
        steps = 0
        while at >= 0:
            steps += 1
            if steps == _STEPS:
                self._tally.step(steps)
                steps = 0
            field = match(data, at) if stack[-1].closer != b"]" else None
            if field is None:
                at = self._slowly(at)
                continue
            at = field.end()
            name, opener, word, text, closer = field.groups()
            if opener is not None:
                at = self._open(name.decode(), opener, field.start(1), at)
            elif closer is not None:
                self._close(closer, field.start(5))
            elif not stack[-1].role:
                pass
            elif word is not None:
                self._scalar(name.decode(), word.decode(), len(word), at)
            else:
                self._scalar(name.decode(), (text[:_RAW],), len(text), at)
        return stack[0].entries

    def _slowly(self, at: int) -> int:
        """Parse one field with comments, a string of several parts, or a list; returns its end, or -1 at the end of the
        text."""
        at = self._blank(at)
        frame = self._stack[-1]
        here = self._data[at : at + 1]
        if not here:
            if len(self._stack) > 1:
                raise self._wrong(at, "ends too early")
            return -1
        if here == frame.closer:
            self._close(here, at)
            return at + 1
        if frame.closer == b"]":
            return self._value(frame.name, at, at)
        name = _NAME.match(self._data, at)
        if name is None:
            raise self._wrong(at, "no field")
        at = self._blank(name.end())
        if self._data[at : at + 1] == b":":
            at = self._blank(at + 1)
        elif self._data[at : at + 1] not in (*_CLOSERS, b"["):
            raise self._wrong(at, "no value")
        return self._value(name.group().decode(), at, name.start())

    def _value(self, name: str, at: int, start: int) -> int:
        here = self._data[at : at + 1]
        if here in _CLOSERS:
            return self._open(name, here, start, at + 1)
        if here == b"[" and self._stack[-1].closer != b"]":
            above = self._stack[-1]
            self._stack.append(Frame(above.role, name, b"]", above.line, start, above.entries))
            return at + 1
        if here in (b'"', b"'"):
            parts, at = self._strings(at)
            if self._stack[-1].role:
                self._scalar(name, parts, sum(map(len, parts)), start)
            return at
        word = _WORD.match(self._data, at)
        if word is None:
            raise self._wrong(at, "no value")
        if self._stack[-1].role:
            self._scalar(name, (word.group(1) + word.group(2)).decode(), len(word.group()), start)
        return word.end()

    def _strings(self, at: int) -> tuple[tuple[bytes, ...], int]:
        """The raw parts of a quoted string, up to the limit, and its end."""
        parts: list[bytes] = []
        kept = 0
        while (quote := self._data[at : at + 1]) in (b'"', b"'"):
            end = self._end(at + 1, quote)
            if kept < _RAW:
                parts.append(self._data[at + 1 : min(end, at + 1 + _RAW - kept)])
                kept += 1 + len(parts[-1])
            self._tally.step()
            at = self._blank(end + 1, b"")
        return tuple(parts), at

    def _end(self, start: int, quote: bytes) -> int:
        """The offset of the closing quote of a string that begins at `start`."""
        data, at = self._data, start
        while (at := data.find(quote, at)) >= 0:
            self._tally.step()
            before = at
            while before > start and data[before - 1] == 0x5C:
                before -= 1
            if (at - before) % 2 == 0:
                if data.find(b"\n", start, at) >= 0:
                    break
                return at
            at += 1
        raise self._wrong(start, "a string without end")

    def _blank(self, at: int, separators: bytes = b",;") -> int:
        """The next offset that is not blank, in a comment, or a separator."""
        space = _BLANK if separators else _SPACE
        while True:
            match = space.match(self._data, at)
            at = at if match is None else match.end()
            if self._data[at : at + 1] != b"#":
                return at
            at = self._data.find(b"\n", at)
            self._tally.step()
            if at < 0:
                return len(self._data)

    def _scalar(self, name: str, value: Any, size: int, at: int) -> None:
        if (self._stack[-1].role, name) in self._roles:
            raise self._wrong(at, f"{name} is no message")
        self._add(name, value, size)

    def _add(self, name: str, value: Any, size: int = 0) -> None:
        """Add a field, and count it with the bytes of its texts."""
        frame = self._stack[-1]
        entries = frame.entries
        if frame.role != "value":
            self._tally.text(size)
            if len(entries) >= PARTS:
                raise GraphError("graph-too-large", f"more than {PARTS:,} fields of one message")
        elif len(entries) >= _FIELDS or (name.endswith("_val") and entries and entries[-1][0] == name):
            return  # tensor contents, or a long list
        entries.append((name, value))

    def _open(self, name: str, opener: bytes, start: int, at: int) -> int:
        """Open a message; returns where to continue, which is after it if it was cached."""
        if len(self._stack) > _DEPTH:
            raise self._wrong(start, "nested too deeply")
        above = self._stack[-1]
        role = self._roles.get((above.role, name), self._rest.get(above.role, "")) if above.role else ""
        if role and role == self._same and (end := self._known(start)):
            return end
        line = self._line(start) if role == "node" else above.line
        self._stack.append(Frame(role, name, _CLOSERS[opener], line, start, []))
        return at

    def _close(self, closer: bytes, at: int) -> None:
        frame = self._stack[-1]
        if frame.closer != closer:
            raise self._wrong(at, f"{closer.decode()} ends nothing")
        self._stack.pop()
        if frame.role and closer != b"]":
            make = self._made.get(frame.role)
            try:
                value = frame.entries if make is None else make(frame.entries, frame.line)
                self._add(frame.name, value)
                if frame.role == self._same and at - frame.start < _SAME and len(self._seen) < _REMEMBERED:
                    self._seen[self._data[frame.start : at + 1]] = (frame.name, value)
            except ValueError as error:
                raise self._wrong(at, "no such value") from error

    def _known(self, start: int) -> int:
        """Use the cached value of a message whose text begins at `start`; returns its end, 0 if there is none. The
        cached text includes the closing bracket, so equal text means an equal message."""
        data = self._data
        begin = data.rfind(b"\n", max(0, start - _INDENT), start)
        end = data.find(data[begin:start] + b"}", start, start + _SAME) if begin >= 0 else -1
        if end < 0:
            return 0
        end += start - begin + 1
        cached = self._seen.get(data[start:end])
        if cached is None:
            return 0
        self._add(*cached)
        return end

    def _line(self, place: int) -> int:
        """The line of an offset after the previous one."""
        counted, line = self._counted
        line += self._data.count(b"\n", counted, place)
        self._counted = (place, line)
        return line

    def _wrong(self, place: int, what: str) -> GraphError:
        return GraphError("graph-damaged", f"line {self._data.count(bytes((10,)), 0, place) + 1}: {what}")
