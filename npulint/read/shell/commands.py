"""Shell tokens to simple commands, each with what it stands in (condition, loop, function)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from npulint.read.shell.lex import REDIRECTIONS, Operator, Token, Word

_CLOSERS = {"fi": "if", "done": "loop", "esac": "case", "}": "group"}
_DEPTH = 200
_TESTS = frozenset(("[", "[[", "test", "false"))
_PASSED = frozenset(("!", "time", "then", "else", "elif", "do"))


class Command(NamedTuple):
    """One simple command. `guarded`: it stands in a branch, a loop, or behind a test; `loop` numbers
    the outermost loop around it (0: none); `function` names the function whose body holds it. A for
    loop's header is a command whose first word is ``for``."""

    words: tuple[Word, ...]
    guarded: bool
    loop: int
    function: str


class _Open:
    """A construct that has begun; a condition guards nothing until its ``then`` or ``do``."""

    def __init__(self, kind: str, active: bool, loop: int = 0, name: str = "") -> None:
        self.kind, self.active, self.loop, self.name = kind, active, loop, name


class Parser:
    """Follows the constructs of a script without ever failing: what does not match is passed over."""

    def __init__(self) -> None:
        self.commands: list[Command] = []
        self._open: list[_Open] = []
        self._words: list[Word] = []
        self._mode = ""  # "", for, case, pattern, test, function
        self._redirected = False
        self._guard = False
        self._test = False
        self._joined = False
        self._loops = 0
        self._function = ""

    def parse(self, tokens: Iterable[Token]) -> list[Command]:
        """The commands of `tokens`, in text order."""
        for token in tokens:
            if isinstance(token, Word):
                self._word(token)
            else:
                self._operator(token)
        self._flush()
        return self.commands

    def _word(self, word: Word) -> None:
        literal = word.literal
        if self._redirected:
            self._redirected = False
        elif self._mode == "pattern":
            if literal == "esac":
                self._close("case")
        elif self._mode == "case":
            if literal == "in":
                self._mode = "pattern"
        elif self._mode == "function":
            self._function, self._mode = literal or "?", ""
        elif self._words or self._mode == "for" or literal is None or not self._keyword(literal, word):
            self._words.append(word)
            if self._mode == "test" and literal == "]]":
                self._mode = ""
            elif self._mode == "for" and literal == "do":
                self._words.pop()
                self._flush()
                self._activate()

    def _keyword(self, literal: str, word: Word) -> bool:
        """Whether the first word of a command is one of the grammar's."""
        if literal in ("if", "while", "until"):
            self._begin("if" if literal == "if" else "loop", active=False)
        elif literal in ("for", "select"):
            self._begin("loop", active=False)
            self._mode = "for"
            self._words.append(word)
        elif literal == "case":
            self._begin("case", active=True)
            self._mode = "case"
        elif literal == "function":
            self._mode = "function"
        elif literal == "{":
            self._begin("group", active=False)
        elif literal in _CLOSERS:
            self._close(_CLOSERS[literal])
        elif literal in _PASSED:
            if literal in ("then", "do"):
                self._activate()
        else:
            if literal == "[[":
                self._mode = "test"
            return False
        return True

    def _operator(self, operator: Operator) -> None:
        text = operator.text
        if self._mode == "test" or (self._mode == "case" and text == "\n"):
            return
        if self._mode == "pattern":
            if text == ")":
                self._mode = ""
            return
        if text in REDIRECTIONS:
            if self._words and self._words[-1].end == operator.start and (self._words[-1].literal or "").isdigit():
                self._words.pop()  # the 2 of 2>
            self._redirected = True
            return
        self._redirected = False
        if text == "(":
            self._parenthesis()
        elif text == ")":
            if not self._function_header():
                self._flush()
                self._close("subshell")
        elif text.startswith(";;") or text == ";&":
            self._flush()
            if any(open_.kind == "case" for open_ in self._open):
                self._mode = "pattern"
        else:
            self._separator(text)

    def _separator(self, text: str) -> None:
        if text == "\n" and not self._words and self._joined:
            return  # the list goes on in the next line
        self._joined = text in ("&&", "||", "|", "|&")
        test = self._test or (bool(self._words) and self._words[0].literal in _TESTS)
        self._flush()
        if text in ("&&", "||"):
            self._guard = self._guard or test or text == "||"
            self._test = test
        elif text not in ("|", "|&"):
            self._guard = self._test = False

    def _parenthesis(self) -> None:
        if len(self._words) == 1 and self._words[0].literal and not self._function:
            self._function = self._words.pop().literal or "?"  # name ( ) …
            self._mode = ""
        elif not self._words and not self._function:
            self._begin("subshell", active=False)
        elif self._function and not self._words:
            return  # function name ( )
        else:
            self._flush()
            self._begin("subshell", active=False)

    def _function_header(self) -> bool:
        """Whether a closing parenthesis ends ``name ()``."""
        return bool(self._function) and not self._words

    def _begin(self, kind: str, active: bool) -> None:
        if len(self._open) >= _DEPTH:
            return
        loop = 0
        if kind == "loop":
            self._loops += 1
            loop = self._loops
        name, self._function = (self._function, "") if kind in ("group", "subshell") else ("", self._function)
        self._open.append(_Open(kind, active, loop, name))

    def _activate(self) -> None:
        for open_ in reversed(self._open):
            if open_.kind in ("if", "loop"):
                open_.active = True
                return

    def _close(self, kind: str) -> None:
        self._mode = ""
        for index in range(len(self._open) - 1, -1, -1):
            if self._open[index].kind == kind:
                del self._open[index:]
                return

    def _flush(self) -> None:
        if self._words:
            inside = self._open
            names = [open_.name for open_ in inside if open_.name]
            start = max((index for index, open_ in enumerate(inside) if open_.name), default=-1) + 1
            guarded = self._guard or any(open_.active for open_ in inside[start:])
            loop = next((open_.loop for open_ in inside if open_.loop), 0)
            self.commands.append(Command(tuple(self._words), guarded, loop, names[-1] if names else ""))
        self._words = []
        if self._mode in ("for", "test"):
            self._mode = ""
