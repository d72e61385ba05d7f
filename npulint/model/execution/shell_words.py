"""What the words of a launcher expand to, and in which folder its commands are executed, as far as that is sure."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Final, NamedTuple

from npulint.core.lazy_regex import lazy_compile
from npulint.model.execution.shell_variables import (
    Changes,
    Subshells,
    flags_of,
    is_before_all,
    leading_assignments,
    sets_plainly,
)
from npulint.read.shell.commands import ParsedCommand, Parser
from npulint.read.shell.lex import Lexer
from npulint.read.shell.tokens import ShellLine, ShellOperator, Token, Word, WordPart
from npulint.read.shell.values import HOLE, ExpandedArgument

ROOT: Final = "\x01"
"""Stands in texts for the absolute path of the project's root."""
OUTER_PATH: Final = "\x02"
"""Stands in texts for what PYTHONPATH is before the launcher sets it."""
_MARKS: Final = (HOLE, ROOT, OUTER_PATH)

_MOVES: Final = frozenset(("cd", "pushd", "popd"))
_SCRIPT = r"\"?\$(?:0|\{0\}|\{?BASH_SOURCE(?:\[0\]\})?)\"?"
_FOLDER = lazy_compile(rf"\s*dirname\s+(?:--\s+)?{_SCRIPT}\s*")
_WHOLE_FOLDER = lazy_compile(
    rf"\s*cd\s+(?:-P\s+)?(?:--\s+)?\"?(?:\$\(\s*dirname\s+(?:--\s+)?{_SCRIPT}\s*\)|`\s*dirname\s+{_SCRIPT}\s*`)"
    r"(?P<rest>/[\w./-]*)?\"?\s*(?:>\s*/dev/null\s+(?:2>&1\s+)?)?(?:&&|;)\s*pwd(?:\s+-P)?\s*"
)
_BRACES = lazy_compile(r"\{[^{}]*(?:,|\.\.)[^{}]*\}")
_PATTERN = lazy_compile(r"[*?\[]")
_DEPTH: Final = 12  # variables within the values of variables
_LONGEST: Final = 4_000  # characters of a value; doubling assignments would grow without limit
_MOST_MOVES: Final = 60  # changes of the working folder that are followed
_MOST_EXPORTS: Final = 100


class Field(NamedTuple):
    """One argument of a command; with `is_several`, any number of arguments."""

    argument: ExpandedArgument
    is_several: bool

    @property
    def known(self) -> str | None:
        """Its text; None if any part of it is unknown."""
        text = self.argument.text
        return None if self.is_several or any(mark in text for mark in _MARKS) else text


