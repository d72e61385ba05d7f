"""The tokens of shell text."""

from __future__ import annotations

import msgspec

from npulint.core.lazy_regex import lazy_compile

REDIRECTIONS = frozenset(("<", ">", ">>", "<<", "<<-", "<<<", ">&", "<&", "<>", ">|", "&>", "&>>"))
# Keywords at the beginning of a command.
KEYWORDS = frozenset("if while until for select case function { } [[ ! time then else elif do fi done esac".split())
_ASSIGNMENT = lazy_compile(r"([A-Za-z_]\w*)(\[[^\]]*\])?(\+)?=")


class WordPart(msgspec.Struct, frozen=True, gc=False):
    """A piece of a word. Kinds: ``text``; ``var`` (text = name, default = replacement or None); ``code`` (a command
    substitution; text = its script, start = its offset); ``array`` (text = the words); ``unknown``."""

    kind: str
    text: str
    quoted: bool = False
    start: int = 0
    default: str | None = None

    def moved(self, offset: int) -> WordPart:
        """The same piece, shifted by `offset`."""
        return WordPart(self.kind, self.text, self.quoted, self.start + offset, self.default)


class AssignmentTarget(msgspec.Struct, frozen=True, gc=False):
    """The target of an assignment: a variable, an element (`index`), or an addition to it (`plus`). `written` is the
    text before ``=``, `rest` the beginning of the value."""

    name: str
    index: bool
    plus: bool
    written: str
    rest: str


class Word(msgspec.Struct, frozen=True, gc=False):
    """A word: its pieces and its position; `literal` is its text if nothing in it is quoted or computed, as keywords
    must be, `to` the target if it is an assignment."""

    parts: tuple[WordPart, ...]
    start: int
    end: int
    literal: str | None
    to: AssignmentTarget | None

    def moved(self, offset: int) -> Word:
        """The same word, shifted by `offset`."""
        parts = self.parts
        if self.literal is None:
            for part in parts:
                if part.start:
                    parts = tuple([part.moved(offset) if part.start else part for part in parts])
                    break
        return Word(parts, self.start + offset, self.end + offset, self.literal, self.to)


def word_of(parts: tuple[WordPart, ...], start: int, end: int) -> Word:
    """The word of these pieces."""
    if not parts or parts[0].kind != "text" or parts[0].quoted:
        return Word(parts, start, end, None, None)
    text = parts[0].text
    return Word(parts, start, end, text if len(parts) == 1 else None, _target(text))


def _target(text: str) -> AssignmentTarget | None:
    match = _ASSIGNMENT.match(text) if "=" in text else None
    if match is None:
        return None
    name, index, plus = match.groups()
    return AssignmentTarget(name, bool(index), bool(plus), text.partition("=")[0], text[match.end() :])


class ShellOperator(msgspec.Struct, frozen=True, gc=False):
    """A separator, a redirection, a parenthesis or a line end."""

    text: str
    start: int

    def moved(self, offset: int) -> ShellOperator:
        """The same operator, shifted by `offset`."""
        return ShellOperator(self.text, self.start + offset)


class ShellLine(msgspec.Struct, frozen=True, gc=False):
    """A complete line that is one simple command, including its end; most lines are."""

    words: tuple[Word, ...]
    end: ShellOperator


Token = Word | ShellOperator | ShellLine
