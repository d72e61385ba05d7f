"""Where the parts of a snapshot stand."""

from __future__ import annotations

from npulint.facts.model import Span


class Places:
    """The lines of a snapshot, by the words that begin its parts."""

    def __init__(self, text: str, path: str) -> None:
        self.path = path
        self._lines = text.split("\n")

    def at(self, *words: str) -> Span:
        """The line of the last word, each looked for behind the one before."""
        line = 0
        for word in words:
            quoted = f'"{word}"'
            line = next((number for number in range(line, len(self._lines)) if quoted in self._lines[number]), line)
        return Span.at(line + 1)

    def nth(self, part: str, word: str, number: int) -> Span:
        """The line of the member `word` of the entry `number` (from 0) of a list."""
        begin = self.at(part).line
        found = [line for line in range(begin, len(self._lines)) if f'"{word}":' in self._lines[line]]
        return Span.at(found[number] + 1) if number < len(found) else self.at(part)
