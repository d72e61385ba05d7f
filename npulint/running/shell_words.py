"""What the words of a launcher surely expand to: a variable counts only where one plain assignment decides about it."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Final, NamedTuple

from npulint.lazy_regex import lazy_compile
from npulint.read.shell.commands import ParsedCommand, Parser
from npulint.read.shell.facts import DECLARES
from npulint.read.shell.lex import Lexer
from npulint.read.shell.tokens import ShellLine, ShellOperator, Token, Word, WordPart
from npulint.read.shell.values import HOLE, ExpandedArgument

ROOT: Final = "\x01"
"""Stands in texts for the absolute path of the project's root."""
OUTER_PATH: Final = "\x02"
"""Stands in texts for what PYTHONPATH is before the launcher sets it."""
_MARKS: Final = (HOLE, ROOT, OUTER_PATH)

_ANYTHING: Final = frozenset(("source", ".", "eval", "alias"))  # commands that may set any variable
_SETS_NAMES: Final = frozenset("read mapfile readarray getopts let unset printf".split())
_CHANGES_FOLDER: Final = frozenset(("cd", "pushd", "popd"))
_NAME = lazy_compile(r"[A-Za-z_]\w*")
_CHANGES = lazy_compile(r"\+\+|--|(?<![=!<>])=(?!=)")
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
_MOST: Final = 5_000  # commands of a script whose variables are followed
_MOST_FOLDERS: Final = 60  # changes of the working folder that are followed


class Field(NamedTuple):
    """One argument of a command; with `is_several`, any number of arguments."""

    argument: ExpandedArgument
    is_several: bool

    @property
    def known(self) -> str | None:
        """Its text; None if any part of it is not known."""
        text = self.argument.text
        return None if self.is_several or any(mark in text for mark in _MARKS) else text


class _Change(NamedTuple):
    """Something that sets a variable (any, if `name` is empty): to the text of a word, or to what is not known."""

    name: str
    start: int
    command: ParsedCommand
    value: Word | None


