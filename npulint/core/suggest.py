"""Suggestions for unknown words: "did you mean ...?"."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable
from functools import lru_cache
from heapq import nlargest

from npulint.core.lazy_regex import lazy_compile
from npulint.core.texts import say

# Shortlists for spelling help: of many known words, the few that are worth an exact comparison.

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


def similar(word: str, candidates: Iterable[str]) -> list[str]:
    """The known words that share most pairs of letters with `word`, at most `MOST`, in their order in `candidates`; all
    if there are no more. Case counts."""
    words = tuple(candidates)
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


_CODE = lazy_compile(r"npu[0-9][0-9a-z]*", re.IGNORECASE)
_FAMILY = len("NPU11")


def closest_match(word: str, candidates: Iterable[str]) -> str:
    """The known word most similar to `word`, else empty; ignores case and ``_``/``-``. For a code of a check it is one
    of the same family and category: other codes look alike, but mean something else."""
    from difflib import get_close_matches  # imported only after a mistake

    if not may_help():
        return ""
    if _CODE.fullmatch(word):
        candidates = [
            candidate for candidate in candidates if candidate.casefold().startswith(word[:_FAMILY].casefold())
        ]
    plain = _by_plain_form(tuple(sorted(candidates, reverse=True)))
    given = _plain(word[:80])
    close = get_close_matches(given, similar(given, plain), n=1, cutoff=0.6)
    return plain[close[0]] if close else ""


def only_close_match(word: str, candidates: Iterable[str]) -> str:
    """The `closest_match`, empty where another of the words is as similar: of ``910A`` and ``910B`` neither is meant
    by ``910X``."""
    from difflib import SequenceMatcher

    meant = closest_match(word, candidates)
    ratios = [SequenceMatcher(None, _plain(other), _plain(word)).ratio() for other in candidates] if meant else []
    return meant if ratios and ratios.count(max(ratios)) == 1 else ""


@lru_cache(maxsize=32)
def _by_plain_form(words: tuple[str, ...]) -> dict[str, str]:
    return {_plain(candidate): candidate for candidate in words}


def did_you_mean(word: str, lang: str) -> str:
    """The text "did you mean `word`?", empty for an empty `word`."""
    return say(lang, "meant", word=word) if word else ""


def _plain(word: str) -> str:
    return word.casefold().replace("_", "-")
