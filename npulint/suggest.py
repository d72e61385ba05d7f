"""The nearest known word to one that is not known: "did you mean ...?"."""

from __future__ import annotations

from collections.abc import Iterable

from npulint.texts import say


def closest_match(word: str, known: Iterable[str]) -> str:
    """The known word that `word` probably means, or nothing; letter case and ``_``/``-`` do not count."""
    from difflib import get_close_matches  # only mistakes pay for it

    plain = {_plain(candidate): candidate for candidate in sorted(known, reverse=True)}
    close = get_close_matches(_plain(word[:80]), plain, n=1, cutoff=0.6)
    return plain[close[0]] if close else ""


def did_you_mean(word: str, lang: str) -> str:
    """The question that follows a complaint about an unknown word; nothing without a near `word`."""
    return say(lang, "meant", word=word) if word else ""


def _plain(word: str) -> str:
    return word.casefold().replace("_", "-")
