"""Finds the script that a command line starts, behind wrappers and launchers.

``nohup mpirun -np 8 python3 -u train.py --lr 0.1 &`` starts ``train.py`` with python3 under mpirun."""

from __future__ import annotations

import re

import msgspec

from npulint.core.lazy_regex import lazy_compile
from npulint.data.training_arguments import commands_of
from npulint.facts.model import Span
from npulint.read.json_tree import Lines
from npulint.read.launcher_facts import PassedWord
from npulint.read.shell.tokens import Word
from npulint.read.shell.values import HOLE, ExpandedArgument

BUILTINS = frozenset(
    """. : [ [[ alias bg bind break builtin caller cd command compgen complete continue declare dirs disown echo enable
    eval exec exit export false fc fg for getopts hash help history jobs kill let local logout mapfile popd printf
    pushd pwd read readarray readonly return select set shift shopt source suspend test time times trap true type
    typeset ulimit umask unalias unset wait""".split()
)
_WRAPPERS = frozenset(
    """nohup exec time sudo command builtin setsid stdbuf nice ionice timeout taskset numactl env catchsegv strace
    unbuffer xvfb-run eval nvprof nsys ncu msprof py-spy coverage kernprof perf gdb valgrind""".split()
)
_LAUNCHERS = frozenset(
    """mpirun mpiexec mpiexec.hydra orterun horovodrun srun torchrun accelerate accelerate-launch deepspeed msrun
    bytepslaunch accelerate.commands.launch torch.distributed.launch torch.distributed.run
    torch.distributed.elastic.multiprocessing horovod.runner.run_task""".split()
)
_MODULE_WRAPPERS = frozenset(("cProfile", "profile", "pdb", "trace", "coverage", "kernprof", "torch.utils.bottleneck"))
_PYTHON = lazy_compile(r"(?:i?python|pypy)[\d.]*")
_SHELLS = frozenset(("bash", "sh", "zsh", "ksh", "dash", "source", "."))
IDLE = BUILTINS - _WRAPPERS - _SHELLS  # commands that start nothing, whatever their arguments
_SCRIPT = lazy_compile(r"[^=]+\.(?:py|sh|bash)")
_PROGRAM = lazy_compile(r"[\w.+][\w.+-]*")
_NEGATIVE = lazy_compile(r"-\d|-\.\d")


class StartOptions(msgspec.Struct, frozen=True):
    """Options by name (without leading dashes, inner ones as ``_``): the value, None if unknown, ``true`` for a flag.
    `defaults`: options whose value is only a default, `apart`: whose value is a separate word, `flags`: without a
    value; `words` has the first and the last word of each. `others` are positional fields, `partly` has values that are
    partly known (``*`` for the rest)."""

    values: dict[str, str | None]
    defaults: list[str]
    apart: list[str]
    flags: list[str]
    words: dict[str, tuple[Word, Word]]
    others: list[ExpandedArgument] = []
    partly: dict[str, str] = {}


class ScriptStart(msgspec.Struct, frozen=True):
    """A started script. `script` and `first` (argument) are positions in the command's fields."""

    first: int
    script: int
    interpreter: str
    module: bool
    launcher: str
    launcher_options: StartOptions


class Started(msgspec.Struct, frozen=True):
    """The result for a command line: positions of its program words, the launch, an inline script (with its position),
    the position of pip; the name of a command that trains (``swift sft``), with the positions of its first word and of
    its first argument."""

    programs: list[int]
    launch: ScriptStart | None = None
    command: tuple[str, int, int] | None = None
    inline: tuple[int, str] | None = None
    packages: int | None = None


def basename(field: ExpandedArgument) -> str:
    """The last path segment of a field, empty if unknown."""
    name = field.text.rsplit("/", 1)[-1]
    return "" if HOLE in name else name


def started(fields: list[ExpandedArgument]) -> Started:
    """Analyse the command `fields`."""
    return _Line(fields).read()


def options(fields: list[ExpandedArgument]) -> StartOptions:
    """The options among the arguments of a program."""
    start_options = StartOptions({}, [], [], [], {})
    position = 0
    while position < len(fields):
        field = last = fields[position]
        position += 1
        name, equals, value = field.text.partition("=")
        key = name.lstrip("-").replace("-", "_")
        if not name.startswith("-") or not key or HOLE in name or _NEGATIVE.match(name):
            start_options.others.append(field)
            continue
        if equals:
            start_options.values[key] = None if HOLE in value else value
            _note_part(start_options, key, value)
        elif position < len(fields) and (not fields[position].text.startswith("-") or _is_number(fields[position])):
            last = fields[position]
            start_options.values[key] = last.known
            _note_part(start_options, key, last.text)
            start_options.apart.append(key)
            position += 1
        else:
            start_options.values[key] = "true"
            start_options.flags.append(key)
        start_options.words[key] = (field.word, last.word)
        if field.default or last.default:
            start_options.defaults.append(key)
    return start_options


