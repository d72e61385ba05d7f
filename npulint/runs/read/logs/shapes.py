"""Groups log lines by shape: a line with its numbers replaced.

A log repeats few sentences with different numbers. Lines of the same shape contain the same literals, so most lines
need only one table lookup."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from heapq import merge
from itertools import accumulate, count
from operator import add
from typing import Any

from npulint.core.lazy_regex import lazy_compile

# Searches a chunk of a log for many literals and all CANN codes.

CODE = rb"[0-9ABEFHIJKLZ][0-9]{4}"
"""The characters after the E or W of a CANN code."""
_COMMON = frozenset(b"abcdefghilmnoprstu ")
_SHARED = 8
_CODED = 6  # bytes of a code

Hit = tuple[int, bytes]


class Search:
    """Finds CANN codes and literals.

    One regular expression finds those that begin with a rare byte, because it tries all alternatives wherever one may
    begin. Those that begin with a common letter are searched separately by their first bytes, which is faster."""

    def __init__(self, literals: Iterable[bytes]) -> None:
        ordered = sorted(set(literals))
        self._search = _rare([literal for literal in ordered if literal[0] not in _COMMON]).search
        self._longest = max([_CODED, *map(len, ordered)])
        self._heads: dict[bytes, list[bytes]] = {}
        for literal in ordered:
            if literal[0] in _COMMON:
                self._heads.setdefault(literal[:_SHARED], []).append(literal)
        self._also = _beginnings(ordered)

    @property
    def finders(self) -> list[Callable[[bytes, int, int], int]]:
        """Functions (data, start, end), each returning the first offset of some of the literals, or `end`."""
        return [self._first_rare, *(partial(_first_of, head, tuple(some)) for head, some in self._heads.items())]

    def _first_rare(self, data: bytes, start: int, end: int) -> int:
        match = self._search(data, start, end + self._longest)
        return end if match is None else min(match.start(), end)

    def hits(self, data: bytes, end: int) -> Iterator[Hit]:
        """(offset, literal) of everything that begins before `end`, in order."""
        sought = sorted(self._sought(data, end))
        rare = self._rare_hits(data, end)
        return merge(rare, sought) if sought else rare

    def _rare_hits(self, data: bytes, end: int) -> Iterator[Hit]:
        search, also = self._search, self._also
        match = search(data)
        while match is not None and match.start() < end:
            at, what = match.start(), match[0]
            for literal in also.get(what, (what,)):
                yield at, literal
            match = search(data, at + 1)

    def _sought(self, data: bytes, end: int) -> Iterator[Hit]:
        for head, literals in self._heads.items():
            at = data.find(head)
            while 0 <= at < end:
                for literal in literals:
                    if data.startswith(literal, at):
                        yield at, literal
                at = data.find(head, at + 1)


@lru_cache(maxsize=8)  # the literals of all logs of a run are the same
def search_for(literals: tuple[bytes, ...]) -> Search:
    """The search for these literals."""
    return Search(literals)


def _beginnings(literals: Sequence[bytes]) -> dict[bytes, tuple[bytes, ...]]:
    """For each literal those that it begins with, itself among them, the shortest first."""
    distinct, lengths = frozenset(literals), sorted({len(literal) for literal in literals})
    return {
        literal: tuple(literal[:n] for n in lengths if n <= len(literal) and literal[:n] in distinct)
        for literal in literals
    }


def _first_of(head: bytes, literals: tuple[bytes, ...], data: bytes, start: int, end: int) -> int:
    stop = end + len(head) - 1  # the rest of the data belongs to other lines
    at = data.find(head, start, stop)
    while at >= 0 and not data.startswith(literals, at):
        at = data.find(head, at + 1, stop)
    return at if at >= 0 else end


class Ahead:
    """The next match of a search for increasing offsets."""

    def __init__(self, search: Search, data: bytes, end: int) -> None:
        self._data, self._end = data, end
        self._next = [(-1, find) for find in search.finders]

    def first(self, at: int) -> int:
        """The offset of the first match from `at` on; the end of the data if there is none."""
        data, end = self._data, self._end
        self._next = [(place if place >= at else find(data, at, end), find) for place, find in self._next]
        return min(place for place, _ in self._next)


def _rare(literals: list[bytes]) -> re.Pattern[bytes]:
    """A pattern in which literals share common prefixes, so that alternatives begin with different bytes and all other
    bytes are skipped without backtracking. The longest literal at an offset is found."""
    tree: dict[int, Any] = {}
    for literal in literals:
        node = tree
        for byte in literal:
            node = node.setdefault(byte, {})
        node[-1] = True
    parts = []
    for first in sorted({*tree, *b"EW"}):
        rest = _written(tree[first]) if first in tree else b""
        if first in b"EW":
            rest = b"(?:" + CODE + (b"|" + rest if first in tree else b"") + b")"
        parts.append(re.escape(bytes([first])) + rest)
    return re.compile(b"|".join(parts))


def _written(node: Mapping[int, Any]) -> bytes:
    tail = [re.escape(bytes([byte])) + _written(after) for byte, after in sorted(node.items()) if byte >= 0]
    if not tail:
        return b""
    body = tail[0] if len(tail) == 1 and -1 not in node else b"(?:" + b"|".join(tail) + b")"
    return body + (b"?" if -1 in node else b"")


LONGEST = 15 << 10
"""Maximum bytes of a line that has a shape."""

_NUMBERS = b"0123456789."
_BREAKS = bytes.maketrans(b"\r", b"\n")
_KEPT = 8 << 20  # bytes of cached shapes
_KINDS = 4096
_LONG = b"\0"  # the common shape of all longer lines
_NO_NUMBER = lazy_compile(rb"(?i)(?<![a-z])(?:nan|inf)(?![a-z])")
_LETTERS = b"EWABFHIJKLZ0123456789"
_CHARACTERS = bytes(
    0x45 if byte in b"EW" else 0x30 if byte in b"0123456789" else 0x41 if byte in _LETTERS else 0x20
    for byte in range(256)
)
_CODES = (b"E00000", b"EA0000", b"EE0000")
"""All CANN codes after normalisation."""
_EXACT_CODE = lazy_compile(rb"(?=([EW]" + CODE + rb"))")


class Shape:
    """Lines that differ only in numbers: the literals that they may contain, and the numbers of shown and of skipped
    lines. `kind` groups shapes with the same literals; `words` are those whose presence or following number matters.
    Nothing is counted in logs of usual size."""

    __slots__ = ("changes", "kind", "literals", "passed", "shown", "value", "words")

    def __init__(self, literals: tuple[bytes, ...], kind: Shape | None = None) -> None:
        self.literals = literals
        self.kind = kind
        self.shown = self.passed = self.changes = 0
        self.value: object = None
        self.words: tuple[bytes, ...] | None = None


class Part:
    """A chunk of a log split into lines; a line that a progress bar rewrote counts as several."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        broken = data.translate(_BREAKS)
        self.texts = broken.split(b"\n")
        self.shapes = broken.translate(None, _NUMBERS).split(b"\n")
        if len(max(self.texts, key=len)) > LONGEST:
            self.shapes = [
                _LONG if len(text) > LONGEST else shape for text, shape in zip(self.texts, self.shapes, strict=True)
            ]
        self._starts: list[int] = []

    @property
    def starts(self) -> list[int]:
        """The offsets of the lines."""
        if not self._starts:
            self._starts = list(map(add, accumulate(map(len, self.texts), initial=0), count()))
        return self._starts

    def coded(self) -> dict[int, set[bytes]]:
        """Possible CANN codes by the offsets of their lines."""
        characters = self._data.translate(_CHARACTERS)
        codes_at: dict[int, set[bytes]] = {}
        for code in _CODES:
            at = characters.find(code)
            while at >= 0:
                place = bisect_right(self.starts, at) - 1
                if place not in codes_at:
                    codes_at[place] = set(codes_in(self.texts[place]))
                at = characters.find(code, self.starts[place] + len(self.texts[place]))
        return codes_at


