"""Groups log lines by shape: a line with its numbers replaced.

A log repeats few sentences with different numbers. Lines of the same shape contain the same literals, so most lines
need only one table lookup."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from itertools import accumulate, count
from operator import add

from npulint.core.lazy_regex import lazy_compile
from npulint.runs.read.logs.literals import CODE, search_for

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
    0x45 if one in b"EW" else 0x30 if one in b"0123456789" else 0x41 if one in _LETTERS else 0x20 for one in range(256)
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
        found: dict[int, set[bytes]] = {}
        for code in _CODES:
            at = characters.find(code)
            while at >= 0:
                place = bisect_right(self.starts, at) - 1
                if place not in found:
                    found[place] = set(codes_in(self.texts[place]))
                at = characters.find(code, self.starts[place] + len(self.texts[place]))
        return found


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
        known = self._known
        fresh = set(part.shapes).difference(known)
        if fresh:
            self._learn(fresh)
        places = [place for place, shape in enumerate(part.shapes) if known[shape] is not None]
        coded = part.coded()
        if coded:
            places = sorted(coded.keys() | places)
        none: set[bytes] = set()
        for place in places:
            shape = known[part.shapes[place]]
            if shape is None:
                shape = known[part.shapes[place]] = self._shape(frozenset(), part.shapes[place])
            yield place, shape, coded.get(place, none)
        if self._size > _KEPT:
            self._known = {_LONG: known[_LONG]}
            self._size = 0

    def _learn(self, fresh: set[bytes]) -> None:
        """Search all new shapes for literals at once."""
        shapes = sorted(fresh)
        joined = b"\n".join(shapes)
        ends = list(accumulate(len(shape) + 1 for shape in shapes))
        found: dict[int, set[bytes]] = {}
        for at, bare in self._search.hits(joined, len(joined)):
            found.setdefault(bisect_right(ends, at), set()).update(self._bare[bare])
        for place, shape in enumerate(shapes):
            self._known[shape] = self._shape(frozenset(found[place]), shape) if place in found else None
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
