"""Parses shell tokens to simple commands with their context (condition, loop, function)."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from npulint.read.shell.tokens import REDIRECTIONS, ShellOperator, Token, Word

_CLOSERS = {"fi": "if", "done": "loop", "esac": "case", "}": "group"}
_DEPTH = 200
_TESTS = frozenset(("[", "[[", "test", "false", "which", "type", "hash"))
_LEAVING = frozenset(("break", "exit", "return"))
_PASSED = frozenset(("!", "time", "then", "else", "elif", "do"))


class ParsedCommand(msgspec.Struct, frozen=True):
    """One simple command. `path` numbers the branches and loops around it, outermost first (a command in one of them
    precedes those that follow it there); `guarded`: there is one in its function; `loop` is the number of the outermost
    loop (0: none); `function` is the enclosing function. The header of a for loop is a command whose first word is
    ``for``. `awaited`: an ``until`` loop repeats it until it succeeds, and nothing else ends the loop."""

    words: tuple[Word, ...]
    path: tuple[int, ...]
    guarded: bool
    loop: int
    function: str
    awaited: bool = False


class _Open:
    """An open construct; `branch` numbers its current branch, a condition has none (0). `first` and `body` are the
    numbers of its first command and of the first one of its body; `waits`: it runs until its condition succeeds."""

    def __init__(self, kind: str, branch: int = 0, name: str = "", first: int = 0, waits: bool = False) -> None:
        self.kind, self.branch, self.name, self.first, self.waits = kind, branch, name, first, waits
        self.body = first


class Parser:
    """Tracks the constructs of a script; never fails, unmatched tokens are ignored."""

    def __init__(self) -> None:
        self.commands: list[ParsedCommand] = []
        self.functions: set[str] = set()
        self._open: list[_Open] = []
        self._words: list[Word] = []
        self._mode = ""  # "", for, case, pattern, test, function
        self._redirected = False
        self._guard = False
        self._test = False
        self._joined = False
        self._known: tuple[tuple[int, ...], bool, int, str] | None = None
        self._branches = 0
        self._function = ""

    def parse(self, tokens: Iterable[Token]) -> list[ParsedCommand]:
        """The commands of `tokens`, in text order."""
        for token in tokens:
            if isinstance(token, Word):
                self._word(token)
            elif isinstance(token, ShellOperator):
                self._operator(token)
            elif self._words or self._mode or self._redirected or self._joined:
                for word in token.words:
                    self._word(word)
                self._operator(token.end)
            else:
                self.commands.append(ParsedCommand(token.words, *self._context()))
                self._guard = self._test = False
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
        """Whether the first word of a command is a keyword."""
        if literal in ("if", "while", "until"):
            self._begin("if" if literal == "if" else "loop", waits=literal == "until")
        elif literal in ("for", "select"):
            self._begin("loop")
            self._mode = "for"
            self._words.append(word)
        elif literal == "case":
            self._begin("case", self._number())
            self._mode = "case"
        elif literal == "function":
            self._mode = "function"
        elif literal == "{":
            self._begin("group")
        elif literal in _CLOSERS:
            self._close(_CLOSERS[literal])
        elif literal in _PASSED:
            if literal in ("then", "do", "else", "elif"):
                self._activate()
            elif literal == "!" and self._in_header():
                self._open[-1].waits = not self._open[-1].waits
        else:
            if literal == "[[":
                self._mode = "test"
            return False
        return True

    def _operator(self, operator: ShellOperator) -> None:
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
            self._next_clause()
        else:
            self._separator(text)

    def _separator(self, text: str) -> None:
        if text == "\n" and not self._words and self._joined:
            return  # the list continues on the next line
        self._joined = text in ("&&", "||", "|", "|&")
        test = self._test or _is_test(self._words)
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
            self._begin("subshell")
        elif self._function and not self._words:
            return  # function name ( )
        else:
            self._flush()
            self._begin("subshell")

    def _function_header(self) -> bool:
        """Whether a closing parenthesis ends ``name ()``."""
        return bool(self._function) and not self._words

    def _number(self) -> int:
        self._branches += 1
        return self._branches

    def _begin(self, kind: str, branch: int = 0, waits: bool = False) -> None:
        if len(self._open) >= _DEPTH:
            return
        name = ""
        if kind in ("group", "subshell"):
            name, self._function = self._function, ""
            self.functions.add(name)
        self._known = None
        self._open.append(_Open(kind, branch, name, len(self.commands), waits))

    def _in_header(self) -> bool:
        """Whether the next command is the first one of a loop's condition."""
        last = self._open[-1] if self._open else None
        return last is not None and last.kind == "loop" and not last.branch and last.first == len(self.commands)

    def _activate(self) -> None:
        for open_ in reversed(self._open):
            if open_.kind in ("if", "loop"):
                open_.branch = self._number()
                open_.body = len(self.commands)
                self._known = None
                return

    def _next_clause(self) -> None:
        for open_ in reversed(self._open):
            if open_.kind == "case":
                open_.branch = self._number()
                self._known = None
                self._mode = "pattern"
                return

    def _close(self, kind: str) -> None:
        self._mode = ""
        for index in range(len(self._open) - 1, -1, -1):
            if self._open[index].kind == kind:
                self._await(self._open[index])
                del self._open[index:]
                self._known = None
                return

    def _await(self, closed: _Open) -> None:
        """Mark the commands that a loop repeats until they succeed, if nothing in its body leaves it."""
        if not closed.waits or any(command.words[0].literal in _LEAVING for command in self.commands[closed.body :]):
            return
        for number in range(closed.first, closed.body):
            self.commands[number] = msgspec.structs.replace(self.commands[number], awaited=True)

    def _flush(self) -> None:
        if self._words:
            path, guarded, loop, function = self._context()
            if self._guard:
                path, guarded = (*path, self._number()), True
            self.commands.append(ParsedCommand(tuple(self._words), path, guarded, loop, function))
        self._words = []
        if self._mode in ("for", "test"):
            self._mode = ""

    def _context(self) -> tuple[tuple[int, ...], bool, int, str]:
        """(path, guarded, loop, function) of the current position; computed once per construct."""
        if self._known is None:
            path = tuple([open_.branch for open_ in self._open if open_.branch])
            names = [index for index, open_ in enumerate(self._open) if open_.name]
            own = self._open[names[-1] + 1 :] if names else self._open
            loop = next((open_.branch for open_ in self._open if open_.kind == "loop"), 0)
            function = self._open[names[-1]].name if names else ""
            self._known = (path, any(open_.branch for open_ in own), loop, function)
        return self._known


def _is_test(words: list[Word]) -> bool:
    """Whether a command only tests something: what ``&&`` joins to it runs in some cases only. One that looks a program
    up, as ``command -v`` does, tests whether it is installed."""
    literals = [word.literal for word in words[:2]]
    return literals in (["command", "-v"], ["command", "-V"]) or (bool(literals) and literals[0] in _TESTS)
