"""Shortlists for spelling help: of many known words, the few that are worth an exact comparison.

Comparing a misspelt word with a thousand known ones takes milliseconds, and hostile input has thousands of such words.
Counting the pairs of letters that words have in common takes a small fraction of that, and after `HELPED` words nobody
is helped any more.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from functools import lru_cache
from heapq import nlargest

_LONGEST = 80  # letters of a word that count
MOST = 24
"""Words on a shortlist."""


HELPED = 2000
"""Words for which one project gets spelling help."""
_asked = 0


def renew() -> None:
    """Begin to count anew: before a project is evaluated, and before the comments of a run are. Each is done in one
    process, so that the answers do not depend on the number of processes."""
    global _asked
    _asked = 0


def may_help() -> bool:
    """Whether there is still spelling help; counts the question."""
    global _asked
    _asked += 1
    return _asked <= HELPED


def similar(word: str, known: Iterable[str]) -> list[str]:
    """The known words that share most pairs of letters with `word`, at most `MOST`, in their order in `known`; all
    if there are no more. Case counts."""
    words = tuple(known)
    return list(words) if len(words) <= MOST else _index(words).near(word)


class _Index:
    """The words in which each pair of letters occurs."""

    def __init__(self, words: tuple[str, ...]) -> None:
        self._words = words
        self._pairs = [len(_pairs(word)) for word in words]
        self._of_pair: dict[str, list[int]] = defaultdict(list)
        for number, word in enumerate(words):
            for pair in _pairs(word):
                self._of_pair[pair].append(number)

    def near(self, word: str) -> list[str]:
        """See `similar`."""
        pairs = _pairs(word)
        shared = Counter(number for pair in pairs for number in self._of_pair.get(pair, ()))

        def likeness(number: int) -> tuple[float, int]:
            return shared[number] / (self._pairs[number] + len(pairs)), -number

        return [self._words[number] for number in sorted(nlargest(MOST, shared, key=likeness))]


@lru_cache(maxsize=32)
def _index(words: tuple[str, ...]) -> _Index:
    return _Index(words)


def _pairs(word: str) -> set[str]:
    framed = f" {word[:_LONGEST]} "
    return {framed[at : at + 2] for at in range(len(framed) - 1)}