def codes_in(text: bytes) -> list[bytes]:
    """The possible CANN codes in a text."""
    codes: list[bytes] = _EXACT_CODE.findall(text)
    return codes


class Shapes:
    """The shapes of one log."""

    def __init__(self, literals: Iterable[bytes]) -> None:
        self._bare: dict[bytes, list[bytes]] = {}
        for literal in sorted(set(literals)):
            self._bare.setdefault(literal.translate(None, _NUMBERS), []).append(literal)
        self._search = search_for(tuple(sorted(self._bare)))
        self._known: dict[bytes, Shape | None] = {_LONG: Shape(())}
        self._kinds: dict[tuple[bytes, ...], Shape] = {}
        self._size = 0

    def wanted(self, part: Part) -> Iterator[tuple[int, Shape, set[bytes]]]:
        """(offset, shape, possible codes) of the lines that may contain a literal or a code, in order."""
        shape_of = self._known
        fresh = set(part.shapes).difference(shape_of)
        if fresh:
            self._learn(fresh)
        places = [place for place, shape in enumerate(part.shapes) if shape_of[shape] is not None]
        coded = part.coded()
        if coded:
            places = sorted(coded.keys() | places)
        none: set[bytes] = set()
        for place in places:
            shape = shape_of[part.shapes[place]]
            if shape is None:
                shape = shape_of[part.shapes[place]] = self._shape(frozenset(), part.shapes[place])
            yield place, shape, coded.get(place, none)
        if self._size > _KEPT:
            self._known = {_LONG: shape_of[_LONG]}
            self._size = 0

    def _learn(self, fresh: set[bytes]) -> None:
        """Search all new shapes for literals at once."""
        shapes = sorted(fresh)
        joined = b"\n".join(shapes)
        ends = list(accumulate(len(shape) + 1 for shape in shapes))
        literals_at: dict[int, set[bytes]] = {}
        for at, bare in self._search.hits(joined, len(joined)):
            literals_at.setdefault(bisect_right(ends, at), set()).update(self._bare[bare])
        for place, shape in enumerate(shapes):
            self._known[shape] = self._shape(frozenset(literals_at[place]), shape) if place in literals_at else None
        self._size += len(joined)

    def _shape(self, literals: frozenset[bytes], shape: bytes) -> Shape:
        key = tuple(sorted(literals))
        marked = (*key, b"NaN") if _NO_NUMBER.search(shape) else key
        kind = self._kinds.get(marked)
        if kind is None:
            kind = Shape(key)
            if len(self._kinds) < _KINDS:
                self._kinds[marked] = kind
        return Shape(kind.literals, kind)
