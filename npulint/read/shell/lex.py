"""Splits shell text into words and operators, without expanding or running anything, and without recursion."""

from __future__ import annotations

import re
from functools import lru_cache

from npulint.core.lazy_regex import lazy_compile
from npulint.read.shell.tokens import KEYWORDS, ShellLine, ShellOperator, Token, Word, WordPart, word_of

_SPACE = lazy_compile(r"(?:[ \t]+|\\\n)+")
_OPERATOR = lazy_compile(r"&&|\|\||;;&|;;|;&|\|&|&>>|&>|<<<|<<-|<<|>>|>&|<&|<>|>\||[;&|<>()]")
_PLAIN = lazy_compile(r"[^\s;&|<>()'\"\\$`]+")
# The characters of nearly all words; alternatives begin differently, so there is no backtracking.
_VARIABLE = r"""\$(?:[\w@*?!]|\{\w+\})"""
_STRING = r"""'[^']*'|"[^"\\$`]*(?:\$(?:\{\w+\}|(?![({]))[^"\\$`]*)*\""""
_SIMPLE = lazy_compile(
    rf"""[ \t]*((?:[^\s;&|<>()'"\\$`#]|{_VARIABLE}|{_STRING})(?:[^\s;&|<>()'"\\$`]+|{_VARIABLE}|{_STRING})*)"""
)
_ENDS = frozenset(" \t\n;&|<>)")
_BLANK_STARTS = frozenset(" \t#\n")
_LONG = 200  # characters of a cached word
_BLANK_LINES = lazy_compile(r"(?:[ \t]*(?:#[^\n]*)?\n)*")
_QUOTED = lazy_compile(r'[^"\\$`]+')
_NAME = lazy_compile(r"[A-Za-z_]\w*|[0-9@*#?$!-]")
_BRACED = lazy_compile(
    r"(?P<name>[A-Za-z_]\w*|[0-9]+|[@*])(?P<all>\[[@*]\])?(?:(?P<operator>:?[-=])(?P<default>.*))?", re.DOTALL
)
_SPECIAL = lazy_compile(r"[\\'\"`(){}$#]")
_ARRAY = lazy_compile(r"[A-Za-z_]\w*\+?=$")


def closing(text: str, at: int, mark: str) -> int:
    """The offset of the `mark` (``)``, ``}`` or ``"``) that ends what was opened before `at`; the end of
    the text when there is none."""
    stack = [mark]
    while True:
        match = _SPECIAL.search(text, at)
        if match is None:
            return len(text)
        char, start, mode = match.group(), match.start(), stack[-1]
        at = start + 1
        if char == mode:
            stack.pop()
            if not stack:
                return start
        elif char == "$" and text[at : at + 1] in ("(", "{"):
            stack.append(")" if text[at] == "(" else "}")
            at += 1
        elif char == '"' or (char == "(" and mode == ")"):
            stack.append('"' if char == '"' else ")")
        elif char in "\\`" or mode != '"':
            at = _passed(text, start, mode, '"' in stack)


def _passed(text: str, start: int, mode: str, in_string: bool) -> int:
    """The offset after an escape, a backquoted or quoted text, or a comment that begins at `start`."""
    char, end = text[start], start + 1
    if char == "\\":
        return end + 1
    if char == "`":
        return _backquote(text, end) + 1
    if char == "'" and not in_string:
        end = text.find("'", end) + 1
    elif char == "#" and mode == ")" and (start == 0 or text[start - 1] in " \t\n;("):
        end = text.find("\n", end) + 1
    return end or len(text)


def _backquote(text: str, at: int) -> int:
    while True:
        end = text.find("`", at)
        if end < 0:
            return len(text)
        if text[end - 1] != "\\":
            return end
        at = end + 1


_WORD_START = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_-./$'\"`[{}%=+*?~@,:")