class ShellText:
    """A script of the shell: its commands, and what their words expand to.

    `folder` is that of the script below the project's root. Without `has_variables` no variable has a known value, and
    quotes do not keep a word together, as in a Makefile, whose variables are pasted into the text. With
    `is_folder_known` it is executed in the root."""

    def __init__(self, text: str, folder: str, has_variables: bool = True, is_folder_known: bool = True) -> None:
        self._text, self._folder, self._has_variables = text, folder, has_variables
        self._is_folder_known = is_folder_known
        lexer = Lexer(text)
        tokens = list(_flat(lexer.tokens()))
        self.is_broken = lexer.broken is not None
        parser = Parser()
        self.commands = parser.parse(tokens)
        self.functions = parser.functions
        self._subshells = list(_subshells(tokens))
        self._texts: dict[int, str] = {}  # of assignments, by their place
        self._changes: dict[str, list[_Change]] = {}
        self._folders = [one for one in self.commands if one.words[0].literal in _CHANGES_FOLDER]
        literals = (token.literal for token in tokens if isinstance(token, Word))
        if (self._subshells and "case" in literals) or _assigns_in_pipe(tokens) or len(self.commands) > _MOST:
            self._has_variables = False
        for command in self.commands if self._has_variables else ():
            for change in self._changes_of(command):
                self._changes.setdefault(change.name, []).append(change)

    def of_text(self, text: str) -> ShellText:
        """A script that this one executes as a text."""
        return ShellText(text, self._folder, self._has_variables, self._is_folder_known)

    # -- what changes variables

    def _changes_of(self, command: ParsedCommand) -> Iterator[_Change]:
        words = command.words
        count = leading_assignments(words)
        for word in words:
            yield from self._changes_within(word, command)
        rest = words[count:]
        head = rest[0].literal if rest else ""
        if not rest or head in self.functions:
            for word in words[:count]:
                yield self._assigned(word, command, is_plain=not rest)
        elif head in DECLARES:
            flags = "".join(word.literal or "" for word in rest if (word.literal or "").startswith("-"))
            for word in rest[1:]:
                if word.to is not None:
                    yield self._assigned(word, command, is_plain=not set(flags) - set("-xrg"))
                elif head != "export" and word.literal:
                    yield _Change(word.literal, word.start, command, None)
        elif head in _SETS_NAMES or head in ("for", "select") or rest[0].parts[0].text.startswith("(("):
            for word in rest[1:2] if head in ("for", "select") else rest:
                for name in _NAME.findall("".join(part.text for part in word.parts)):
                    yield _Change(name, word.start, command, None)
        if _ANYTHING & {word.literal for word in rest[:3]} or self._is_any_command(rest):
            yield _Change("", words[0].start, command, None)

    def _is_any_command(self, words: Sequence[Word]) -> bool:
        """Whether the command itself is the value of a variable, and may be one that sets others."""
        if not words or words[0].literal is not None or words[0].parts[0].kind not in ("var", "code", "unknown"):
            return False
        return len(words) < 2 or not any(".py" in part.text for part in words[1].parts)

    def _assigned(self, word: Word, command: ParsedCommand, is_plain: bool) -> _Change:
        assert word.to is not None
        is_plain = is_plain and not word.to.index and not word.to.plus and word.to.name != "IFS"
        return _Change("" if word.to.name == "IFS" else word.to.name, word.start, command, word if is_plain else None)

    def _changes_within(self, word: Word, command: ParsedCommand) -> Iterator[_Change]:
        """What the expansion of a word itself sets: ``${NAME:=text}``, ``$((NAME++))``."""
        for part in word.parts:
            if part.kind == "var" and part.default is not None and word.to is None:
                yield _Change(part.text, word.start, command, None)
            elif part.kind == "unknown" and part.text.startswith("(") and _CHANGES.search(part.text):
                for name in _NAME.findall(part.text):
                    yield _Change(name, word.start, command, None)

    # -- values

    def _deciding(self, name: str, start: int, command: ParsedCommand) -> tuple[bool, _Change | None]:
        """Whether it is known what a variable is at a place, and the assignment (None: none sets it)."""
        changes = sorted([*self._changes.get(name, ()), *self._changes.get("", ())], key=lambda one: one.start)
        relevant = [one for one in changes if self._is_visible(one.start, start)]
        function = command.function
        before = [one for one in relevant if one.start < start]
        after = [one for one in relevant if one.start >= start]
        if any(one.command.function not in ("", function) for one in relevant):
            return False, None
        if after and (function or any(one.command.loop and one.command.loop == command.loop for one in after)):
            return False, None
        if not before:
            return True, None
        last = before[-1]
        holds = last.command.path == command.path[: len(last.command.path)] and last.value is not None
        if function and not last.command.function and len(before) > 1:
            return False, None
        return holds, last

    def _is_visible(self, change: int, use: int) -> bool:
        """Whether what is set at one place is set at another: a subshell keeps it to itself."""
        return all(begin <= use < end for begin, end in self._subshells if begin <= change < end)

    def value(self, name: str, start: int, command: ParsedCommand, depth: int = 0) -> str | None:
        """The text of a variable where it is used; None if the launcher surely does not set it before."""
        if not self._has_variables or depth > _DEPTH:
            return HOLE
        is_known, change = self._deciding(name, start, command)
        if not is_known:
            return HOLE
        if change is None:
            return None
        word = change.value
        assert word is not None and word.to is not None
        return self._assigned_text(word, change.command, depth)

    def _assigned_text(self, word: Word, command: ParsedCommand, depth: int) -> str:
        """What an assignment sets, marks for what is not known."""
        assert word.to is not None
        if word.start not in self._texts:
            texts = [word.to.rest, *(self._part(part, word, command, depth + 1) for part in word.parts[1:])]
            is_known = not word.to.rest.startswith("~") and not self._has_escapes(word)
            self._texts[word.start] = _capped("".join(texts)) if is_known else HOLE
        return self._texts[word.start]

    def assignments(self, command: ParsedCommand) -> dict[str, str]:
        """The variables that are set for a command alone, marks for what is not known."""
        words = command.words[: leading_assignments(command.words)]
        return {
            word.to.name: HOLE if word.to.plus or word.to.index else self._assigned_text(word, command, 0)
            for word in words
            if word.to is not None
        }

    def exported(self, command: ParsedCommand) -> dict[str, str]:
        """The variables that programs of a command surely see as the launcher sets them; a mark where one is set that
        is not known."""
        found: dict[str, str] = {}
        doubtful: dict[str, str] = {}
        start = command.words[0].start
        for other, words in self._exports:
            flags = "".join(word.literal or "" for word in words if (word.literal or "").startswith("-"))
            for word in words:
                name = word.to.name if word.to is not None else word.literal or ""
                surely = other.words[0].start < start and other.path == command.path[: len(other.path)]
                surely = surely and other.function in ("", command.function) and self._is_visible(word.start, start)
                if not surely or set(flags) - set("-xrg"):
                    doubtful[name] = HOLE
                value = self.value(name, start, command)
                found[name] = HOLE if value is None else value
        return {**found, **doubtful}

    @cached_property
    def _exports(self) -> list[tuple[ParsedCommand, Sequence[Word]]]:
        """The commands that export variables, with what follows their name."""
        found: list[tuple[ParsedCommand, Sequence[Word]]] = []
        for command in self.commands:
            words = command.words[leading_assignments(command.words) :]
            head = words[0].literal if words else ""
            declares = head in ("declare", "typeset", "local") and "x" in (words[1].literal or "" if words[1:] else "")
            if head in ("export", "ENV") or declares:
                found.append((command, words[1:]))
        return found

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
        """The text of a piece of a word, marks for what is not known."""
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
        whole = _WHOLE_FOLDER.fullmatch(code)
        if whole is not None or (_FOLDER.fullmatch(code) and self.folder(command) == ""):
            rest = whole["rest"] if whole is not None else ""
            return posixpath.join(ROOT, self._folder) + (rest or "")
        return HOLE

    # -- the working folder

    def _here(self, command: ParsedCommand) -> str:
        folder = self.folder(command)
        return HOLE if folder is None else posixpath.join(ROOT, folder)

    def folder(self, command: ParsedCommand) -> str | None:
        """The working folder below the project's root in which a command is executed; None if it is not known."""
        if len(self._folders) > _MOST_FOLDERS or not self._is_folder_known:
            return None
        here: str | None = ""
        start = command.words[0].start
        for other in self._folders:
            at = other.words[0].start
            if at == start or not self._is_visible(at, start):
                continue
            if at >= start:
                if other.function or command.function or (other.loop and other.loop == command.loop):
                    return None
                continue
            surely = other.path == command.path[: len(other.path)] and other.function in ("", command.function)
            if not surely or here is None or (other.loop and not self._is_absolute(other)):
                return None
            here = self._entered(other, here)
        return here

    def _is_absolute(self, command: ParsedCommand) -> bool:
        return len(command.words) == 2 and "/" in (command.words[1].literal or "")[:1]

    def _entered(self, command: ParsedCommand, here: str) -> str | None:
        if command.words[0].literal == "popd" or len(command.words) != 2:
            return None
        fields = self._fields_of(command.words[1], command)
        if len(fields) != 1:
            return None
        return inside_project(fields[0].argument.text, here)


