"""What shell text is split into."""

from __future__ import annotations

import msgspec

from npulint.lazy_regex import lazy_compile

REDIRECTIONS = frozenset(("<", ">", ">>", "<<", "<<-", "<<<", ">&", "<&", "<>", ">|", "&>", "&>>"))
# Where these begin a command they are the grammar's.
KEYWORDS = frozenset("if while until for select case function { } [[ ! time then else elif do fi done esac".split())
_ASSIGNMENT = lazy_compile(r"([A-Za-z_]\w*)(\[[^\]]*\])?(\+)?=")


class Part(msgspec.Struct, frozen=True, gc=False):
    """A piece of a word. Kinds: ``text``; ``var`` (text = name, default = what stands in for it or None);
    ``code`` (a command substitution; text = its script, start = where that begins); ``array`` (text =
    the words); ``unknown``."""

    kind: str
    text: str
    quoted: bool = False
    start: int = 0
    default: str | None = None

    def moved(self, offset: int) -> Part:
        """The same piece `offset` further on."""
        return Part(self.kind, self.text, self.quoted, self.start + offset, self.default)


class Target(msgspec.Struct, frozen=True, gc=False):
    """What an assignment sets: a variable, a place in a list (`index`), or it adds to it (`plus`).
    `written` is all that stands before the ``=``, `rest` the beginning of the value."""

    name: str
    index: bool
    plus: bool
    written: str
    rest: str


class Word(msgspec.Struct, frozen=True, gc=False):
    """A word: its pieces and its place in the text; `literal` is its text when nothing in it is quoted or
    computed, as keywords must be, `to` what it sets when it is an assignment."""

    parts: tuple[Part, ...]
    start: int
    end: int
    literal: str | None
    to: Target | None

    def moved(self, offset: int) -> Word:
        """The same word `offset` further on."""
        parts = self.parts
        if self.literal is None:
            for part in parts:
                if part.start:
                    parts = tuple([part.moved(offset) if part.start else part for part in parts])
                    break
        return Word(parts, self.start + offset, self.end + offset, self.literal, self.to)


def word_of(parts: tuple[Part, ...], start: int, end: int) -> Word:
    """The word of these pieces."""
    if not parts or parts[0].kind != "text" or parts[0].quoted:
        return Word(parts, start, end, None, None)
    text = parts[0].text
    return Word(parts, start, end, text if len(parts) == 1 else None, _target(text))


def _target(text: str) -> Target | None:
    match = _ASSIGNMENT.match(text) if "=" in text else None
    if match is None:
        return None
    name, index, plus = match.groups()
    return Target(name, bool(index), bool(plus), text.partition("=")[0], text[match.end() :])


class Operator(msgspec.Struct, frozen=True, gc=False):
    """A separator, a redirection, a parenthesis or a line end."""

    text: str
    start: int

    def moved(self, offset: int) -> Operator:
        """The same operator `offset` further on."""
        return Operator(self.text, self.start + offset)


class ShellLine(msgspec.Struct, frozen=True, gc=False):
    """A whole line that is one simple command, its end included; most lines are."""

    words: tuple[Word, ...]
    end: Operator


Token = Word | Operator | ShellLine
