"""How programs of a project are started: by a command line that the user names, or one of a launcher."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple, Protocol

from npulint.core.lazy_regex import lazy_compile
from npulint.model.execution.shell_variables import leading_assignments
from npulint.model.execution.shell_words import OUTER_PATH, ROOT, Field, ShellText, inside_project
from npulint.read.shell.commands import ParsedCommand
from npulint.read.shell.started_programs import ScriptStart, basename, started
from npulint.read.shell.values import HOLE

_PYTHON = lazy_compile(r"python(?:3(?:\.\d+)?)?|")
_PLAIN_FLAGS = lazy_compile(r"-[uBdqsSvi]+")
_CHANGES_PYTHON: Final = frozenset(("PYTHONOPTIMIZE", "PYTHONSAFEPATH"))
_FATAL: Final = ("error", HOLE)  # what turns warnings into exceptions, or may
_ADDS_RANK: Final = {  # launchers that pass the rank of a process as the first argument, unless an option is given
    "deepspeed": frozenset(("no_local_rank",)),
    "torch.distributed.launch": frozenset(("use_env", "use-env")),
}
_OTHER_ENVIRONMENT: Final = frozenset("sudo su runuser ssh docker singularity apptainer nerdctl podman sbatch".split())
_LONGEST: Final = 200  # characters of a command line that is shown
_ASSIGNMENT = lazy_compile(r"([A-Za-z_]\w*)=(.*)", re.DOTALL)


class Start(NamedTuple):
    """How a program is started.

    `script` is its file below the project's root, `words` are its arguments (None: any text), `environment` the
    variables that the start sets, `module` is the dotted name of a start with ``-m``. `named` is the script as the
    command line writes it (empty: as its path from the working folder; None: unknown), `folder` the working folder
    and `search` the folders of PYTHONPATH, all below the root. With `is_open` it may have any other arguments.
    `unfollowed` says what prevents that it is executed here (empty: nothing), `path` and `line` are those of its
    launcher."""

    script: str
    words: tuple[str | None, ...] = ()
    environment: tuple[tuple[str, str], ...] = ()
    module: str = ""
    named: str | None = ""
    folder: str = ""
    search: tuple[str, ...] = ()
    is_open: bool = False
    unfollowed: str = ""
    path: str = ""
    line: int = 0

    @property
    def essence(self) -> Start:
        """What decides about its execution: the start without the place of its launcher."""
        named = "" if self.named == posixpath.relpath(self.script or ".", self.folder or ".") else self.named
        return self._replace(named=named, path="", line=0)

    @property
    def command(self) -> str:
        """The command line, ``…`` for what is unknown."""
        words = ["…" if word is None else word for word in self.words] + ["…"] * self.is_open
        text = " ".join(["python", *(("-m", self.module) if self.module else (self.script,)), *words])
        return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


class ScriptFiles(Protocol):
    """The Python files that a command line may name."""

    def has_script(self, path: str) -> bool:
        """Whether there is such a file below the project's root."""

    def below_root(self, path: str) -> str | None:
        """The path below the project's root that an absolute one is; None outside."""

    def text_to_source(self, path: str) -> str | None:
        """The text of a file that a launcher executes in its own shell; None if there is none."""

    def ending_with(self, tails: Sequence[str]) -> list[str]:
        """The scripts whose paths end with one of these, part by part."""

    @property
    def scripts(self) -> Sequence[str]:
        """The paths of all Python files of the project."""


class StartError(Exception):
    """A command line that starts no program of the project; `reason` is the key of a message, `word` what it is
    about."""

    def __init__(self, reason: str, word: str = "") -> None:
        super().__init__(reason, word)
        self.reason, self.word = reason, word


def start_of(text: str, files: ScriptFiles) -> Start:
    """The start that a user names: one command line, in the project's root. Raises `StartError`."""
    shell = ShellText(text, "")
    if shell.is_broken or not shell.commands:
        raise StartError("unreadable")
    command = shell.commands[0]
    fields = shell.fields(command.words[leading_assignments(command.words) :], command)
    if len(shell.commands) > 1 or command.guarded or shell.functions:
        raise StartError("several-commands")
    launch = started([field.argument for field in fields]).launch
    if launch is None or not _is_python(launch, fields):
        raise StartError("no-python")
    name = fields[launch.script].known
    if name is None:
        raise StartError("unknown-script")
    for start in _Command(shell, command, fields, launch, files, is_root_certain=True).starts():
        return start
    raise StartError("no-module" if launch.module else "no-script", name)


