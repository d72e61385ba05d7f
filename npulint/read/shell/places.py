"""The places of options and arguments in a script: where they are written, also if a variable passes them on."""

from __future__ import annotations

import re

from npulint.facts.model import Span
from npulint.read.json_tree import Lines
from npulint.read.launcher_facts import PassedWord
from npulint.read.shell.started_programs import StartOptions
from npulint.read.shell.tokens import Word
from npulint.read.shell.values import HOLE

_WORDS = 100  # of one started script, without options
_SEARCHES = 500  # of options that variables pass on, in one script


class WrittenPlaces:
    """Finds the places in one script."""

    def __init__(self, text: str, lines: Lines) -> None:
        self._text = text
        self._lines = lines
        self._left = _SEARCHES

    def of_word(self, word: Word) -> Span:
        """The place of a word."""
        return self._lines.span(word.start, word.end)

    def of_options(self, passed: StartOptions) -> dict[str, Span]:
        """The place of each option, by name."""
        return {name: self._of_option(name, first, last) for name, (first, last) in passed.words.items()}

    def of_arguments(self, passed: StartOptions) -> tuple[PassedWord, ...]:
        """The positional arguments with their places."""
        passed_words = []
        for other in passed.others[:_WORDS]:
            name, equals, _ = other.text.partition("=")
            span = None
            if equals and HOLE not in name and other.word.literal is None:
                span = self._before(f"{name}=", rf"{re.escape(name)}=\S*", other.word)
            passed_words.append(PassedWord(other.text.replace(HOLE, "*"), span or self.of_word(other.word)))
        return tuple(passed_words)

    def _of_option(self, name: str, first: Word, last: Word) -> Span:
        """The place of an option; if a variable passes it on, that in the value of the variable."""
        if first.literal is None and "-" not in self._text[first.start : first.end]:
            spelled = re.escape(name).replace("_", "[-_]")
            begins = "-" + name.replace("_", "-").partition("-")[0]
            span = self._before(begins, rf"--?{spelled}(?:=\S*|[ \t]+(?!-)[^\s\"')]+)?(?![\w-])", first)
            if span is not None:
                return span
        return self._lines.span(first.start, last.end)

    def _before(self, part: str, pattern: str, word: Word) -> Span | None:
        """The last place before a word that matches a pattern; `part` is in everything that does."""
        if self._text.find(part, 0, word.start) < 0:
            return None
        self._left -= 1
        if self._left < 0:
            return None
        places = [match.span() for match in re.finditer(rf"(?<![\w-]){pattern}", self._text[: word.start])]
        return self._lines.span(*places[-1]) if places else None
