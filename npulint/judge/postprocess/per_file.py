"""Checks that the settings ignore in some files, and the severities that they give to checks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from npulint.judge.evaluate.places import covered, narrowed, place_of
from npulint.judge.findings import Finding
from npulint.judge.postprocess.select import Identity, specificity


class PerFileIgnores:
    """The checks that are ignored by pattern of files. A pattern that begins with ``!`` is about all other files.
    Patterns with a folder are relative to `base`."""

    def __init__(self, table: Mapping[str, Sequence[str]], base: str) -> None:
        if table:
            from npulint.discover.ignore import Excludes  # rarely needed

            self._groups = [
                (Excludes((pattern.removeprefix("!"),), base), pattern.startswith("!"), words)
                for pattern, words in table.items()
            ]
        else:
            self._groups = []
        self._words: dict[str, tuple[str, ...]] = {}

    def __bool__(self) -> bool:
        return bool(self._groups)

    def ignores(self, rule: Identity, path: str) -> bool:
        """Whether a check is ignored in a file."""
        return any(specificity(word, rule) for word in self._of(path))

    def left(self, finding: Finding) -> Finding | None:
        """The part of a finding at places in other files, None if there is none."""
        if not self._groups:
            return finding
        places = covered(finding)
        kept = {place_of(place) for place in places if not self.ignores(finding, place.path)}
        return narrowed(finding, kept) if kept else None

    def _of(self, path: str) -> tuple[str, ...]:
        words = self._words.get(path)
        if words is None:
            found = (names for excludes, others, names in self._groups if excludes.within(path) != others)
            words = self._words[path] = tuple(word for names in found for word in names)
        return words


def severity_of(rule: Identity, table: Mapping[str, str]) -> str:
    """The severity that the most specific word of `table` gives to a check, of equal ones the last; empty if none."""
    best, severity = 0, ""
    for word, level in table.items():
        close = specificity(word, rule)
        if close and close >= best:
            best, severity = close, level
    return severity
