"""The starts of a project's programs by its launchers: shell scripts, Makefiles and Dockerfiles."""

from __future__ import annotations

import posixpath
from bisect import bisect_left
from collections.abc import Iterator
from functools import cached_property
from typing import Final

from npulint.core.lazy_regex import lazy_compile
from npulint.model.execution.shell_variables import leading_assignments
from npulint.model.execution.shell_words import ShellText, inside_project
from npulint.model.execution.starts import ScriptFiles, Start, starts_of
from npulint.read import dockerfile, makefile
from npulint.read.shell.commands import ParsedCommand
from npulint.read.shell.started_programs import IDLE, basename, started

KINDS: Final = ("shell", "makefile", "dockerfile")
"""The kinds of files that are launchers."""

_COMMENT = lazy_compile(r"(?m)^[ \t]*#.*$")
_ENTRY = lazy_compile(r"(?im)^[ \t]*ENTRYPOINT\b")
_WORKING_FOLDER = lazy_compile(r"(?im)^[ \t]*WORKDIR\b")
_MENTION = lazy_compile(r"(?:[\w-][\w.-]*/)*[\w-][\w.-]*\.py\b")
_LINE_END = lazy_compile(r"\n")
_BLANK = lazy_compile(r"\s")
_EXECUTES = lazy_compile(r"exec|run")
_ELSEWHERE = lazy_compile(r"\b(?:cd|pushd|chdir|WORKDIR|PYTHONPATH|PYTHONOPTIMIZE|alias)\b")
_TEXT_EXECUTED = lazy_compile(r"\|\s*(?:sudo\s+)?(?:ba|z|da)?sh\b|(?<![\w./-])(?:xargs|parallel|eval)(?![\w.])|<<")
_MODULE = lazy_compile(r"(?<![\w-])(?:-m|--module)[ \t=\"',]+([A-Za-z_][\w.]*)")
_IMPORT = lazy_compile(r"\b(?:import|from)\s+([A-Za-z_][\w.]*)")
_FILE_COMMANDS: Final = frozenset(
    """cp mv rm ls cat head tail grep egrep sed awk wc diff git chmod chown touch mkdir ln find tar zip rsync scp less
    vim nano code black isort ruff flake8 pylint mypy pip pip3 COPY ADD ENV ARG""".split()
)
_QUIET: Final = (IDLE | _FILE_COMMANDS) - {"trap", "eval"}  # commands that start no program that they name
_NESTING: Final = 5


def launcher_starts(text: str, path: str, kind: str, files: ScriptFiles) -> list[Start]:
    """The starts of Python programs of the project by a launcher. A script that is named in a way that is not
    understood is started with any arguments."""
    if kind == "makefile":
        starts = _of_makefile(text, path, files)
    elif kind == "dockerfile":
        starts = _of_dockerfile(text, path, files)
    else:
        starts = _Launcher(ShellText(text, posixpath.dirname(path)), text, path, files).starts()
    if "\r" in text:  # which is a part of words to the shell
        starts = [start._replace(words=(), environment=(), named=None, is_open=True) for start in starts]
    return list(dict.fromkeys(starts))


def _of_makefile(text: str, path: str, files: ScriptFiles) -> list[Start]:
    folder = posixpath.dirname(path)
    unfollowed = "PYTHONPATH" if "PYTHONPATH" in text else "launcher" if ".ONESHELL" in text else ""
    starts: list[Start] = []
    for number, line in _recipe_lines(makefile.shell_of(text)):
        shell = ShellText(line, folder, has_variables=False, is_folder_known=not folder)
        starts += _Launcher(shell, line, path, files, number).starts()
    return [start._replace(unfollowed=start.unfollowed or unfollowed) for start in starts]


def _of_dockerfile(text: str, path: str, files: ScriptFiles) -> list[Start]:
    script = dockerfile.shell_of(text)[0]
    shell = ShellText(script, "", has_variables=False, is_folder_known=not _WORKING_FOLDER.search(text))
    starts = _Launcher(shell, script, path, files).starts()
    if _ENTRY.search(text):  # its arguments may be those of `docker run`
        return [start._replace(words=(), is_open=True) for start in starts]
    return starts


def _recipe_lines(script: str) -> Iterator[tuple[int, str]]:
    """The lines of a Makefile, each of which has a shell of its own, with those that continue them."""
    number, held, first = 0, "", 1
    for line in script.split("\n"):
        number += 1
        if not held:
            first = number
        held += line
        if line.endswith("\\"):
            held += "\n"
            continue
        if held.strip():
            yield first, held
        held = ""
    if held.strip():
        yield first, held


