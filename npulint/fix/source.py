"""A file as bytes and text: text edits become byte edits, and all other bytes stay unchanged."""

from __future__ import annotations

import codecs
import re
from collections import Counter
from collections.abc import Sequence
from functools import cached_property
from itertools import accumulate, pairwise

from npulint.core.lazy_regex import lazy_compile
from npulint.facts.model import Span
from npulint.fix.model import FixRefused, Text
from npulint.judge.findings import Edit
from npulint.read.source import DecodedSource, decode

_LINE = lazy_compile(r"([^\r\n]*)(\r\n|\r|\n|\Z)", re.DOTALL)
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
    (codecs.BOM_UTF8, "utf-8"),
)
_SHIFTING = ("iso2022", "hz")  # stateful encodings


class SourceDocument:
    """The bytes of a file and their text. Raises `FixRefused` (``encoding``) if they cannot be decoded."""

    def __init__(self, path: str, kind: str, data: bytes, new: bool = False) -> None:
        source = decode(data, path, kind == "python")
        if not isinstance(source, DecodedSource):
            raise FixRefused("encoding")
        self.data = data
        self.text = Text(path, kind, source.text, new)
        mark, self._encoding = next(
            ((mark, name) for mark, name in _MARKS if data.startswith(mark)), (b"", source.encoding)
        )
        self._start = len(mark)
        self._raw = data[self._start :].decode(self._encoding)
        lines = [(match[1], match[2]) for match in _LINE.finditer(self._raw)]
        if len(lines) > 1 and lines[-2][1] == "":  # the pattern matches once more behind a last line without an end
            lines.pop()
        self._lines = [line for line, _ in lines]
        self._ends = [end for _, end in lines]
        self._starts = [0, *accumulate(len(line) + len(end) for line, end in lines)]

    @cached_property
    def _line_starts(self) -> list[int]:
        return [0, *accumulate(len(line) + 1 for line in self._lines)]

    def stretch(self, span: Span) -> tuple[int, int]:
        """The offsets of a span, clamped to the text."""
        starts = self._line_starts
        begin, close = (min(line, len(self._lines)) - 1 for line in (span.line, span.end_line))
        return starts[begin] + span.column - 1, starts[close] + span.end_column - 1

    @property
    def newline(self) -> str:
        """The most frequent line end; the first one if equally frequent."""
        counted = Counter(end for end in self._ends if end)
        return counted.most_common(1)[0][0] if counted else "\n"

    def edited(self, edits: Sequence[Edit]) -> bytes:
        """The bytes after non-overlapping edits; insertions at one place keep their order. Inserted lines get the line
        end of the line before. Replacing a line end by itself makes it LF. Raises `FixRefused`: ``encoding`` if the new
        text cannot be encoded, ``place`` if an edit is outside of the text or overlaps another."""
        placed = sorted(((*self._range(edit.span), edit) for edit in edits), key=lambda placed_edit: placed_edit[:2])
        if any(behind[0] < before[1] for before, behind in pairwise(placed)):
            raise FixRefused("place")
        if any(edit.text and not _writable(edit.text) for edit in edits):
            raise FixRefused("encoding")
        offsets = self._offsets(sorted({at for start, end, _ in placed for at in (start, end)}))
        pieces, done = [], 0
        for start, end, edit in placed:
            pieces += [self.data[done : offsets[start]], self._encoded(self._ended(edit))]
            done = offsets[end]
        data = b"".join([*pieces, self.data[done:]])
        again = decode(data, self.text.path, self.text.kind == "python")
        if not isinstance(again, DecodedSource) or again.text != edited_text(self.text.text, edits):
            raise FixRefused("encoding")
        return data

    def _range(self, span: Span) -> tuple[int, int]:
        start, end = self._offset(span.line, span.column), self._offset(span.end_line, span.end_column)
        if end < start:
            raise FixRefused("place")
        return start, end

    def _offset(self, line: int, column: int) -> int:
        """The offset of a line and column in the text with its original line ends."""
        if not 0 < line <= len(self._lines) or not 0 < column <= len(self._lines[line - 1]) + 1:
            raise FixRefused("place")
        return self._starts[line - 1] + column - 1

    def _offsets(self, places: Sequence[int]) -> dict[int, int]:
        """The byte offsets of ascending text offsets."""
        if self._encoding.startswith(_SHIFTING):
            raise FixRefused("encoding")
        offsets: dict[int, int] = {}
        done, at = 0, self._start
        for place in places:
            at += len(self._raw[done:place].encode(self._encoding))
            offsets[place], done = at, place
        length = at + len(self._raw[done:].encode(self._encoding))
        return offsets if length == len(self.data) else self._counted(frozenset(places))

    def _counted(self, places: frozenset[int]) -> dict[int, int]:
        """As `_offsets`, for encodings where characters have several byte sequences."""
        decoder = codecs.getincrementaldecoder(self._encoding)()
        counted, done = {0: self._start}, 0
        for at in range(self._start, len(self.data)):
            done += len(decoder.decode(self.data[at : at + 1]))
            if done in places:
                counted.setdefault(done, at + 1)
        return counted

    def _encoded(self, text: str) -> bytes:
        try:
            return text.encode(self._encoding)
        except UnicodeEncodeError as error:
            raise FixRefused("encoding") from error

    def _ended(self, edit: Edit) -> str:
        """The text of an edit with the line ends of the file."""
        if "\n" not in edit.text:
            return edit.text
        span = edit.span
        if edit.text == "\n" and span == Span(span.line, len(self._lines[span.line - 1]) + 1, span.line + 1, 1):
            return "\n"
        inserted = (span.line, span.column) == (span.end_line, span.end_column)
        begin = span.line - 1 if inserted and span.column == 1 else span.line
        last = max(begin, span.end_line - 1)
        first, *rest = edit.text.split("\n")
        return first + "".join(self._end(min(begin + place, last)) + line for place, line in enumerate(rest))

    def _end(self, line: int) -> str:
        """The line end of a line, or of the previous one for a last line without."""
        near = (self._ends[place - 1] for place in (line, line - 1) if 0 < place <= len(self._ends))
        return next((end for end in near if end), self.newline)


def edited_text(text: str, edits: Sequence[Edit]) -> str:
    """A text after non-overlapping edits."""
    starts = [0, *accumulate(len(line) + 1 for line in text.split("\n"))]
    places = sorted(
        (
            (starts[e.span.line - 1] + e.span.column - 1, starts[e.span.end_line - 1] + e.span.end_column - 1, e.text)
            for e in edits
        ),
        key=lambda placed_edit: placed_edit[:2],
    )
    pieces, done = [], 0
    for start, end, new in places:
        pieces += [text[done:start], new]
        done = end
    return "".join([*pieces, text[done:]])


def _writable(text: str) -> bool:
    """Whether a text may be inserted: without NUL, lone surrogates, and line ends other than LF."""
    return "\0" not in text and "\r" not in text and not any("\ud800" <= char <= "\udfff" for char in text)
