"""Evaluates shell words statically.

A value is text in which `HOLE` represents every part that is unknown before the run. Nothing is executed: a variable
has a value if the assignment that reaches its use is plain text."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Sequence

import msgspec

from npulint.core.lazy_regex import lazy_compile
from npulint.read.shell.commands import ParsedCommand
from npulint.read.shell.lex import Lexer
from npulint.read.shell.tokens import Word, WordPart, word_of

HOLE = "\0"
"""Represents unknown text inside a value; does not occur in readable scripts."""

_LONGEST = 4000  # characters of a value; doubling assignments would grow without limit
_FOLDER = "/"  # pseudo variable: the folder of the script
_MOST = 200  # assignments of one variable
_MENTIONED = lazy_compile(r"\$\{?[#!]?(\w+|[@*])")


class ExpandedArgument(msgspec.Struct, frozen=True):
    """A command's argument after expansion; `default`: the caller of the script may override it."""

    text: str
    default: bool
    word: Word

    @property
    def known(self) -> str | None:
        """Its text, or None if a part of it is unknown."""
        return None if HOLE in self.text else self.text


class _Assigned(msgspec.Struct, frozen=True):
    value: str
    default: bool
    by_caller: bool
    start: int
    command: ParsedCommand


class ShellAssignment(msgspec.Struct, frozen=True):
    """``name=value`` before a command or in ``export``."""

    name: str
    value: ExpandedArgument


class Variables:
    """The assignments of a script in text order; evaluates uses of variables."""

    def __init__(self) -> None:
        self._assigned: dict[str, list[_Assigned]] = {}
        self._caller_names = {"OPTARG"}  # loop variables over the script's own arguments

    def assign(self, word: Word, command: ParsedCommand) -> None:
        """Record the assignment in `word`, if it is one."""
        assignment = self.assignment(word, command)
        if assignment is not None:
            self._record(assignment.name, assignment.value.text, assignment.value.default, word, command)

    def assignment(self, word: Word, command: ParsedCommand) -> ShellAssignment | None:
        """The assignment in `word`, or None."""
        to = word.to
        if to is None:
            return None
        if word.literal is not None and not to.index and not to.plus:
            return ShellAssignment(to.name, ExpandedArgument(_capped(to.rest), False, word))
        text, default = self._joined(to.rest, word, command)
        if to.index:
            text = HOLE
        elif to.plus:
            before, by_default = self.value(to.name, command, word.start)
            glue = " " if any(part.kind == "array" for part in word.parts) else ""
            text, default = _capped(before + glue + text), default or by_default
        return ShellAssignment(to.name, ExpandedArgument(text, default, word))

    def computed(self, name: str, word: Word, command: ParsedCommand, by_caller: bool = False) -> None:
        """Record that a loop, ``read`` or similar assigns `name`."""
        if by_caller:
            self._caller_names.add(name)
        self._record(name, HOLE, False, word, command)

    def enter(self, words: Sequence[Word], command: ParsedCommand) -> None:
        """Record that ``cd`` or similar changes the folder."""
        arguments = [field.text for field in self.fields(words[1:2], command)]
        before = self._here(command, words[0].start)
        is_folder = words[0].literal != "popd" and len(words) == 2 and arguments and arguments[0] != "-"
        self._record(
            _FOLDER, _capped(posixpath.join(before, arguments[0])) if is_folder else HOLE, False, words[0], command
        )

    def _here(self, command: ParsedCommand, start: int) -> str:
        return self.value(_FOLDER, command, start)[0] if _FOLDER in self._assigned else ""

    def folder(self, command: ParsedCommand, start: int) -> str:
        """The working directory of `command`, as written in ``cd``; ``*`` for computed parts."""
        return self._here(command, start).replace(HOLE, "*")

    def from_caller(self, word: Word) -> bool:
        """Whether the word depends on the arguments of the script."""
        if word.literal is not None:
            return False
        for part in word.parts:
            if part.kind == "text":
                continue
            names = [part.text] if part.kind in ("var", "unknown") else []
            names += _MENTIONED.findall(part.text) if part.kind in ("code", "unknown", "array") else []
            if any(name in self._caller_names or name in "@*" or name.isdigit() for name in names if name):
                return True
        return False

    def _record(self, name: str, value: str, default: bool, word: Word, command: ParsedCommand) -> None:
        entry = _Assigned(value, default, self.from_caller(word), word.start, command)
        self._assigned.setdefault(name, []).append(entry)

    def known(self, name: str) -> bool:
        """Whether the script has assigned `name` so far."""
        return name in self._assigned

    def value(self, name: str, command: ParsedCommand, start: int) -> tuple[str, bool]:
        """The value of a variable used in `command` at offset `start`, and whether it is only a default."""
        base: _Assigned | None = None
        others: list[_Assigned] = []
        entries = self._assigned.get(name, [])
        for entry in entries if len(entries) <= _MOST else ():
            here = entry.command
            elsewhere = here.function not in ("", command.function)
            if entry.start >= start and not elsewhere and not (here.loop and here.loop == command.loop):
                continue
            if entry.start < start and not elsewhere and here.path == command.path[: len(here.path)]:
                base, others = entry, []
            else:
                others.append(entry)
        if base is None:
            return HOLE, False
        default = base.default
        for other in others:
            if other.value != base.value:
                if not (other.by_caller and HOLE in other.value and base.value):
                    return HOLE, False
                default = True
        return base.value, default

    def fields(self, words: Sequence[Word], command: ParsedCommand) -> list[ExpandedArgument]:
        """The arguments that `words` expand to: unquoted values are split at blanks, as in the shell."""
        fields: list[ExpandedArgument] = []
        for word in words:
            if word.literal:
                fields.append(ExpandedArgument(_capped(word.literal), False, word))
            else:
                fields += self._split(word, command)
        return fields

    def _split(self, word: Word, command: ParsedCommand) -> list[ExpandedArgument]:
        if len(word.parts) == 1 and word.parts[0].kind == "text":
            text, quoted = word.parts[0].text, word.parts[0].quoted
            return [ExpandedArgument(_capped(text), False, word)] if text or quoted else []
        pieces = [""]
        default, solid = False, False
        for part in word.parts:
            text, is_default = self._part(part, word, command)
            default = default or is_default
            solid = solid or part.quoted or (part.kind == "text" and bool(text))
            if part.kind == "var" and not part.quoted and re.search(r"\s", text):
                head, *rest = re.split(r"\s+", text)
                pieces[-1] += head
                pieces += rest
            else:
                pieces[-1] = _capped(pieces[-1] + text)
        expanded_arguments = [ExpandedArgument(piece, default, word) for piece in pieces if piece]
        return expanded_arguments or ([ExpandedArgument("", default, word)] if solid else [])

    def _joined(self, first: str, word: Word, command: ParsedCommand) -> tuple[str, bool]:
        """The text of `first` and the remaining pieces of `word`, and whether a default is in it."""
        texts, default = [first], False
        for part in word.parts[1:]:
            text, is_default = self._part(part, word, command)
            texts.append(text)
            default = default or is_default
        return _capped("".join(texts)), default

    def _part(self, part: WordPart, word: Word, command: ParsedCommand) -> tuple[str, bool]:
        if part.kind == "text":
            return part.text, False
        if part.kind == "array":
            return self._array(part.text, word, command), False
        if part.kind != "var":
            return HOLE, False
        value, default = HOLE, False
        if part.text in self._assigned:
            value, default = self.value(part.text, command, word.start)
        elif part.default is not None and not re.search(r"[$`\"'\\]", part.default):
            value, default = part.default, True
        return value, default

    def _array(self, text: str, word: Word, command: ParsedCommand) -> str:
        """The elements of ``(…)`` separated by blanks; an element cannot contain another array."""
        if len(text) > _LONGEST:
            return HOLE
        expanded_arguments = []
        for token in Lexer(text, remember=False).tokens():
            if isinstance(token, Word):
                parts = tuple(part for part in token.parts if part.kind != "array")
                expanded_arguments += self._split(word_of(parts, word.start, word.end), command)
        return _capped(" ".join(field.text for field in expanded_arguments))


