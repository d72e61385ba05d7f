"""Ranges of releases in the tables of data-src, read against the one list of releases (data-src/releases.csv).

A cell holds ranges with a word each: ``2.1-2.6:no;2.7-:partial``. A range is one release (``2.1``), closed
(``2.1-2.6``) or, where the word still holds for the newest release, open (``2.7-``).
"""

from __future__ import annotations

from typing import NamedTuple


class Range(NamedTuple):
    """Places in the list of the first and the last release, and the word that holds for them."""

    first: int
    last: int
    word: str


def parse(text: str, releases: list[str]) -> list[Range]:
    """The ranges of a cell. Raises `ValueError` for a release that is not listed, for ranges that overlap or are not
    in order, and for one that names the newest release as its end: it would end with the next release."""
    found: list[Range] = []
    for part in text.split(";") if text else []:
        span, colon, word = part.partition(":")
        if not colon or not word:
            raise ValueError(f"'{part}' is not a range with a word, such as 2.1-2.6:no")
        first, last = _ends(span, releases)
        if found and first <= found[-1].last:
            raise ValueError(f"'{span}' does not follow the range before it")
        found.append(Range(first, last, word))
    return found


def known(release: str, releases: list[str]) -> int:
    """The place of a release in the list; raises `ValueError` if it is not there."""
    if release not in releases:
        raise ValueError(f"release '{release}' is not in releases.csv: {', '.join(releases)}")
    return releases.index(release)


def _ends(span: str, releases: list[str]) -> tuple[int, int]:
    begin, dash, end = span.partition("-")
    first, newest = known(begin, releases), len(releases) - 1
    if dash and not end:
        return first, newest
    last = known(end or begin, releases)
    if last == newest:
        raise ValueError(f"'{span}' ends at the newest release: write '{begin}-'")
    if last < first or (dash and last == first):
        raise ValueError(f"'{span}' is no range: write the older release first, or one release alone")
    return first, last