def starts_of(shell: ShellText, command: ParsedCommand, files: ScriptFiles) -> Iterator[Start]:
    """The starts of programs of the project by one command of a launcher."""
    count = leading_assignments(command.words)
    fields = shell.fields(command.words[count:], command)
    if not fields or basename(fields[0].argument) in shell.functions:
        return
    launch = started([field.argument for field in fields]).launch
    if launch is not None and _is_python(launch, fields):
        yield from _Command(shell, command, fields, launch, files).starts()


def _is_python(launch: ScriptStart, fields: Sequence[Field]) -> bool:
    """Whether a command starts a program of Python, as far as the command shows."""
    text = fields[launch.script].argument.text
    if launch.interpreter in ("bash", "sh", "zsh", "ksh", "dash"):
        return False
    return bool(launch.interpreter) or launch.module or text.endswith(".py") or text.endswith(HOLE)


class _Command:
    """A command line that starts a program of Python. `is_root_certain`: it is executed in the project's root."""

    def __init__(
        self,
        shell: ShellText,
        command: ParsedCommand,
        fields: Sequence[Field],
        launch: ScriptStart,
        files: ScriptFiles,
        is_root_certain: bool = False,
    ) -> None:
        self._shell, self._command, self._fields, self._launch, self._files = shell, command, fields, launch, files
        self._is_root_certain = is_root_certain
        self._folder = shell.folder(command)
        self._environment = self._variables()

    def starts(self) -> Iterator[Start]:
        """The starts of all files that it may mean."""
        written = self._fields[self._launch.script]
        words = self._fields[self._launch.script + 1 :]
        search, searched = self._search()
        is_open = written.is_several or any(field.is_several for field in words)
        base = Start(
            "",
            () if is_open else (*self._rank(), *(field.known for field in words)),
            tuple((name, text) for name, text in self._environment.items() if _is_known(text)),
            named=written.known,
            search=search,
            is_open=is_open,
            unfollowed=self._obstacle() or searched,
        )
        for script, folder, module in self._scripts(written, search):
            unfollowed = base.unfollowed or ("cd" if folder is None else "")
            yield base._replace(script=script, module=module, folder=folder or "", unfollowed=unfollowed)

    # -- what it starts

    def _scripts(self, field: Field, search: Sequence[str]) -> Iterator[tuple[str, str | None, str]]:
        """The files that may be meant, each with its working folder (None: unknown) and the name of the module."""
        written = field.argument.text
        if field.is_several:
            rest = (argument.known for argument in self._fields[self._launch.script + 1 :])
            named = next((text for text in rest if text is not None and text.endswith(".py")), "")
            for path in _ending_with(named, self._files.scripts, by_parts=bool(named)):
                yield path, self._folder, ""
        elif self._launch.module:
            yield from self._modules(written, search)
        else:
            yield from self._files_named(written)

    def _files_named(self, written: str) -> Iterator[tuple[str, str | None, str]]:
        below = self._files.below_root(written) if written.startswith("/") else None
        path = below if below is not None else inside_project(written, self._folder or "")
        is_known = self._folder is not None or written.startswith(("/", ROOT))
        if path is not None and is_known and self._files.has_script(path):
            yield path, self._folder, ""
        elif not self._is_root_certain:
            tail = re.split(f"[{HOLE}{ROOT}{OUTER_PATH}]", written)[-1]
            is_whole = tail == written
            if is_whole:
                tail = posixpath.normpath(tail)
            is_relative = is_whole and not tail.startswith(("/", ".."))
            while tail.startswith("../"):
                tail = tail.removeprefix("../")
            for script in _longest_ending(tail, self._files.scripts, is_whole):
                yield script, script[: -len(tail)].rstrip("/") if is_relative else self._folder, ""

    def _modules(self, written: str, search: Sequence[str]) -> Iterator[tuple[str, str | None, str]]:
        if not _is_known(written):
            for path in self._files.scripts:
                yield path, None, path.removesuffix(".py").replace("/", ".")
            return
        for folder in (self._folder, *search) if self._folder is not None else ():
            for path, module in _module_files(written, folder):
                if self._files.has_script(path):
                    yield path, self._folder, module
                    return
        for path, module in _module_files(written, "") if not self._is_root_certain else ():
            for script in _ending_with(path, self._files.scripts, by_parts=True):
                yield script, script[: -len(path)].rstrip("/"), module

    # -- with what

    def _rank(self) -> tuple[None, ...]:
        unless = _ADDS_RANK.get(self._launch.launcher)
        return () if unless is None or unless & set(self._launch.launcher_options.values) else (None,)

    def _variables(self) -> dict[str, str]:
        """The variables that the program sees as this command line and the launcher set them."""
        before = self._fields[: self._launch.first]
        programs = {basename(field.argument) for field in before}
        variables = {**self._shell.exported(self._command), **self._shell.assignments(self._command)}
        removes = any(field.argument.text.startswith(("-u", "-i", "--unset", "--ignore")) for field in before)
        exports = any(field.argument.text.startswith("--export") for field in before)
        if _OTHER_ENVIRONMENT & programs or ("env" in programs and removes) or exports:
            variables = {}
        for field in before:
            match = _ASSIGNMENT.fullmatch(field.argument.text)
            if match:
                variables[match[1]] = HOLE if field.is_several else match[2]
        return variables

    def _search(self) -> tuple[tuple[str, ...], str]:
        """The folders of PYTHONPATH within the project, and what is unknown of them."""
        folders: list[str] = []
        for text in self._environment.get("PYTHONPATH", OUTER_PATH).split(":"):
            if text == OUTER_PATH:
                continue
            folder = self._files.below_root(text) if text.startswith("/") else inside_project(text, self._folder or "")
            if folder is not None and (self._folder is not None or text.startswith(("/", ROOT))):
                folders.append(folder)
            elif not _is_known(text) or self._folder is None:
                return (), "PYTHONPATH"
        return tuple(dict.fromkeys(folders)), ""

    def _obstacle(self) -> str:
        """What makes the execution differ from that of a plain start; empty if nothing does."""
        first, launch = self._launch.first, self._launch
        interpreter = basename(self._fields[first].argument)
        if launch.interpreter and (not launch.launcher or _PYTHON.fullmatch(interpreter)):
            if not _PYTHON.fullmatch(interpreter):
                return interpreter
            flags = iter([field.argument.text for field in self._fields[first + 1 : launch.script]])
            for flag in flags:
                value = next(flags, "") if flag in ("-W", "-X") else flag[2:]
                is_plain = flag == "-m" or _PLAIN_FLAGS.fullmatch(flag) or flag[:2] in ("-W", "-X")
                if flag.startswith("-") and (not is_plain or (flag[:2] == "-W" and value.startswith(_FATAL))):
                    return flag
        for name, text in self._environment.items():
            if name in _CHANGES_PYTHON or (name == "PYTHONWARNINGS" and text.startswith(_FATAL)):
                return name
        return ""


def _is_known(text: str) -> bool:
    return not any(mark in text for mark in (HOLE, ROOT, OUTER_PATH))


def _module_files(name: str, folder: str) -> list[tuple[str, str]]:
    """The files that a dotted name may mean below a folder, each with the name of the module that is executed."""
    base = posixpath.join(folder, *name.split("."))
    return [(f"{base}/__main__.py", f"{name}.__main__"), (f"{base}.py", name)]


def _longest_ending(path: str, scripts: Sequence[str], is_whole: bool) -> list[str]:
    """The scripts that a path of another folder, such as one in a container, may mean: those that share most of its
    end."""
    parts = path.split("/")
    for count in range(len(parts)):
        matching = list(_ending_with("/".join(parts[count:]), scripts, is_whole or count > 0))
        if matching or not path.startswith("/"):
            return matching
    return []


def _ending_with(tail: str, scripts: Iterable[str], by_parts: bool) -> Iterator[str]:
    """The scripts whose path ends so (`by_parts`: with these parts)."""
    for path in scripts:
        if f"/{path}".endswith(f"/{tail}" if by_parts else tail):
            yield path