class ShellText:
    """A script of the shell: its commands, and what their words expand to.

    `folder` is that of the script below the project's root. Without `has_variables` no variable has a known value, and
    quotes do not keep a word together, as in a Makefile, whose variables are pasted into the text. With
    `is_folder_known` it is executed in the root."""

    def __init__(self, text: str, folder: str, has_variables: bool = True, is_folder_known: bool = True) -> None:
        self._text, self._folder, self._has_variables = text, folder, has_variables
        lexer = Lexer(text)
        tokens = list(_flat(lexer.tokens()))
        self.is_broken = lexer.broken is not None
        parser = Parser()
        self.commands = parser.parse(tokens)
        self.functions = parser.functions
        self._subshells = Subshells(tokens)
        self._changes = Changes(self.commands, self.functions, self._subshells, tokens)
        self._assigned: dict[int, str] = {}  # texts of assignments by their offset
        self._moves = [command for command in self.commands if _changes_folder(command)]
        self._is_folder_known = is_folder_known and self._subshells.are_clear and len(self._moves) <= _MOST_MOVES

    def of_text(self, text: str) -> ShellText:
        """A script that this one executes as a text."""
        return ShellText(text, self._folder, self._has_variables, self._is_folder_known)

    # -- values

    def value(self, name: str, start: int, command: ParsedCommand, depth: int = 0) -> str | None:
        """The text of a variable where it is used; None if the launcher surely does not set it before."""
        if not self._has_variables or not self._changes.are_clear or depth > _DEPTH:
            return HOLE
        is_known, change = self._changes.deciding(name, start, command)
        if not is_known:
            return HOLE
        if change is None:
            return None
        assert change.value is not None
        return self._text_assigned(change.value, change.command, depth)

    def _text_assigned(self, word: Word, command: ParsedCommand, depth: int) -> str:
        """What an assignment sets, marks for what is unknown."""
        assert word.to is not None
        if word.start not in self._assigned:
            texts = [word.to.rest, *(self._part(part, word, command, depth + 1) for part in word.parts[1:])]
            is_known = not word.to.rest.startswith("~") and not self._has_escapes(word)
            self._assigned[word.start] = _capped("".join(texts)) if is_known else HOLE
        return self._assigned[word.start]

    def assignments(self, command: ParsedCommand) -> dict[str, str]:
        """The variables that are set for a command alone, marks for what is unknown."""
        words = command.words[: leading_assignments(command.words)]
        return {
            word.to.name: HOLE if word.to.plus or word.to.index else self._text_assigned(word, command, 0)
            for word in words
            if word.to is not None
        }

    def exported(self, command: ParsedCommand) -> dict[str, str]:
        """The variables that programs of a command see as the launcher sets them, marks for what is unknown."""
        start = command.words[0].start
        sure: dict[str, str] = {}
        doubtful: dict[str, str] = {}
        for export, words in self._exports:
            is_sure = export.words[0].start < start and is_before_all(export, command)
            is_sure = is_sure and sets_plainly(flags_of(words)) and len(self._exports) <= _MOST_EXPORTS
            for word in words:
                name = word.to.name if word.to is not None else word.literal or ""
                if is_sure and self._subshells.share(word.start, start):
                    value = self.value(name, start, command)
                    sure[name] = HOLE if value is None else value
                else:
                    doubtful[name] = HOLE
        return {**sure, **doubtful}

    @cached_property
    def _exports(self) -> list[tuple[ParsedCommand, Sequence[Word]]]:
        """The commands that export variables, with what follows their name."""
        exports: list[tuple[ParsedCommand, Sequence[Word]]] = []
        for command in self.commands:
            words = command.words[leading_assignments(command.words) :]
            head = words[0].literal if words else ""
            declares = head in ("declare", "typeset", "local") and "x" in flags_of(words[1:2])
            if head in ("export", "ENV") or declares:
                exports.append((command, words[1:]))
        return exports

    # -- words

    def fields(self, words: Sequence[Word], command: ParsedCommand) -> list[Field]:
        """The arguments that words expand to."""
        return [field for word in words for field in self._fields_of(word, command)]

    def _fields_of(self, word: Word, command: ParsedCommand) -> list[Field]:
        pieces = [""]
        is_solid = is_several = False
        for part in word.parts:
            text = self._part(part, word, command)
            is_solid = is_solid or part.quoted or (part.kind == "text" and bool(text))
            is_several = is_several or self._may_be_several(part, text)
            if part.kind == "var" and not part.quoted and re.search(r"\s", text):
                head, *rest = re.split(r"\s+", text)
                pieces[-1] += head
                pieces += rest
            else:
                pieces[-1] = _capped(pieces[-1] + text)
        if self._has_escapes(word) or (word.parts and _is_home(word.parts[0])):
            pieces = [HOLE]
        is_several = is_several or _is_pattern(word)
        made = [Field(ExpandedArgument(piece, False, word), is_several) for piece in pieces if piece]
        return made or ([Field(ExpandedArgument("", False, word), is_several)] if is_solid or is_several else [])

    def _has_escapes(self, word: Word) -> bool:
        """Whether a word has quotes whose content is not what it says: ``$'a\\tb'``."""
        written = self._text[word.start : word.end]
        return "$'" in written or '$"' in written

    def _may_be_several(self, part: WordPart, text: str) -> bool:
        """Whether a piece of a word may make several words of it."""
        if part.kind == "text":
            return False
        if part.kind == "array":
            return True
        if part.kind == "unknown":
            return not part.text.startswith("(")
        if part.kind == "var" and ("@" in (part.text, part.default) or "@" in (part.default or "")):
            return True
        if not self._has_variables and part.kind == "var":
            return True
        return not part.quoted and (HOLE in text or _PATTERN.search(text) is not None)

    def _part(self, part: WordPart, word: Word, command: ParsedCommand, depth: int = 0) -> str:
        """The text of a piece of a word, marks for what is unknown."""
        if part.kind == "text":
            return part.text
        if part.kind == "code":
            return self._substituted(part.text, command)
        if part.kind != "var":
            return HOLE
        value = self.value(part.text, word.start, command, depth)
        if part.text == "PYTHONPATH" and value is None and not part.default:
            return OUTER_PATH
        if part.default is not None:
            return HOLE
        if part.text == "PWD" and value is None:
            return self._here(command)
        return HOLE if value is None else value

    def _substituted(self, code: str, command: ParsedCommand) -> str:
        if len(code) > _LONGEST:
            return HOLE
        if code.strip() == "pwd":
            return self._here(command)
        match = _WHOLE_FOLDER.fullmatch(code)
        if match is not None or (_FOLDER.fullmatch(code) and self.folder(command) == ""):
            rest = match["rest"] if match is not None else ""
            return posixpath.join(ROOT, self._folder) + (rest or "")
        return HOLE

    # -- the working folder

    def _here(self, command: ParsedCommand) -> str:
        folder = self.folder(command)
        return HOLE if folder is None else posixpath.join(ROOT, folder)

    def folder(self, command: ParsedCommand) -> str | None:
        """The working folder below the project's root in which a command is executed; None if it is unknown."""
        if not self._is_folder_known:
            return None
        here: str | None = ""
        start = command.words[0].start
        for move in self._moves:
            offset = move.words[0].start
            if offset == start or not self._subshells.share(offset, start):
                continue
            if offset > start:
                if move.function or command.function or (move.loop and move.loop == command.loop):
                    return None
                continue
            if here is None or move.loop or not is_before_all(move, command):
                return None
            here = self._entered(move, here)
        return here

    def _entered(self, move: ParsedCommand, here: str) -> str | None:
        """The folder after a change of it; None if it is unknown."""
        if move.words[0].literal not in ("cd", "pushd") or len(move.words) != 2:
            return None
        fields = self._fields_of(move.words[1], move)
        return inside_project(fields[0].argument.text, here) if len(fields) == 1 else None


