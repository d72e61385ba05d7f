"""Reads one file: bytes to facts with the reader of its kind, or to a problem."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence

import msgspec

from npulint.core.budget import GENEROUS, Budget, BudgetError, within
from npulint.core.wings import service
from npulint.discover.kinds import SourceFile
from npulint.facts.graph import Graph
from npulint.facts.model import Fact, FileFacts, Problem, Span
from npulint.read.chip_names import cann_packages, chip_names
from npulint.read.source import DecodedSource, comments, decode, read_bytes

LIMIT = 20_000_000  # bytes; discovery has already applied the limits by kind


class LoadedFile(msgspec.Struct, frozen=True):
    """A source file with its bytes, or the problem that prevented reading. For a graph only its structure is loaded,
    for a run artifact its `facts`; `data` is then a digest input."""

    file: SourceFile
    data: bytes = b""
    problem: Problem | None = None
    graph: Graph | None = None
    facts: list[Fact] | None = None


class ReadableFiles(msgspec.Struct, frozen=True):
    """The files that a project was read from, and how one of them is loaded again."""

    files: Sequence[SourceFile]
    load: Callable[[SourceFile], LoadedFile]


def load(file: SourceFile, content: bytes | None = None, budget: Budget = GENEROUS) -> LoadedFile:
    """Load a file, or use `content` instead (standard input, unsaved editor text)."""
    if file.kind in ("graph", "artifact"):
        structure = _graph if file.kind == "graph" else _artifact
        try:
            return within(budget.of_file(file.size), lambda: structure(file, content))
        except BudgetError as error:
            return LoadedFile(file, problem=Problem(file.path, error.reason, error.detail))
    if content is not None:
        return LoadedFile(file, content)
    data = read_bytes(file.location, file.path, LIMIT)
    return LoadedFile(file, problem=data) if isinstance(data, Problem) else LoadedFile(file, data)


def read(loaded: LoadedFile, complete: bool = False, budget: Budget = GENEROUS) -> FileFacts:
    """The facts of a loaded file, or why there are none: its content raises nothing, and reading it ends within the
    budget. `complete`: include functions that use no framework."""
    if loaded.file.kind == "data":
        return FileFacts(loaded.file.path, "data", content=loaded.data)
    try:
        facts = within(budget.of_file(len(loaded.data)), lambda: _read(loaded, complete))
        return msgspec.structs.replace(facts, checksum=zlib.crc32(loaded.data))
    except BudgetError as error:
        file = loaded.file
        return FileFacts(file.path, file.kind, problems=[Problem(file.path, error.reason, error.detail)])


def _read(loaded: LoadedFile, complete: bool) -> FileFacts:
    file = loaded.file
    if loaded.problem is not None:
        return FileFacts(file.path, file.kind, problems=[loaded.problem])
    if loaded.graph is not None:
        return FileFacts(file.path, file.kind, graph=loaded.graph)
    if loaded.facts is not None:
        return FileFacts(file.path, file.kind, facts=loaded.facts)
    if file.kind == "cuda":
        return _cuda(loaded.data, file.path)
    python = file.kind == "python"
    source = decode(loaded.data, file.path, python)
    if isinstance(source, Problem):
        return FileFacts(file.path, file.kind, problems=[source])
    reader = _READERS.get(file.kind)
    if complete and python:
        facts = _python(source, file.path, complete)
    else:
        facts = reader(source, file.path) if reader else FileFacts(file.path, file.kind)
    noted = comments(source.text, python) if _has_comments(file) else []
    doubts = source.problems if python else ()  # the encoding of comments only matters in Python
    return msgspec.structs.replace(facts, comments=noted, problems=[*doubts, *facts.problems])


def _has_comments(file: SourceFile) -> bool:
    """Whether comments that begin with ``#`` may suppress findings in a file."""
    if file.kind == "configuration":
        return not file.path.endswith(".json")
    return file.kind in ("python", "shell", "makefile", "dockerfile", "dependency")


def _graph(file: SourceFile, content: bytes | None) -> LoadedFile:
    graph: Graph | Problem = service("read_graph")(file.location, file.path, content)
    if isinstance(graph, Problem):
        return LoadedFile(file, problem=graph)
    return LoadedFile(file, msgspec.msgpack.encode(graph), graph=graph)


def _artifact(file: SourceFile, content: bytes | None) -> LoadedFile:
    facts: list[Fact] | Problem = service("read_artifact")(file.location, file.path, content)
    if isinstance(facts, Problem):
        return LoadedFile(file, problem=facts)
    return LoadedFile(file, msgspec.msgpack.encode([(fact.kind, fact) for fact in facts]), facts=facts)


def _python(source: DecodedSource, path: str, complete: bool = False) -> FileFacts:
    from npulint.read.python import read_python

    code, problems = read_python(source.text, path, complete)
    if any(p.fatal for p in problems):
        return FileFacts(path, "python", problems=problems)
    return FileFacts(path, "python", code, problems=problems)


def _notebook(source: DecodedSource, path: str) -> FileFacts:
    from npulint.read.notebook import at_file_lines, read_notebook
    from npulint.read.python import read_python

    notebook = read_notebook(source.text, path)
    code, problems = read_python(notebook.text, path)
    return FileFacts(path, "notebook", at_file_lines(code, notebook.lines), problems=[*notebook.problems, *problems])


def _shell(source: DecodedSource, path: str) -> FileFacts:
    from npulint.read.launcher_facts import ShellProblem
    from npulint.read.shell_script import read_script

    facts, problems = read_script(source.text, path)
    if source.newline == "\r\n":
        facts.insert(0, ShellProblem("crlf-line-ends", path, Span()))
    facts += [*chip_names(source.text, path), *cann_packages(source.text, path)]
    return FileFacts(path, "shell", facts=facts, problems=problems)


def _mixlist(source: DecodedSource, path: str) -> FileFacts:
    from npulint.read.mixlist import read_mixlist

    return FileFacts(path, "mixlist", facts=read_mixlist(source.text, path))


def _dependency(source: DecodedSource, path: str) -> FileFacts:
    from npulint.read.console_scripts import console_scripts
    from npulint.read.dependency import read_dependency

    facts = [*read_dependency(source.text, path), *console_scripts(source.text, path)]
    facts += [*chip_names(source.text, path), *cann_packages(source.text, path)]
    return FileFacts(path, "dependency", facts=facts)


def _makefile(source: DecodedSource, path: str) -> FileFacts:
    from npulint.read.makefile import read_makefile

    return FileFacts(path, "makefile", facts=read_makefile(source.text, path))


def _configuration(source: DecodedSource, path: str) -> FileFacts:
    from npulint.read.configuration import read_configuration

    return read_configuration(source, path)


def _cuda(data: bytes, path: str) -> FileFacts:
    """Comments in C++ may have any encoding, and binary data has no kernels: neither is a problem."""
    from npulint.read.cuda import read_cuda

    text = data.decode("utf-8", "replace").replace("\r\n", "\n").replace("\r", "\n")
    return FileFacts(path, "cuda", facts=read_cuda(text, path), comments=comments(text.replace("//", "# "), False))


_READERS: dict[str, Callable[[DecodedSource, str], FileFacts]] = {
    "python": _python,
    "notebook": _notebook,
    "shell": _shell,
    "mixlist": _mixlist,
    "makefile": _makefile,
    "dependency": _dependency,
    "dockerfile": _dependency,
    "configuration": _configuration,
}