class Lexer:
    """Splits one script. `broken` is the offset of an unterminated quote or bracket, or None."""

    def __init__(self, text: str, remember: bool = True) -> None:
        self._text = text
        self._at = 0
        self._remember = remember
        self._heredocs: list[tuple[str, bool]] = []
        self._awaited = ""
        self.broken: int | None = None

    def tokens(self) -> list[Token]:
        """The tokens in order, without comments and here-documents."""
        text = self._text
        size = len(text)
        tokens: list[Token] = []
        while self._at < size:
            at = self._at
            if self._remember and not self._awaited and (at == 0 or text[at - 1] == "\n") and self._line(tokens):
                continue
            if text[at] == "\n":
                tokens.append(ShellOperator("\n", at))
                self._next_line()
                continue
            token = self._simple() or self._token()
            if token is not None:
                tokens.append(token)
        return tokens

    def _simple(self) -> Word | None:
        """The word at the current offset, after blanks, if it is simple."""
        simple = _SIMPLE.match(self._text, self._at)
        if simple is None or self._awaited:
            return None
        start, end = simple.span(1)
        word = _remembered(simple.group(1)) if end - start < _LONG else None
        if word is None or (end < len(self._text) and self._text[end] not in _ENDS):
            return None
        self._at = end
        return Word(word.parts, start, end, word.literal, word.to)

    def _token(self) -> Token | None:
        """The next token; None for blanks and comments, which are skipped."""
        text, at = self._text, self._at
        if text[at] in _WORD_START:
            return self.word()
        space = _SPACE.match(text, at)
        if space:
            self._at = space.end()
            return None
        operator = _OPERATOR.match(text, at)
        if text[at] == "#":
            end = text.find("\n", at)
            self._at = len(text) if end < 0 else end
            return None
        if text.startswith("((", at):
            return self._arithmetic()
        if operator and not (operator.group() in ("<", ">") and text.startswith("(", operator.end())):
            mark = operator.group()
            self._at = operator.end()
            if mark in ("<<", "<<-"):
                self._awaited = mark
            return ShellOperator(mark, at)
        if text[at].isspace():  # form feeds and the like
            self._at += 1
            return None
        return self.word()

    def _line(self, tokens: list[Token]) -> bool:
        """Add the tokens of the current line, if it is self-contained."""
        start = self._at
        end = self._text.find("\n", start)
        end = len(self._text) if end < 0 else end
        shell_line = _remembered_line(self._text[start:end]) if end - start < _LONG else None
        if shell_line is None:
            return False
        self._at = end
        if isinstance(shell_line, ShellLine):
            words = tuple([Word(w.parts, w.start + start, w.end + start, w.literal, w.to) for w in shell_line.words])
            tokens.append(ShellLine(words, ShellOperator("\n", end)))
            self._next_line()
        else:
            tokens += [token.moved(start) for token in shell_line]
            if self._text[end - 1] == "\\":  # it joins the next line
                self._at -= 1
        return True

    def _next_line(self) -> None:
        """Skip the line end and the following here-documents and empty lines."""
        self._at += 1
        self._awaited = ""
        if self._heredocs:
            for delimiter, tabs in self._heredocs:
                self._skip_heredoc(delimiter, tabs)
            self._heredocs.clear()
        if self._text[self._at : self._at + 1] in _BLANK_STARTS:
            blank = _BLANK_LINES.match(self._text, self._at)
            self._at = blank.end() if blank else self._at

    def _skip_heredoc(self, delimiter: str, tabs: bool) -> None:
        while self._at < len(self._text):
            end = self._text.find("\n", self._at)
            end = len(self._text) if end < 0 else end
            line = self._text[self._at : end]
            self._at = min(end + 1, len(self._text))
            if (line.lstrip("\t") if tabs else line) == delimiter:
                return

    def _arithmetic(self) -> Word:
        start = self._at
        end = closing(self._text, start + 1, ")")
        self._end(end, start)
        return word_of((WordPart("unknown", self._text[start : self._at]),), start, self._at)

    def _end(self, end: int, start: int) -> None:
        """Continue after the closing mark at `end`; record `start` if there is none."""
        if end >= len(self._text) and self.broken is None:
            self.broken = start
        self._at = min(end + 1, len(self._text))

    def word(self) -> Word:
        """The word at the current offset."""
        start = self._at
        parts: list[WordPart] = []
        while self._at < len(self._text):
            plain = _PLAIN.match(self._text, self._at)
            if plain:
                parts.append(WordPart("text", plain.group()))
                self._at = plain.end()
                continue
            char = self._text[self._at]
            if char == "(" and len(parts) == 1 and parts[0].kind == "text" and _ARRAY.match(parts[0].text):
                parts.append(self._array())
            elif char in "<>" and not parts and self._text.startswith("(", self._at + 1):
                self._at += 1
                parts.append(self._substitution(quoted=False))
            elif char.isspace() or char in ";&|<>()":
                break
            else:
                self._special(char, parts)
        word = word_of(_merged(parts), start, self._at)
        if self._awaited and parts:
            delimiter = "".join(part.text for part in parts)
            self._heredocs.append((delimiter, self._awaited == "<<-"))
            self._awaited = ""
        return word

    def _special(self, char: str, parts: list[WordPart]) -> None:
        """A quote, an escape or an expansion inside a word."""
        if char == "'":
            parts.append(self._single())
        elif char == '"':
            self._double(parts)
        elif char == "$":
            parts.append(self._dollar(quoted=False))
        elif char == "`":
            parts.append(self._backquoted(quoted=False))
        elif self._text.startswith("\\\n", self._at):
            self._at += 2
        else:
            parts.append(WordPart("text", self._text[self._at + 1 : self._at + 2], True))
            self._at += 2

    def _single(self) -> WordPart:
        start = self._at
        end = self._text.find("'", start + 1)
        end = len(self._text) if end < 0 else end
        self._end(end, start)
        return WordPart("text", self._text[start + 1 : end], True)

    def _double(self, parts: list[WordPart]) -> None:
        start = self._at
        self._at += 1
        parts.append(WordPart("text", "", True))
        while self._at < len(self._text):
            run = _QUOTED.match(self._text, self._at)
            if run:
                parts.append(WordPart("text", run.group(), True))
                self._at = run.end()
                continue
            char = self._text[self._at]
            if char == '"':
                self._at += 1
                return
            if char == "$":
                parts.append(self._dollar(quoted=True))
            elif char == "`":
                parts.append(self._backquoted(quoted=True))
            else:
                escaped = self._text[self._at + 1 : self._at + 2]
                if escaped != "\n":
                    parts.append(WordPart("text", escaped if escaped in '$`"\\' else "\\" + escaped, True))
                self._at += 2
        self._end(len(self._text), start)

    def _dollar(self, quoted: bool) -> WordPart:
        following = self._text[self._at + 1 : self._at + 2]
        if following == "(":
            self._at += 1
            return self._substitution(quoted)
        if following == "{":
            start = self._at
            end = closing(self._text, start + 2, "}")
            self._end(end, start)
            return _braced(self._text[start + 2 : end], quoted)
        if following in ("'", '"') and following and not quoted:
            self._at += 1
            if following == "'":
                return self._single()
            return WordPart("text", "", True)  # $"…": the string follows
        name = _NAME.match(self._text, self._at + 1)
        if name is None:
            self._at += 1
            return WordPart("text", "$", quoted)
        self._at = name.end()
        return WordPart("var", name.group(), quoted)

    def _substitution(self, quoted: bool) -> WordPart:
        """``(…)`` of a command substitution, or ``((…))`` of an arithmetic one."""
        start = self._at
        end = closing(self._text, start + 1, ")")
        self._end(end, start)
        inner = self._text[start + 1 : end]
        if inner.startswith("(") and inner.endswith(")"):
            return WordPart("unknown", inner, quoted)
        return WordPart("code", inner, quoted, start + 1)

    def _backquoted(self, quoted: bool) -> WordPart:
        start = self._at
        end = _backquote(self._text, start + 1)
        self._end(end, start)
        return WordPart("code", self._text[start + 1 : end], quoted, start + 1)

    def _array(self) -> WordPart:
        start = self._at
        end = closing(self._text, start + 1, ")")
        self._end(end, start)
        return WordPart("array", self._text[start + 1 : end], False, start + 1)


