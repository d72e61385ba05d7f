"""Searches a chunk of a log for many literals and all CANN codes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from heapq import merge
from typing import Any

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
        known = sorted(set(literals))
        self._search = _rare([one for one in known if one[0] not in _COMMON]).search
        self._longest = max([_CODED, *map(len, known)])
        self._heads: dict[bytes, list[bytes]] = {}
        for one in known:
            if one[0] in _COMMON:
                self._heads.setdefault(one[:_SHARED], []).append(one)
        self._also = _beginnings(known)

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
            for one in also.get(what, (what,)):
                yield at, one
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
    known, lengths = frozenset(literals), sorted({len(literal) for literal in literals})
    return {
        literal: tuple(literal[:n] for n in lengths if n <= len(literal) and literal[:n] in known)
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