def _note_part(start_options: StartOptions, key: str, text: str) -> None:
    if HOLE in text and text.strip(HOLE):
        start_options.partly[key] = text.replace(HOLE, "*")


def _is_number(field: ExpandedArgument) -> bool:
    return _NEGATIVE.match(field.text) is not None


class _Line:
    def __init__(self, fields: list[ExpandedArgument]) -> None:
        self._fields = fields
        self._programs: list[int] = []
        self._launcher = ""
        self._launcher_options = StartOptions({}, [], [], [], {})

    def read(self) -> Started:
        if self._asks():
            return Started([])
        at = 0
        for _ in range(10):  # more layers do not occur in practice
            if at >= len(self._fields):
                break
            name = basename(self._fields[at])
            if name and _PROGRAM.fullmatch(name):
                self._programs.append(at)
            following = self._peel(at, name)
            if isinstance(following, Started):
                return following
            if following is None:
                break
            at = following
        return Started(self._programs)

    def _asks(self) -> bool:
        """Whether the line only asks where a program is: ``command -v nvcc``."""
        first = [field.text for field in self._fields[:2]]
        return first in (["command", "-v"], ["command", "-V"])

    def _peel(self, at: int, name: str) -> int | Started | None:
        """The position of the program that the one at `at` starts, or the final result."""
        if _PYTHON.fullmatch(name) or (not name and self._starts_python(at)):
            return self._python(at, name)
        if name in _SHELLS:
            return self._shell(at, name)
        if name in _LAUNCHERS:
            return self._launch_under(at, name)
        if name in _WRAPPERS:
            return self._wrapped(at)
        training = self._training_command(at, name)
        if training is not None:
            return training
        if name in ("pip", "pip3") or re.fullmatch(r"pip3\.\d+", name):
            return Started(self._programs, packages=at)
        if name == "uv" and [field.text for field in self._fields[at + 1 : at + 2]] == ["pip"]:
            return Started(self._programs, packages=at + 1)
        if _SCRIPT.fullmatch(self._fields[at].text):
            return self._found(at, at, "", False)
        return None

    def _training_command(self, at: int, name: str) -> Started | None:
        """The start by a command of a framework that trains, such as ``llamafactory-cli train``."""
        for command in commands_of(name):
            words = command.split()
            if [field.text for field in self._fields[at + 1 : at + len(words)]] == words[1:]:
                return Started(self._programs, command=(command, at, at + len(words)))
        return None

    def _starts_python(self, at: int) -> bool:
        """Whether a variable is an interpreter: ``${PYTHON} train.py``."""
        if self._fields[at].text.startswith("-") or "=" in self._fields[at].text:
            return False
        after = at + 1
        while after < len(self._fields) and self._fields[after].text in ("-u", "-B", "-O"):
            after += 1
        return after < len(self._fields) and self._fields[after].text.endswith(".py")

    def _found(self, first: int, script: int, interpreter: str, module: bool) -> Started:
        launch = ScriptStart(first, script, interpreter, module, self._launcher, self._launcher_options)
        return Started(self._programs, launch)

    def _next(self, at: int, ending: tuple[str, ...] = (".py", ".sh")) -> int | None:
        """The next field after `at` that is an interpreter, a launcher, a wrapper or a script."""
        for position in range(at, len(self._fields)):
            field = self._fields[position]
            name = basename(field)
            is_program = _PYTHON.fullmatch(name) or name in _SHELLS or name in _LAUNCHERS or name in _WRAPPERS
            if (is_program and name != ".") or (field.text.endswith(ending) and _SCRIPT.fullmatch(field.text)):
                return position
            if not name and self._starts_python(position):
                return position
        return None

    def _wrapped(self, at: int) -> int | Started | None:
        for position in range(at + 1, len(self._fields)):
            option, _, text = self._fields[position].text.partition("=")
            if option == "--application" and text:
                return Started(self._programs, inline=(position, text))
        following = self._next(at + 1)
        if following is not None:
            return following
        for position in range(at + 1, len(self._fields)):
            text = self._fields[position].text
            if not text.startswith("-") and "=" not in text and not text[:1].isdigit():
                return position
        return None

    def _launch_under(self, at: int, name: str) -> int | Started | None:
        self._launcher = name
        after = at + 2 if name == "accelerate" else at + 1
        following = self._next(after)
        end = len(self._fields) if following is None else following
        for position in range(after, end):
            if self._fields[position].text in ("-m", "--module") and position + 1 < len(self._fields):
                self._launcher_options = options(self._fields[after:position])
                return self._found(at, position + 1, "python", True)
        self._launcher_options = options(self._fields[after:end])
        if following is not None and self._fields[following].text.endswith(".py"):
            interpreter = "python" if name not in ("mpirun", "mpiexec", "srun") else ""
            return self._found(at, following, interpreter, False)
        return following

    def _python(self, at: int, name: str) -> int | Started | None:
        position = at + 1
        while position < len(self._fields):
            text = self._fields[position].text
            if text == "-m" and position + 1 < len(self._fields):
                return self._module(at, position + 1, name)
            if text in ("-c", "-", "-V", "--version"):
                return None
            if not text.startswith("-"):
                return self._found(at, position, name or "python", False)
            position += 2 if text in ("-W", "-X") else 1
        return None

    def _module(self, at: int, position: int, name: str) -> int | Started | None:
        module = self._fields[position].text
        if module == "pip":
            return Started(self._programs, packages=position)
        if module in _LAUNCHERS:
            return self._launch_under(position, module)
        if module in _MODULE_WRAPPERS:
            return self._next(position + 1, (".py",))
        return self._found(at, position, name or "python", True)

    def _shell(self, at: int, name: str) -> Started | None:
        position = at + 1
        while position < len(self._fields) and self._fields[position].text.startswith(("-", "+")):
            if "c" in self._fields[position].text and position + 1 < len(self._fields):
                return Started(self._programs, inline=(position + 1, self._fields[position + 1].text))
            position += 1
        if position >= len(self._fields):
            return None
        if name in ("source", ".") and not _SCRIPT.fullmatch(self._fields[position].text):
            return None  # an environment's activate, a profile
        return self._found(at, position, "bash" if name in ("source", ".") else name, False)


