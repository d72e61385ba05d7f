"""Sampling of very large logs: most of the frequent lines are only counted."""

from __future__ import annotations

from collections.abc import Iterable

from npulint.core.lazy_regex import lazy_compile
from npulint.runs.read.logs.shapes import Shape

EXACT = 64 << 20
"""Bytes of a log up to which every line with a wanted literal is shown."""

STRIDE = 32
"""Beyond that, one of so many lines is shown, once ..."""

ENOUGH = 1000
"""... so many of its shape were shown, ..."""

MANY = 20_000
"""... or so many with the same literals."""

_CHANGES = 200_000  # lines shown because of a changed number
_NEAR = 40
_NUMBER = lazy_compile(rb"\d[\d.e+-]*")


class Thinning:
    """Selects the lines to show. A line is also shown if the number after one of the words `levels` has changed, and if
    it contains one of the words `always`."""

    def __init__(self, levels: Iterable[bytes], always: Iterable[bytes]) -> None:
        self._always = frozenset(always)
        self._words = (*self._always, *levels)

    def lines(self, shape: Shape, text: bytes, codes: set[bytes]) -> int:
        """The number of similar lines that this one represents; 0 if it is skipped."""
        kind = shape.kind or shape
        counter = shape if shape.shown >= ENOUGH else kind
        if counter is kind and kind.shown < MANY:
            shape.shown += 1
            kind.shown += kind is not shape
            return 1
        if shape.words is None:
            shape.words = tuple(word for word in self._words if word in text)
        changed = (codes or shape.words) and self._changed(counter, text, codes, shape.words)
        if counter.passed < STRIDE - 1 and not changed:
            counter.passed += 1
            return 0
        shown, counter.passed = counter.passed + 1, 0
        return shown

    def _changed(self, counter: Shape, text: bytes, codes: set[bytes], words: tuple[bytes, ...]) -> bool:
        value: list[bytes | None] = [*sorted(codes)]
        for word in words:
            match = _NUMBER.search(text, at := text.rfind(word), at + _NEAR)
            value.append(match and match[0])
        if (value == counter.value and self._always.isdisjoint(words)) or counter.changes >= _CHANGES:
            return False
        counter.value = value
        counter.changes += 1
        return True