@lru_cache(maxsize=4096)
def _remembered_line(line: str) -> ShellLine | tuple[Word | ShellOperator, ...] | None:
    """The tokens of a line, combined if none needs a place of its own; None if they may depend on neighbouring lines. A
    backslash at its end is left to the caller."""
    continued = line.endswith("\\")
    if "<<" in line or (continued and ("#" in line or not line.endswith((" \\", "\t\\")))):
        return None
    lexer = Lexer(line[:-1] if continued else line, remember=False)
    tokens = tuple([token for token in lexer.tokens() if not isinstance(token, ShellLine)])
    if not tokens or lexer.broken is not None:
        return None
    words = tuple([token for token in tokens if isinstance(token, Word)])
    if continued or len(words) < len(tokens) or words[0].literal in KEYWORDS:
        return tokens
    for word in words:
        if word.literal is None and any(part.start for part in word.parts):
            return tokens
    return ShellLine(words, ShellOperator("\n", len(line)))


@lru_cache(maxsize=4096)
def _remembered(written: str) -> Word | None:
    """The word with this spelling, None if it is not entirely a word; cached because launchers repeat themselves."""
    if _PLAIN.fullmatch(written):
        return word_of((WordPart("text", written),), 0, len(written))
    lexer = Lexer(written)
    word = lexer.word()
    return word if word.end == len(written) and lexer.broken is None else None


def _braced(inner: str, quoted: bool) -> WordPart:
    match = _BRACED.fullmatch(inner)
    if match is None:
        name = _NAME.match(inner.lstrip("!#"))
        return WordPart("unknown", name.group() if name else "", quoted)
    one_word = quoted and match.group("all") != "[@]"  # "${list[@]}" stays several words
    return WordPart("var", match.group("name"), one_word, 0, match.group("default"))


def _merged(parts: list[WordPart]) -> tuple[WordPart, ...]:
    """Merge adjacent unquoted text (a line continuation may have split it)."""
    merged: list[WordPart] = []
    for part in parts:
        last = merged[-1] if merged else None
        if last and last.kind == part.kind == "text" and last.quoted == part.quoted:
            merged[-1] = WordPart("text", last.text + part.text, part.quoted)
        else:
            merged.append(part)
    return tuple(merged)