def inside_project(text: str, here: str) -> str | None:
    """The path below the project's root that a text of the shell means in a working folder; None if it is unknown
    or outside."""
    if text.startswith(ROOT):
        here, text = "", text[1:].lstrip("/")
    if any(mark in text for mark in _MARKS) or text.startswith(("/", "-", "~")):
        return None
    path = posixpath.normpath(posixpath.join(here, text))
    return None if path == ".." or path.startswith("../") else "" if path == "." else path


def _changes_folder(command: ParsedCommand) -> bool:
    return bool(_MOVES & {word.literal for word in command.words[:2]})


def _capped(text: str) -> str:
    return text if len(text) <= _LONGEST else HOLE


def _is_home(part: WordPart) -> bool:
    return part.kind == "text" and not part.quoted and part.text.startswith("~")


def _is_pattern(word: Word) -> bool:
    """Whether the names of files, or alternatives in braces, take the place of a word. No file is called as an option
    is written, so that ``--devices=[0,1]`` stays."""
    text = "".join(part.text for part in word.parts if part.kind == "text" and not part.quoted)
    if len(text) > _LONGEST:
        return True
    if _BRACES.search(text):
        return True
    pattern = _PATTERN.search(text)
    return pattern is not None and not text.startswith("-") and "=" not in text[: pattern.start()]


def _flat(tokens: Sequence[Token]) -> Iterator[Word | ShellOperator]:
    for token in tokens:
        if isinstance(token, ShellLine):
            yield from token.words
            yield token.end
        else:
            yield token