def inside_project(text: str, here: str) -> str | None:
    """The path below the project's root that a text of the shell means in a working folder; None if it is not known
    or outside."""
    if text.startswith(ROOT):
        here, text = "", text[1:].lstrip("/")
    if any(mark in text for mark in _MARKS) or text.startswith(("/", "-", "~")):
        return None
    path = posixpath.normpath(posixpath.join(here, text))
    return None if path == ".." or path.startswith("../") else "" if path == "." else path


def leading_assignments(words: Sequence[Word]) -> int:
    """The number of assignments that a command begins with."""
    return next((count for count, word in enumerate(words) if word.to is None), len(words))


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


def _subshells(tokens: Sequence[Word | ShellOperator]) -> Iterator[tuple[int, int]]:
    """Where subshells begin and end."""
    opened: list[int] = []
    for token in tokens:
        if isinstance(token, ShellOperator):
            if token.text == "(":
                opened.append(token.start)
            elif token.text == ")" and opened:
                yield opened.pop(), token.start


def _assigns_in_pipe(tokens: Sequence[Word | ShellOperator]) -> bool:
    """Whether a block or an assignment is a part of a pipe or in the background, where what it sets is lost."""
    for token, following in pairwise(tokens):
        is_piped = isinstance(following, ShellOperator) and following.text in ("|", "|&", "&")
        if is_piped and isinstance(token, Word) and token.literal in ("}", "done", "fi", "esac"):
            return True
    return False