def _capped(text: str) -> str:
    return text if len(text) <= _LONGEST else HOLE


# The number of iterations of shell loops, by their headers.

_BRACES = lazy_compile(r"\{(-?\d+)\.\.(-?\d+)\}")
_SEQUENCE = lazy_compile(r"\s*seq(?:\s+(-?\d+))?\s+(-?\d+)\s*")
_COUNTED = lazy_compile(r"\(*\s*\w+\s*=\s*(\$?\w+)\s*;\s*\w+\s*(<=?)\s*(\$?\w+)\s*;\s*(?:\w+\+\+|\+\+\w+)\s*\)*")
_MOST_LOOPS = 4096


def rounds(header: ParsedCommand, text: str, variables: Variables) -> int:
    """The iterations of the for loop that `header`, written `text`, begins; 0 if unknown."""
    counted = _COUNTED.search(text)
    if counted is not None:
        first, last = (_number(word, header, variables) for word in counted.group(1, 3))
        return 0 if first is None or last is None else _within(last - first + (counted[2] == "<="))
    words = header.words
    if len(words) < 4 or words[2].literal != "in":
        return 0
    if len(words) == 4:
        literal = words[3].literal or ""
        code = words[3].parts[0].text if len(words[3].parts) == 1 and words[3].parts[0].kind == "code" else ""
        match = _BRACES.fullmatch(literal) or _SEQUENCE.fullmatch(code)
        if match:
            return _within(int(match[2]) - int(match[1] or 1) + 1)
    fields = variables.fields(words[3:], header)
    return 0 if any(HOLE in field.text or "{" in field.text for field in fields) else _within(len(fields))


def _number(word: str, header: ParsedCommand, variables: Variables) -> int | None:
    text = word
    if not word.isdigit():
        text, _ = variables.value(word.removeprefix("$"), header, header.words[0].start)
    return int(text) if text.isdigit() else None


def _within(count: int) -> int:
    return count if 0 < count <= _MOST_LOOPS else 0
