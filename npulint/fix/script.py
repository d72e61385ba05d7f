"""An editable shell script: words and simple commands with their places."""

from __future__ import annotations

import msgspec

from npulint.facts.model import Span
from npulint.fix.model import FixRefused
from npulint.judge.findings import Edit
from npulint.read.json_tree import Lines
from npulint.read.shell.lex import Lexer
from npulint.read.shell.tokens import REDIRECTIONS, ShellLine, ShellOperator, Word

OPENERS = frozenset(("then", "do", "else", "{", "("))
TESTED = frozenset(("if", "while", "until", "elif", "!", "time"))  # the exit status or time of the next command is used
JOINTS = frozenset(("&&", "||", "|", "|&"))
_HEADS = OPENERS | TESTED
_NO_COMMANDS = frozenset(("for", "select", "case", "function", "[[", "fi", "done", "esac", "}", "eval"))
_CLOSERS = frozenset(("fi", "else", "elif", "done", "}", ")", ";;", ";&", ";;&"))

Token = Word | ShellOperator


class Statement(msgspec.Struct, frozen=True):
    """A simple command: its words (without redirections), first and last token number, and the operator or keyword on
    either side, empty at the ends of the script."""

    words: tuple[Word, ...]
    first: int
    last: int
    before: str
    after: str

    @property
    def leading(self) -> int:
        """The number of leading assignments."""
        return next((count for count, word in enumerate(self.words) if word.to is None), len(self.words))

    @property
    def head(self) -> str:
        """The name of the command; empty if there is none or it is computed."""
        words = self.words[self.leading :]
        return (words[0].literal or "") if words else ""


