"""Which assignment of a launcher surely decides the value of a variable: only one that nothing else can undo counts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from npulint.core.lazy_regex import lazy_compile
from npulint.read.shell.commands import ParsedCommand
from npulint.read.shell.tokens import ShellOperator, Word
from npulint.read.shell_script import DECLARES

_ANY_VARIABLE: Final = frozenset(("source", ".", "eval", "alias"))  # commands that may set any variable
_OF_NAMES: Final = frozenset("read mapfile readarray getopts let unset printf".split())
_LOOPS: Final = ("for", "select")
_PLAIN_FLAGS: Final = frozenset("-xrg")  # of declarations that set what is written
_MOST_COMMANDS: Final = 1_000
_MOST_SUBSHELLS: Final = 200
_NAME = lazy_compile(r"[A-Za-z_]\w*")
_ARITHMETIC_CHANGE = lazy_compile(r"\+\+|--|(?<![=!<>])=(?!=)")

Tokens = Sequence[Word | ShellOperator]


class Change(NamedTuple):
    """Something that sets a variable (any, if `name` is empty): to the text of `value`, or (None) to something
    unknown."""

    name: str
    start: int
    command: ParsedCommand
    value: Word | None


class Subshells:
    """The parts of a script that keep to themselves what they set."""

    def __init__(self, tokens: Tokens) -> None:
        self._spans: list[tuple[int, int]] = []
        opened: list[int] = []
        for token in tokens:
            if isinstance(token, ShellOperator) and token.text == "(":
                opened.append(token.start)
            elif isinstance(token, ShellOperator) and token.text == ")" and opened:
                self._spans.append((opened.pop(), token.start))
        has_cases = any(isinstance(token, Word) and token.literal == "case" for token in tokens)
        # Parentheses of `case` are those of no subshell, and are not told from the others.
        self.are_clear = len(self._spans) <= _MOST_SUBSHELLS and not (has_cases and self._spans)

    def share(self, change: int, use: int) -> bool:
        """Whether what is set at one offset is set at another."""
        return all(begin <= use < end for begin, end in self._spans if begin <= change < end)


class Changes:
    """Everything in a script that sets variables."""

    def __init__(
        self, commands: Sequence[ParsedCommand], functions: set[str], subshells: Subshells, tokens: Tokens
    ) -> None:
        self._functions, self._subshells = functions, subshells
        self._by_name: dict[str, list[Change]] = {}
        self.are_clear = len(commands) <= _MOST_COMMANDS and subshells.are_clear and not _sets_in_pipe(tokens)
        for command in commands if self.are_clear else ():
            for change in self._of(command):
                self._by_name.setdefault(change.name, []).append(change)

    def deciding(self, name: str, start: int, command: ParsedCommand) -> tuple[bool, Change | None]:
        """Whether it is known what sets a variable that is used at an offset, and the assignment (None: nothing)."""
        either = [*self._by_name.get(name, ()), *self._by_name.get("", ())]
        visible = [change for change in either if self._subshells.share(change.start, start)]
        function = command.function
        before = [change for change in visible if change.start < start]
        after = [change for change in visible if change.start >= start]
        if any(change.command.function not in ("", function) for change in visible):
            return False, None
        repeated = (change.command.loop and change.command.loop == command.loop for change in after)
        if after and (function or any(repeated)):
            return False, None
        if not before:
            return True, None
        last = max(before, key=lambda change: change.start)
        if function and not last.command.function and len(before) > 1:
            return False, None
        return last.value is not None and is_before_all(last.command, command), last

    # -- what sets variables

    def _of(self, command: ParsedCommand) -> Iterator[Change]:
        count = leading_assignments(command.words)
        rest = command.words[count:]
        head = rest[0].literal if rest else ""
        for word in command.words:
            yield from self._by_expansion(word, command)
        if not rest or head in self._functions:
            for word in command.words[:count]:
                yield _by_assignment(word, command, is_plain=not rest)
        elif head in DECLARES:
            yield from _by_declaration(rest, command)
        elif head in _OF_NAMES or head in _LOOPS or rest[0].parts[0].text.startswith("(("):
            for word in rest[1:2] if head in _LOOPS else rest:
                for name in _NAME.findall("".join(part.text for part in word.parts)):
                    yield Change(name, word.start, command, None)
        if _ANY_VARIABLE & {word.literal for word in rest[:3]} or _may_be_any_command(rest):
            yield Change("", command.words[0].start, command, None)

    def _by_expansion(self, word: Word, command: ParsedCommand) -> Iterator[Change]:
        """What the expansion of a word itself sets: ``${NAME:=text}``, ``$((NAME++))``."""
        for part in word.parts:
            if part.kind == "var" and part.default is not None and word.to is None:
                yield Change(part.text, word.start, command, None)
            elif part.kind == "unknown" and part.text.startswith("(") and _ARITHMETIC_CHANGE.search(part.text):
                for name in _NAME.findall(part.text):
                    yield Change(name, word.start, command, None)


def is_before_all(earlier: ParsedCommand, command: ParsedCommand) -> bool:
    """Whether a command is executed whenever another one, which follows it, is."""
    same_function = earlier.function in ("", command.function)
    return same_function and earlier.path == command.path[: len(earlier.path)]


def leading_assignments(words: Sequence[Word]) -> int:
    """The number of assignments that a command begins with."""
    return next((count for count, word in enumerate(words) if word.to is None), len(words))


def flags_of(words: Sequence[Word]) -> str:
    """The letters of the options among words that are plainly written."""
    return "".join(word.literal for word in words if word.literal and word.literal.startswith("-"))


def sets_plainly(flags: str) -> bool:
    """Whether a declaration with these flags sets what is written."""
    return not set(flags) - _PLAIN_FLAGS


def _by_assignment(word: Word, command: ParsedCommand, is_plain: bool) -> Change:
    assert word.to is not None
    if word.to.name == "IFS":  # how values are divided into words
        return Change("", word.start, command, None)
    is_plain = is_plain and not word.to.index and not word.to.plus
    return Change(word.to.name, word.start, command, word if is_plain else None)


def _by_declaration(words: Sequence[Word], command: ParsedCommand) -> Iterator[Change]:
    is_plain = sets_plainly(flags_of(words))
    for word in words[1:]:
        if word.to is not None:
            yield _by_assignment(word, command, is_plain)
        elif words[0].literal != "export" and word.literal:
            yield Change(word.literal, word.start, command, None)


def _may_be_any_command(words: Sequence[Word]) -> bool:
    """Whether the command itself is the value of a variable, and may be one that sets others."""
    if not words or words[0].literal is not None or words[0].parts[0].kind not in ("var", "code", "unknown"):
        return False
    return len(words) < 2 or not any(".py" in part.text for part in words[1].parts)


def _sets_in_pipe(tokens: Tokens) -> bool:
    """Whether a block is a part of a pipe or in the background, where what it sets is lost."""
    for token, following in pairwise(tokens):
        is_piped = isinstance(following, ShellOperator) and following.text in ("|", "|&", "&")
        if is_piped and isinstance(token, Word) and token.literal in ("}", "done", "fi", "esac"):
            return True
    return False