class _Launcher:
    """The text of a launcher that begins at a line."""

    def __init__(
        self, shell: ShellText, text: str, path: str, files: ScriptFiles, line: int = 1, level: int = 0
    ) -> None:
        self._shell, self._text, self._path, self._files = shell, text, path, files
        self._line, self._level = line, level
        self._line_ends = [match.start() for match in _LINE_END.finditer(text)]

    def starts(self) -> list[Start]:
        """The starts by its commands, and of scripts that its text names in another way."""
        starts: list[Start] = []
        understood: list[tuple[int, int]] = [match.span() for match in _COMMENT.finditer(self._text)]
        for command in self._shell.commands:
            begin, end = command.words[0].start, command.words[-1].end
            by_command = list(self._of_command(command))
            starts += [start._replace(path=self._path, line=self._line_of(begin)) for start in by_command]
            if by_command or self._is_quiet(command):
                understood.append((begin, end))
        starts += self._mentioned(understood)
        reason = self._changed_as_a_whole()
        return [start._replace(unfollowed=reason or start.unfollowed) for start in starts]

    def _line_of(self, offset: int) -> int:
        return self._line + bisect_left(self._line_ends, offset)

    def _changed_as_a_whole(self) -> str:
        """What makes that no command of the launcher is what it seems to be; empty if nothing does."""
        for command in self._shell.commands:
            head = command.words[0].literal
            if head == "alias":
                return head
            if head in ("source", ".") and len(command.words) > 1:
                fields = self._shell.fields(command.words[1:2], command)
                path = inside_project(fields[0].argument.text, self._shell.folder(command) or "") if fields else None
                text = self._files.text_to_source(path) if path else None
                if text is not None and _ELSEWHERE.search(text):
                    return "launcher"
        return ""

    def _of_command(self, command: ParsedCommand) -> Iterator[Start]:
        yield from starts_of(self._shell, command, self._files)
        count = leading_assignments(command.words)
        fields = self._shell.fields(command.words[count:], command)
        inline = started([field.argument for field in fields]).inline
        if inline is not None and fields[inline[0]].known is not None and self._level < _NESTING:
            inner = _Launcher(self._shell.of_text(inline[1]), inline[1], self._path, self._files, 1, self._level + 1)
            around = "" if self._shell.folder(command) == "" and "PYTHONPATH" not in self._text else "-c"
            for start in inner.starts():
                yield start._replace(unfollowed=start.unfollowed or around)
        for position, field in enumerate(fields[:-1]):
            if field.argument.text == "-c" and basename(fields[max(position - 1, 0)].argument).startswith("python"):
                yield from self._of_code(fields[position + 1].argument.text)

    def _of_code(self, code: str) -> Iterator[Start]:
        """The start of code in the command line, if it may execute something of the project."""
        names = {part for match in _IMPORT.finditer(code) for part in match[1].split(".")}
        own = {part for path in self._files.scripts for part in path.removesuffix(".py").split("/")}
        if names & own or _EXECUTES.search(code):
            yield Start("", unfollowed="python -c")

    def _is_quiet(self, command: ParsedCommand) -> bool:
        """Whether a command starts nothing that its words name."""
        words = command.words[leading_assignments(command.words) :]
        written = self._text[command.words[0].start : command.words[-1].end]
        if "$(" in written or "`" in written or self._is_text_executed:
            return False
        return words[0].literal in _QUIET if words else not _BLANK.search(written)

    @cached_property
    def _is_text_executed(self) -> bool:
        """Whether the launcher executes text that it has made."""
        return _TEXT_EXECUTED.search(self._text) is not None

    def _mentioned(self, understood: list[tuple[int, int]]) -> Iterator[Start]:
        """The starts of scripts that the text names at other places."""
        text = list(self._text)
        for begin, end in understood:
            text[begin:end] = ["\n" if char == "\n" else " " for char in text[begin:end]]
        rest = "".join(text)
        # Where the launcher changes the folder or the search path, what is executed with which of them is unknown.
        unfollowed = "launcher" if _ELSEWHERE.search(self._text) else ""
        mentions = [(match.start(), [match[0]]) for match in _MENTION.finditer(rest)]
        mentions += [(match.start(), _files_of(match[1])) for match in _MODULE.finditer(rest)]
        for begin, names in mentions:
            for path in self._files.ending_with(names):
                reason = unfollowed or ("" if path in names else "launcher")
                line = self._line_of(begin)
                yield Start(path, named=None, is_open=True, unfollowed=reason, path=self._path, line=line)


def _files_of(module: str) -> list[str]:
    """The files that the name of a module may mean."""
    base = module.strip(".").replace(".", "/")
    return [f"{base}.py", f"{base}/__main__.py"]