class Script:
    """The tokens of a text. Raises `FixRefused` (``unclosed``, with the line) if a quote or bracket never ends."""

    def __init__(self, text: str, path: str) -> None:
        self.text = text
        self.path = path
        lexer = Lexer(text)
        self.tokens: list[Token] = []
        for token in lexer.tokens():
            if isinstance(token, ShellLine):
                self.tokens += [*token.words, token.end]
            else:
                self.tokens.append(token)
        if lexer.broken is not None:
            raise FixRefused("unclosed", str(text.count("\n", 0, lexer.broken) + 1))
        self._starts = [0, *(at + 1 for at, char in enumerate(text) if char == "\n")]
        self._lines = Lines(text)

    def offset(self, line: int, column: int) -> int:
        """The offset of a line and column; raises `FixRefused` (``place``) if the text has none."""
        if not 0 < line <= len(self._starts) or self._starts[line - 1] + column - 1 > len(self.text):
            raise FixRefused("place")
        return self._starts[line - 1] + column - 1

    def edit(self, start: int, end: int, text: str) -> Edit:
        """The edit that replaces a range by `text`."""
        return Edit(self.path, self._lines.span(start, end), text)

    def at(self, span: Span) -> tuple[int, int]:
        """The numbers of the first and last word of a span, which must begin and end with words outside of comments,
        here-documents and nested commands."""
        start, end = self.offset(span.line, span.column), self.offset(span.end_line, span.end_column)
        first = next((n for n, token in enumerate(self.tokens) if token.start == start), -1)
        last = first
        while 0 <= last < len(self.tokens) and self.end(last) < end:
            last += 1
        if first < 0 and any(isinstance(token, Word) and token.start <= start < token.end for token in self.tokens):
            raise FixRefused("nested")
        if first < 0 or last >= len(self.tokens) or self.end(last) != end:
            raise FixRefused("place")
        if not isinstance(self.tokens[first], Word) or not isinstance(self.tokens[last], Word):
            raise FixRefused("place")
        return first, last

    def start(self, number: int) -> int:
        return self.tokens[number].start

    def end(self, number: int) -> int:
        token = self.tokens[number]
        return token.end if isinstance(token, Word) else token.start + len(token.text)

    def statement(self, number: int) -> Statement:
        """The simple command of a word; raises `FixRefused` (``shell``) for other syntax."""
        first = last = number
        while first > 0 and self._joined(first - 1):
            first -= 1
        while last + 1 < len(self.tokens) and self._joined(last + 1):
            last += 1
        before = self._before(first)
        while first < last and self.written(first) in _HEADS:
            before, first = self.written(first), first + 1
        words = tuple(self._words(first, last))
        if first > number or not words or words[0].literal in _NO_COMMANDS or self._old_arithmetic(first):
            raise FixRefused("shell")
        return Statement(words, first, last, before, "" if last + 1 == len(self.tokens) else self.written(last + 1))

    def _old_arithmetic(self, first: int) -> bool:
        """Whether the line contains ``$[``, which the lexer does not support."""
        start = self.start(first)
        return self.text.find("$[", start, self.line_end(start)) >= 0

    def _before(self, first: int) -> str:
        """The operator before a command; lists continue in the next line."""
        number = first - 1
        while number > 0 and self.written(number) == "\n":
            number -= 1
        if number >= 0 and self.written(number) in JOINTS and isinstance(self.tokens[number], ShellOperator):
            return self.written(number)
        return self.written(first - 1) if first else ""

    def _joined(self, number: int) -> bool:
        token = self.tokens[number]
        return isinstance(token, Word) or token.text in REDIRECTIONS

    def written(self, number: int) -> str:
        """The text of a token that is an operator or a word without quotes and expansions, else empty."""
        token = self.tokens[number]
        return token.text if isinstance(token, ShellOperator) else token.literal or ""

    def _words(self, first: int, last: int) -> list[Word]:
        """The words of a command, without redirections."""
        words: list[Word] = []
        redirected = False
        for token in self.tokens[first : last + 1]:
            if isinstance(token, ShellOperator):
                redirected = True
                if words and words[-1].end == token.start and (words[-1].literal or "").isdigit():
                    words.pop()
            elif redirected:
                redirected = False
            else:
                words.append(token)
        return words

    def word_number(self, word: Word) -> int:
        """The token number of a word."""
        return next(number for number, token in enumerate(self.tokens) if token is word)

    def line_start(self, offset: int) -> int:
        """Where the line of a character begins."""
        return self.text.rfind("\n", 0, offset) + 1

    def line_end(self, offset: int) -> int:
        """Where the line of a character ends, its line end included."""
        return self.text.find("\n", offset) + 1 or len(self.text)

    def begins_line(self, offset: int) -> bool:
        """Whether only blanks precede an offset in its line, which does not continue the previous one."""
        start = self.line_start(offset)
        return not self.text[start:offset].strip() and self.text[max(start - 2, 0) : start] != "\\\n"

    def gap(self, first: int, last: int) -> tuple[int, int]:
        """The range of the words from `first` to `last` with the blanks on one side."""
        start, end = self.start(first), self.end(last)
        behind = self.tokens[last + 1] if last + 1 < len(self.tokens) else None
        leads = not self.text[self.line_start(start) : start].strip()
        if leads and isinstance(behind, Word) and "\n" not in self.text[end : behind.start]:
            return start, behind.start
        return self.end(first - 1), end

    def lone(self, statement: Statement) -> bool:
        """Whether a compound command contains only this command."""
        return self._opened(statement) and self._closed(statement)

    def _opened(self, statement: Statement) -> bool:
        if statement.before in OPENERS:
            return True
        number = statement.first - 1
        while number >= 0 and self.written(number) in ("\n", ";"):
            number -= 1
        return number >= 0 and self.written(number) in OPENERS and statement.before in ("\n", ";")

    def _closed(self, statement: Statement) -> bool:
        number = statement.last + 1
        while number < len(self.tokens) and self.written(number) in ("\n", ";"):
            number += 1
        return number == len(self.tokens) or self.written(number) in _CLOSERS
