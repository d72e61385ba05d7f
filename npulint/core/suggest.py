"""Suggestions for unknown words: "did you mean ...?"."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from npulint.core.lazy_regex import lazy_compile
from npulint.core.similar import may_help, similar
from npulint.core.texts import say

_CODE = lazy_compile(r"npu[0-9][0-9a-z]*", re.IGNORECASE)
_FAMILY = len("NPU11")


def closest_match(word: str, known: Iterable[str]) -> str:
    """The known word most similar to `word`, else empty; ignores case and ``_``/``-``. For a code of a check it is one
    of the same family and category: other codes look alike, but mean something else."""
    from difflib import get_close_matches  # imported only after a mistake

    if not may_help():
        return ""
    if _CODE.fullmatch(word):
        known = [one for one in known if one.casefold().startswith(word[:_FAMILY].casefold())]
    plain = _by_plain_form(tuple(sorted(known, reverse=True)))
    given = _plain(word[:80])
    close = get_close_matches(given, similar(given, plain), n=1, cutoff=0.6)
    return plain[close[0]] if close else ""


@lru_cache(maxsize=32)
def _by_plain_form(known: tuple[str, ...]) -> dict[str, str]:
    return {_plain(candidate): candidate for candidate in known}


def did_you_mean(word: str, lang: str) -> str:
    """The text "did you mean `word`?", empty for an empty `word`."""
    return say(lang, "meant", word=word) if word else ""


def _plain(word: str) -> str:
    return word.casefold().replace("_", "-")
