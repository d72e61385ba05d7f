"""Reads one launcher script: environment, launches, commands, packages."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise

import msgspec

from npulint.core.lazy_regex import lazy_compile
from npulint.facts.model import Fact, Problem, Span
from npulint.read.containers.command import StartedContainers
from npulint.read.containers.facts import StartedContainer
from npulint.read.json_tree import Lines
from npulint.read.launcher_facts import (
    CommandStart,
    LaunchFact,
    ShellCommand,
    ShellProblem,
    StartedScript,
    VariableRecord,
    Via,
)
from npulint.read.shell.commands import ParsedCommand, Parser
from npulint.read.shell.installed_packages import CONDA, InstalledPackages
from npulint.read.shell.lex import Lexer
from npulint.read.shell.slurm import slurm_requests
from npulint.read.shell.started_programs import (
    BUILTINS,
    IDLE,
    ScriptStart,
    WrittenPlaces,
    basename,
    options,
    started,
)
from npulint.read.shell.tokens import Word, WordPart
from npulint.read.shell.values import HOLE, ExpandedArgument, Variables, rounds

DECLARES = frozenset(("export", "declare", "typeset", "local", "readonly", "ENV"))  # ENV: in Dockerfiles
_READS = frozenset(("read", "mapfile", "readarray", "let", "unset", "getopts"))
_SILENT = IDLE | _READS | {"for", "select", "[["}  # commands that give no facts
_NESTING = 8  # nested command substitutions
_LINE = 400  # characters of a command that are kept
# Most substitutions only extract a number from a log; those that start something contain one of these.
_TELLING = lazy_compile(r"python|nvidia|nvprof|nsys|nvcc|smi|mpi|run|pip|export|\bsh\b|\.sh")
_PLAIN = lazy_compile(
    r"^[ \t]*(?:(?:echo|grep|awk|cat|mkdir|cp|mv|rm|sleep|touch|chmod|ls|wc|date|printf)\b[^\"'\\`$<;&|\n]*"
    r"(?:\"[^\"\\`$\n]*\"[^\"'\\`$<;&|\n]*)?|#.*)$",
    re.MULTILINE,
)
_FIGURE = lazy_compile(r"=`[ \t]*(?:grep|awk|cat|tail|head|sort|wc)\b[^`\n]*`[ \t]*$", re.MULTILINE)
_VARIABLE = lazy_compile(r"[ \t]*\w+")
_NAME = lazy_compile(r"[A-Za-z_]\w*")
_EXPANSION = lazy_compile(r"\$\{?([A-Za-z_]\w*)")
# Variables that only a started program reads: they have no effect without export.
_FOR_OTHERS = lazy_compile(
    r"(?:ASCEND_(?:GLOBAL|SLOG|LAUNCH|RT|CACHE|WORK|PROCESS)|HCCL_|TORCH_(?:NPU|HCCL|TRANSFER|DEVICE)|PYTORCH_(?:NPU|NO_NPU)"
    r"|TASK_QUEUE|INF_NAN_MODE|COMBINED_ENABLE|MULTI_STREAM_|CPU_AFFINITY_CONF|ACLNN_|ACL_OP_)\w*"
)


def read_shell(text: str, path: str, via: Via = "shell") -> list[Fact]:
    """The facts of a shell script, in text order: those of `npulint.read.launcher_facts`, and of
    `npulint.read.packages` for what pip installs. `via` marks facts of other files with shell commands."""
    return read_script(text, path, via)[0]


def read_script(text: str, path: str, via: Via = "shell") -> tuple[list[Fact], list[Problem]]:
    """As `read_shell`, with a non-fatal `Problem` for an unterminated quote or bracket."""
    plain = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    facts, problems = _Reader(_thinned(plain), path, via).read()
    if problems:  # what looks like a comment may be the end of a text of several lines
        facts, problems = _Reader(plain, path, via).read()
    requests = list(slurm_requests(plain, path)) if via == "shell" else []
    if requests:
        facts = sorted([*facts, *requests], key=lambda fact: (fact.span.line, fact.span.column))
    return facts, problems


def _thinned(text: str) -> str:
    """The script without common text that gives no facts: comments, plain messages, file handling, and numbers
    extracted from logs. Line numbers are unchanged."""
    return _FIGURE.sub(_cut, _PLAIN.sub("", text))


def _cut(figure: re.Match[str]) -> str:
    """A replacement for the command in ``name=`…` `` on a line of its own."""
    line = figure.string.rfind("\n", 0, figure.start()) + 1
    return "=`cut`" if _VARIABLE.fullmatch(figure.string, line, figure.start()) else figure.group()


def _put_in(containers: Sequence[Fact], launches: Sequence[LaunchFact], lines: Sequence[str]) -> None:
    """Mark the launches that command lines run in a container."""
    starts = [fact.span for fact in containers if isinstance(fact, StartedContainer)]
    for launch in launches:
        before = (place for place in starts if (place.line, place.column) < (launch.span.line, launch.span.column))
        launch.in_container = any(
            all(line.rstrip().endswith("\\") for line in lines[place.line - 1 : launch.span.line - 1])
            for place in before
        )


class _Reader:
    def __init__(self, text: str, path: str, via: Via, level: int = 0) -> None:
        self._text = text
        self._path = path
        self._via = via
        self._lines = Lines(text)
        self._places = WrittenPlaces(text, self._lines)
        self._variables = Variables()
        self._packages = InstalledPackages(path, via, self._span)
        self._exported: set[str] = set()
        self._functions: set[str] = set()
        self._facts: list[Fact] = []
        self._rounds: dict[int, int] = {}  # iterations of the outermost loops; 0 if unknown
        self._awaited = 0  # iterations of the loop whose header was read last
        self._kept: dict[str, tuple[Word, str | None]] = {}  # assigned for others, but not exported so far
        self._containers = StartedContainers(text, self._lines)
        self._level = level

    def read(self) -> tuple[list[Fact], list[Problem]]:
        lexer = Lexer(self._text)
        parser = Parser()
        commands = parser.parse(lexer.tokens())
        self._functions = parser.functions
        for command in commands:
            self._assignments(command)
        for command in commands:
            self._command(command)
            self._nested(command)
        problems = []
        if lexer.broken is not None:
            span = self._lines.span(lexer.broken, lexer.broken + 1)
            problems.append(Problem(self._path, "syntax-error", "unterminated quote or bracket", span, fatal=False))
        self._not_exported()
        containers = self._containers.facts(path=self._path)
        launches = [fact for fact in self._facts if isinstance(fact, LaunchFact)] if containers else []
        _put_in(containers, launches, self._text.split("\n"))
        self._facts += containers
        self._facts.sort(key=lambda fact: (fact.span.line, fact.span.column))
        return self._facts, problems

    def _not_exported(self) -> None:
        """Variables that started programs should read, but that are not exported."""
        starts = any(isinstance(fact, LaunchFact) and not fact.record.sourced for fact in self._facts)
        if not starts or "set -a" in self._text or "allexport" in self._text:
            return
        for name, (word, value) in self._kept.items():
            if name not in self._exported and not self._reads(name):
                self._facts.append(ShellProblem("not-exported", self._path, self._span(word), name, value))

    def _reads(self, name: str) -> bool:
        return name in self._expanded

    @cached_property
    def _expanded(self) -> frozenset[str]:
        """The variables that the script expands: ``$NAME``, ``${NAME…}``."""
        return frozenset(_EXPANSION.findall(self._text))

    def _span(self, word: Word) -> Span:
        return self._lines.span(word.start, word.end)

    # -- variables

    def _assignments(self, command: ParsedCommand) -> None:
        """Record every variable that `command` sets."""
        words = command.words
        head = words[0].literal or ""
        if command.loop and command.loop not in self._rounds:
            self._rounds[command.loop], self._awaited = self._awaited, 0
        if head in ("for", "select") and len(words) > 1:
            end = self._text.find("\n", words[0].start)
            header = self._text[words[0].start : end if end >= 0 else None]
            self._awaited = 0 if command.loop else rounds(command, header, self._variables)
            by_caller = len(words) == 2 or any(self._variables.from_caller(word) for word in words[3:])
            self._variables.computed(words[1].literal or "", words[1], command, by_caller)
            self._counters(words[1], command)
        elif head in ("cd", "pushd", "popd"):
            self._variables.enter(words, command)
        elif head in _READS or words[0].parts[0].text.startswith("(("):
            for word in words:
                self._counters(word, command)
        else:
            self._declared(words, command)

    def _declared(self, words: tuple[Word, ...], command: ParsedCommand) -> None:
        leading = _leading(words)
        if leading == len(words):  # only assignments; before a program they are local to it
            for word in words:
                self._variables.assign(word, command)
        elif words[leading].literal in DECLARES:
            for word in words[leading + 1 :]:
                self._variables.assign(word, command)

    def _counters(self, word: Word, command: ParsedCommand) -> None:
        for name in set(_NAME.findall("".join(part.text for part in word.parts)[:500])):
            self._variables.computed(name, word, command)

    # -- commands

    def _command(self, command: ParsedCommand) -> None:
        leading = _leading(command.words)
        words = command.words[leading:]
        if not words:
            for word in command.words:
                self._plain(word, command)
            return
        for word in command.words[:leading]:
            self._environment(word, command)
        head = words[0].literal or ""
        if head in DECLARES:
            self._declare(head, words[1:], command)
        elif head not in _SILENT:
            self._program(words, command)

    def _plain(self, word: Word, command: ParsedCommand) -> None:
        if word.to is None:
            return
        if word.to.written in self._exported:
            self._environment(word, command)
        elif _FOR_OTHERS.fullmatch(word.to.written):
            assignment = self._variables.assignment(word, command)
            self._kept.setdefault(word.to.name, (word, assignment.value.known if assignment else None))

    def _environment(self, word: Word, command: ParsedCommand) -> None:
        assignment = self._variables.assignment(word, command)
        if assignment is not None:
            self._set(assignment.name, assignment.value.known, assignment.value.default, word, command)

    def _set(self, name: str, value: str | None, default: bool, word: Word, command: ParsedCommand) -> None:
        used = self._reads(name)
        self._facts.append(
            VariableRecord(name, self._path, self._span(word), value, self._via, command.guarded, default, used)
        )

    def _declare(self, head: str, words: tuple[Word, ...], command: ParsedCommand) -> None:
        flags = "".join(word.literal or "" for word in words if (word.literal or "").startswith("-"))
        if (head not in ("export", "ENV") and "x" not in flags) or "n" in flags or "f" in flags or "p" in flags:
            return
        self._spaced(words)
        for word in words:
            if word.to is not None:
                self._exported.add(word.to.written.rstrip("+"))
                self._environment(word, command)
            elif word.literal and _NAME.fullmatch(word.literal):
                self._exported.add(word.literal)
                value, default = self._variables.value(word.literal, command, word.start)
                self._set(word.literal, None if HOLE in value else value, default, word, command)

    def _spaced(self, words: tuple[Word, ...]) -> bool:
        """Whether there are blanks around the ``=`` of ``NAME = value``, which then assigns nothing."""
        for word, following in pairwise(words):
            name, sign = word.literal or "", following.literal or ""
            if _NAME.fullmatch(name) and sign.startswith("=") and not sign.startswith("=="):
                span = self._lines.span(word.start, words[-1].end)
                self._facts.append(ShellProblem("spaced-assignment", self._path, span, name))
                return True
        return False

    def _program(self, words: tuple[Word, ...], command: ParsedCommand) -> None:
        if (words[0].literal or "").isupper() and self._spaced(words[:2]):
            return
        fields = self._variables.fields(words, command)
        if not fields:
            return
        self._starts(fields, command)
        if basename(fields[0]) in CONDA:
            self._facts += self._packages.by_conda(fields)
        inside = self._containers.see(fields, command.guarded)
        if inside:
            self._starts(inside, command)

    def _starts(self, fields: list[ExpandedArgument], command: ParsedCommand) -> None:
        """The facts of what a command line starts."""
        line_starts = started(fields) if basename(fields[0]) not in self._functions else started([])
        for position in line_starts.programs:
            name = basename(fields[position])
            if (
                name not in BUILTINS
                and name not in self._functions
                and not (line_starts.launch and line_starts.launch.script == position)
            ):
                span = self._span(fields[position].word)
                line = re.sub(r"[\s\\]+", " ", self._text[fields[0].word.start : fields[-1].word.end])[:_LINE]
                context = (command.guarded, bool(command.loop), command.awaited)
                self._facts.append(ShellCommand(name, self._path, span, line, *context))
        if line_starts.launch is not None:
            self._launch(line_starts.launch, fields, command)
        if line_starts.command is not None:
            name, first, after = line_starts.command
            self._training(name, fields[first].word, fields[after:], command)
        if line_starts.inline is not None:
            position, text = line_starts.inline
            self._inline(text, fields[position].word, command)
        if line_starts.packages is not None:
            self._facts += self._packages.by_pip(fields[line_starts.packages :], command.guarded)
        self._passed_on(fields, line_starts.programs, command)

    def _launch(self, launch: ScriptStart, fields: list[ExpandedArgument], command: ParsedCommand) -> None:
        script = fields[launch.script]
        passed = options(fields[launch.script + 1 :])
        alone = sum(field.word is script.word for field in fields) == 1
        raw = re.sub(r"[\"']|\\\n", "", self._text[script.word.start : script.word.end])
        record = StartedScript(
            script=_tail(script.text, launch.module),
            path=_written(script.text, launch.module),
            folder=self._variables.folder(command, script.word.start),
            sourced=fields[launch.first].text in ("source", "."),
            rounds=self._rounds.get(command.loop, 0),
            launcher_options=launch.launcher_options.values,
            launcher_places=self._places.of_options(launch.launcher_options),
            options=passed.values,
            places=self._places.of_options(passed),
            defaults=tuple(passed.defaults),
            apart=tuple(passed.apart),
            flags=tuple(passed.flags),
            partly=passed.partly,
            words=self._places.of_arguments(passed),
        )
        name = raw if alone else script.text.replace(HOLE, "*")
        span = self._lines.span(fields[launch.first].word.start, script.word.end)
        self._facts.append(
            LaunchFact(
                name,
                self._path,
                span,
                record,
                interpreter=launch.interpreter,
                launcher=launch.launcher,
                guarded=command.guarded,
                loop=bool(command.loop),
            )
        )

    def _training(self, name: str, word: Word, fields: list[ExpandedArgument], command: ParsedCommand) -> None:
        """``swift sft …``: a command of a framework, and what is passed to it."""
        passed = options(fields)
        record = StartedScript(
            script=None,
            path=name,
            folder=self._variables.folder(command, word.start),
            options=passed.values,
            places=self._places.of_options(passed),
            defaults=tuple(passed.defaults),
            flags=tuple(passed.flags),
            words=self._places.of_arguments(passed),
        )
        self._facts.append(CommandStart(name, self._path, self._span(word), record, command.guarded))

    def _inline(self, text: str, word: Word, command: ParsedCommand) -> None:
        """``bash -c "…"``: the facts of the text, all at the span of the word."""
        if HOLE in text or self._level >= _NESTING:
            return
        span = self._span(word)
        inner, _ = _Reader(text, self._path, self._via, self._level + 1).read()
        for fact in inner:
            if isinstance(fact, LaunchFact):
                folder = posixpath.join(self._variables.folder(command, word.start), fact.record.folder)
                fact.record = msgspec.structs.replace(fact.record, places={}, words=(), folder=folder)
            self._facts.append(msgspec.structs.replace(fact, span=span))

    def _passed_on(self, fields: list[ExpandedArgument], programs: list[int], command: ParsedCommand) -> None:
        """``mpirun -x NAME=value`` and ``env NAME=value`` set variables too."""
        names = {basename(fields[position]): position for position in programs}
        end = programs[-1] if programs else 0
        for position in range(end):
            text = fields[position].text
            passes_environment = "env" in names and position > names["env"]
            passes_environment = passes_environment or (
                position > 0 and fields[position - 1].text == "-x" and "mpirun" in names
            )
            match = re.match(r"([A-Za-z_]\w*)=", text)
            if passes_environment and match:
                value = text[match.end() :]
                complete = None if HOLE in value else value
                self._set(match.group(1), complete, fields[position].default, fields[position].word, command)

    # -- command substitutions

    def _nested(self, command: ParsedCommand) -> None:
        """The commands inside ``$(…)`` and backquotes, in quotes or not."""
        waiting: list[tuple[WordPart, int]] = []
        for word in command.words:
            if word.literal is None:
                waiting += [(part, 1) for part in word.parts if part.kind == "code"]
        while waiting:
            part, depth = waiting.pop()
            if _TELLING.search(part.text) is None:
                continue
            for inner in Parser().parse(Lexer(part.text).tokens()):
                words = tuple([word.moved(part.start) for word in inner.words])
                guarded = command.guarded or inner.guarded
                self._command(ParsedCommand(words, command.path, guarded, command.loop, command.function))
                if depth < _NESTING:
                    waiting += [(p, depth + 1) for word in words for p in word.parts if p.kind == "code"]


def _leading(words: tuple[Word, ...]) -> int:
    """The number of assignments that `words` begin with."""
    for count, word in enumerate(words):
        if word.to is None:
            return count
    return len(words)


def _written(text: str, module: bool) -> str:
    """A script's path as written, with ``*`` for computed parts."""
    return (text.replace(".", "/") + ".py" if module else text).replace(HOLE, "*")


def _tail(text: str, module: bool) -> str | None:
    """The known end of a script's path: ``train.py`` of ``$cur/../train.py``; None if the file name is unknown."""
    if module:
        return None if HOLE in text else text.replace(".", "/") + ".py"
    _, hole, tail = text.rpartition(HOLE)
    if hole:
        if "/" not in tail:
            return None
        tail = tail[tail.index("/") + 1 :]
    parts = [part for part in tail.split("/") if part not in ("", ".")]
    while ".." in parts:
        at = parts.index("..")
        del parts[max(at - 1, 0) : at + 1]
    return "/".join(parts) or None