# The places of options and arguments in a script: where they are written, also if a variable passes them on.

_WORDS = 100  # of one started script, without options
_SEARCHES = 500  # of options that variables pass on, in one script


class WrittenPlaces:
    """Finds the places in one script."""

    def __init__(self, text: str, lines: Lines) -> None:
        self._text = text
        self._lines = lines
        self._left = _SEARCHES

    def of_word(self, word: Word) -> Span:
        """The place of a word."""
        return self._lines.span(word.start, word.end)

    def of_options(self, passed: StartOptions) -> dict[str, Span]:
        """The place of each option, by name."""
        return {name: self._of_option(name, first, last) for name, (first, last) in passed.words.items()}

    def of_arguments(self, passed: StartOptions) -> tuple[PassedWord, ...]:
        """The positional arguments with their places."""
        passed_words = []
        for other in passed.others[:_WORDS]:
            name, equals, _ = other.text.partition("=")
            span = None
            if equals and HOLE not in name and other.word.literal is None:
                span = self._before(f"{name}=", rf"{re.escape(name)}=\S*", other.word)
            passed_words.append(PassedWord(other.text.replace(HOLE, "*"), span or self.of_word(other.word)))
        return tuple(passed_words)

    def _of_option(self, name: str, first: Word, last: Word) -> Span:
        """The place of an option; if a variable passes it on, that in the value of the variable."""
        if first.literal is None and "-" not in self._text[first.start : first.end]:
            spelled = re.escape(name).replace("_", "[-_]")
            begins = "-" + name.replace("_", "-").partition("-")[0]
            span = self._before(begins, rf"--?{spelled}(?:=\S*|[ \t]+(?!-)[^\s\"')]+)?(?![\w-])", first)
            if span is not None:
                return span
        return self._lines.span(first.start, last.end)

    def _before(self, part: str, pattern: str, word: Word) -> Span | None:
        """The last place before a word that matches a pattern; `part` is in everything that does."""
        if self._text.find(part, 0, word.start) < 0:
            return None
        self._left -= 1
        if self._left < 0:
            return None
        places = [match.span() for match in re.finditer(rf"(?<![\w-]){pattern}", self._text[: word.start])]
        return self._lines.span(*places[-1]) if places else None
