"""Makes a failing example smaller as long as it fails in the same way."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TypeVar

import msgspec

from scripts.fuzzing.example import Example, Failure

T = TypeVar("T")
Judging = Callable[[Example], "Failure | None"]


def shrink(example: Example, failure: Failure, judging: Judging, tries: int = 200, seconds: float = 90) -> Example:
    """The smallest example found in so many tries, or so many seconds: fewer files, lines, bytes and messages."""
    budget = _Budget(failure, judging, tries, seconds)
    for name in sorted(example.files):
        fewer = {one: data for one, data in example.files.items() if one != name}
        if fewer:
            example = budget.either(msgspec.structs.replace(example, files=fewer), example)
    for name in sorted(example.files):
        for cut in (_lines, _pieces):
            example = _smaller(example, name, cut, budget)
    if example.messages:
        first, between, last = example.messages[:2], example.messages[2:-2], example.messages[-2:]

        def said(part: Sequence[bytes]) -> Example:
            return msgspec.structs.replace(example, messages=(*first, *part, *last))

        example = said(minimal(between, lambda part: budget.fails(said(part))))
    return example


def minimal(items: Sequence[T], fails: Callable[[Sequence[T]], bool]) -> Sequence[T]:
    """A subsequence that still fails and from which no part that was tried can be left out (delta debugging)."""
    size = len(items) // 2
    while size:
        start, shorter = 0, False
        while start < len(items):
            fewer = [*items[:start], *items[start + size :]]
            if fewer and fails(fewer):
                items, shorter = fewer, True
            else:
                start += size
        size = size if shorter and size == 1 else size // 2
    return items


class _Budget:
    """Tries that are left, and the failure that has to stay."""

    def __init__(self, failure: Failure, judging: Judging, tries: int, seconds: float) -> None:
        self._failure = failure
        self._judging = judging
        self._tries = tries
        self._end = time.monotonic() + seconds

    def fails(self, example: Example) -> bool:
        """Whether an example fails in the same way; no when nothing may be tried any more."""
        if self._tries <= 0 or time.monotonic() > self._end:
            return False
        self._tries -= 1
        found = self._judging(example)
        if found is None or found.sort != self._failure.sort:
            return False
        return found.sort in ("hang", "memory") or found.place == self._failure.place

    def either(self, smaller: Example, example: Example) -> Example:
        """The smaller one if it fails too."""
        return smaller if self.fails(smaller) else example


def _lines(data: bytes) -> list[bytes]:
    return data.splitlines(keepends=True)


def _pieces(data: bytes) -> list[bytes]:
    """Bytes; of long files at most 64 pieces."""
    size = max(1, len(data) // 64)
    return [data[start : start + size] for start in range(0, len(data), size)]


def _smaller(example: Example, name: str, cut: Callable[[bytes], list[bytes]], budget: _Budget) -> Example:
    def of(part: Sequence[bytes]) -> Example:
        data = b"".join(part)
        stdin = data if example.stdin == example.files[name] else example.stdin
        return msgspec.structs.replace(example, files={**example.files, name: data}, stdin=stdin)

    return of(minimal(cut(example.files[name]), lambda part: budget.fails(of(part))))
