"""The files of a project on the disk, as far as its programs import and read them."""

from __future__ import annotations

import ast
import os
import posixpath
import sys
import warnings
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from npulint.core.budget import GENEROUS, BudgetError, reserve, within
from npulint.core.lazy_regex import lazy_compile
from npulint.core.links import below
from npulint.discover import DiscoverOptions, discover
from npulint.discover.files import EXCLUDED
from npulint.discover.kinds import kinds_of
from npulint.discover.paths import shown
from npulint.facts.model import Problem, Span
from npulint.model.execution.launchers import KINDS
from npulint.model.execution.machine import Exhausted
from npulint.model.execution.sources import Sources
from npulint.read.python.parse import may_be_newer, memory_of_tree
from npulint.read.source import decode, read_bytes

_MOST_CODE: Final = 2_000_000  # bytes of a Python file
_MOST_DATA: Final = 1_000_000  # bytes of a file that a program reads
_MOST_TOTAL: Final = 100_000_000  # bytes of all of them
_READ: Final = ("python", *KINDS)
_EXCLUDED: Final = frozenset(EXCLUDED)
_REFUSED: Final = ("syntax-error", "encoding")  # files that no Python executes
_GROUPS: Final = sys.version_info < (3, 11)  # whose parser does not know `except*`


class NotRead(Exhausted):
    """A file of the project is executed that could not be read."""


class ProjectFiles(Sources):
    """The files of a project below its root. Python files and launchers are those that a check would read; what a
    program imports or reads beside them is looked up on the disk. `problems` says which files are not read, and why."""

    def __init__(self, root: str) -> None:
        super().__init__({})
        self.root = os.path.abspath(root)
        self.problems: dict[str, Problem] = {}
        self._left = _MOST_TOTAL
        self._contents: dict[str, str | None] = {}
        self._unparsed: dict[str, bool] = {}
        discovery = discover([root], DiscoverOptions())
        listed = [(self._below(file.location), file.kind) for file in discovery.files if file.kind in _READ]
        self._scripts = sorted(path for path, kind in listed if kind == "python")
        self.launchers = [(path, kind) for path, kind in listed if kind in KINDS]
        self._known = frozenset(self._scripts)
        self._folders = {posixpath.dirname(path) for path in self._scripts}
        self._by_name: dict[str, list[str]] = defaultdict(list)
        for path in self._scripts:
            self._by_name[posixpath.basename(path)].append(path)
        for problem in discovery.problems:
            if set(kinds_of(problem.path)) & set(_READ) or problem.reason == "too-many-files":
                self.problems.setdefault(problem.path, problem)

    def _below(self, location: str) -> str:
        return os.path.relpath(location, self.root).replace(os.sep, "/")

    # -- what command lines name

    @property
    def scripts(self) -> Sequence[str]:
        """The paths of all Python files of the project."""
        return self._scripts

    def has_script(self, path: str) -> bool:
        """Whether there is such a file below the project's root."""
        return path in self._known or (bool(path) and self.exists(path))

    def below_root(self, path: str) -> str | None:
        """The path below the project's root that an absolute one is; None outside."""
        if os.path.isabs(path) and os.path.normpath(path).startswith(os.path.join(self.root, "")):
            return self._below(path)
        return None

    def ending_with(self, tails: Sequence[str]) -> list[str]:
        """The scripts whose paths end with one of these, part by part."""
        named = [(tail, path) for tail in tails for path in self._by_name.get(posixpath.basename(tail), ())]
        return [path for tail, path in named if f"/{path}".endswith(f"/{tail}")]

    # -- contents

    def content(self, path: str) -> str | None:
        """The text of a file; None if there is none, or it is not read."""
        if path not in self._contents:
            self._contents[path] = self._code(path) if path.endswith(".py") else self._data(path)
        return self._contents[path]

    def text_to_source(self, path: str) -> str | None:
        """The text of a file that a launcher executes in its own shell; None if there is none."""
        return self.content(path)

    def launcher_text(self, path: str) -> str | None:
        """The text of a launcher, carriage returns included; None if it cannot be read."""
        data = read_bytes(os.path.join(self.root, path), shown(path), _MOST_DATA)
        source = data if isinstance(data, Problem) else decode(data, shown(path), python=False)
        if isinstance(source, Problem):
            return self._not_read(source)
        return source.text if source.newline == "\n" else source.text.replace("\n", "\r\n")

    def _location(self, path: str) -> str | None:
        """Where a regular file of the project is; None if there is none, or if a link leads out."""
        if set(path.split("/")) & _EXCLUDED:
            return None
        location = os.path.join(self.root, path)
        try:
            real = os.path.isfile(location)
        except ValueError:
            return None
        return location if real and below(location, self.root) else None

    def exists(self, path: str) -> bool:
        """Whether a program finds such a file: one of code, or of data that can be read."""
        if path.endswith(".py"):
            return path in self._known or self._location(path) is not None
        return self.content(path) is not None

    def _data(self, path: str) -> str | None:
        location = self._location(path)
        data = read_bytes(location, shown(path), min(_MOST_DATA, self._left)) if location else None
        if data is None or isinstance(data, Problem):
            return None
        self._left -= len(data)
        try:  # line ends are those of the file only where a program asks for them
            return data.decode("utf-8") if b"\r" not in data else None
        except UnicodeDecodeError:
            return None

    def _code(self, path: str) -> str | None:
        location = self._location(path)
        if location is None:
            return None
        data = read_bytes(location, shown(path), min(_MOST_CODE, self._left))
        if isinstance(data, Problem):
            return self._not_read(data)
        self._left -= len(data)
        source = decode(data, shown(path))
        if isinstance(source, Problem):
            return self._not_read(source)
        for problem in source.problems:  # Python itself refuses it
            return self._not_read(problem)
        return source.text

    def _not_read(self, problem: Problem) -> str | None:
        self.problems.setdefault(problem.path, problem)
        return None

    # -- syntax

    def tree(self, path: str) -> ast.Module | None:
        """The syntax tree of a Python file; None if Python surely refuses it. Raises `NotRead` if it is not known
        what the file does."""
        if path in self._unparsed:
            if self._unparsed[path]:
                return None
            raise NotRead
        if path not in self._trees:
            tree = self.parsed(path)
            if tree is None:
                return self.tree(path)
            self._trees[path] = tree
        return self._trees[path]

    def parsed(self, path: str) -> ast.Module | None:
        """The syntax tree of a Python file, which is not kept; None if it cannot be parsed."""
        text = self.content(path)
        problem = None if text is not None else self.problems.get(shown(path), Problem(shown(path), "other"))
        if text is not None:
            try:
                return within(GENEROUS.of_file(len(text)), lambda: parsed_text(text))
            except SyntaxError as error:
                problem = _of_syntax(error, path, text)
            except (RecursionError, MemoryError):
                problem = Problem(shown(path), "too-deep")
            except ValueError as error:
                problem = Problem(shown(path), "syntax-error", str(error))
            except BudgetError as error:
                problem = Problem(shown(path), error.reason, error.detail)
        assert problem is not None
        self.problems.setdefault(problem.path, problem)
        self._unparsed[path] = problem.reason in _REFUSED
        return None

    def is_unknown(self, path: str) -> bool:
        """Whether a file could not be parsed, although Python may execute it."""
        return self._unparsed.get(path) is False

    def has_folder(self, folder: str) -> bool:
        """Whether there is a folder with Python files in it."""
        if super().has_folder(folder):
            return True
        try:
            entries = os.listdir(os.path.join(self.root, folder)) if folder else []
        except (OSError, ValueError):
            return False
        return any(entry.endswith(".py") for entry in entries)


def parsed_text(text: str) -> ast.Module:
    """The syntax tree of a text. Raises what `ast.parse` raises, and `BudgetError` where it would take too much."""
    reserve(memory_of_tree(text))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(text)


def _of_syntax(error: SyntaxError, path: str, text: str) -> Problem:
    line = max(1, error.lineno or 1)
    written = text.split("\n")[line - 1 : line]
    reason = "syntax-error"
    if any(may_be_newer(line_text, sys.version_info[:2]) for line_text in written) or (_GROUPS and "except*" in text):
        reason = "newer-python"
    return Problem(shown(path), reason, error.msg or "", Span.at(line))


# Which Python files a start may execute, by the names that they import: more than it does, never fewer.

PROBES: Final = frozenset(("reveal_value", "reveal_runs"))
"""The names of the functions whose calls are answered."""

_EXECUTES: Final = frozenset(
    """__import__ import_module exec eval compile execfile run_path run_module runpy importlib imp pkgutil builtins
    __builtins__ spec_from_file_location SourceFileLoader load_module load_source import_string locate resolve_name
    find_spec zipimport code codeop""".split()
)

_WORD = lazy_compile(r"[^\W\d]\w*")


class Probe(NamedTuple):
    """A call of ``reveal_value`` or ``reveal_runs``."""

    path: str
    line: int
    kind: str


class FileNames(NamedTuple):
    """What a Python file imports by name; `executes_any`: it may execute files by other ways."""

    imported: frozenset[str]
    executes_any: bool
    probes: tuple[Probe, ...]


def names_of(tree: ast.Module, path: str) -> FileNames:
    """The names in a syntax tree."""
    imported: set[str] = set()
    probes: set[Probe] = set()
    executes_any = False
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                imported.update(alias.name.split("."))
        elif isinstance(node, ast.ImportFrom):
            imported.update((node.module or "").split("."), (alias.name for alias in node.names))
        elif isinstance(node, ast.Name):
            executes_any = executes_any or node.id in _EXECUTES
        elif isinstance(node, ast.Attribute):
            executes_any = executes_any or node.attr in _EXECUTES
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in PROBES:
            probes.add(Probe(path, node.lineno, node.func.id.removeprefix("reveal_")))
    is_open = executes_any or bool(imported & _EXECUTES)
    return FileNames(frozenset(imported), is_open, tuple(sorted(probes)))


def names_in_text(text: str | None) -> FileNames:
    """All names in a source that cannot be parsed (None: it cannot be read either)."""
    words = frozenset(_WORD.findall(text or ""))
    return FileNames(words, text is None or bool(words & _EXECUTES), ())


class ReachableFiles:
    """The files of a project that its starts may execute, and the probes in them."""

    def __init__(self, files: ProjectFiles) -> None:
        self._files = files
        self._names: dict[str, FileNames] = {}
        self._by_stem: dict[str, set[str]] = defaultdict(set)
        self._kept: dict[str, frozenset[str] | None] = {}
        for path in files.scripts:
            self._add(path)

    @property
    def probes(self) -> list[Probe]:
        """All probes, ordered by place."""
        return sorted(probe for names in self._names.values() for probe in names.probes)

    def _add(self, path: str) -> None:
        tree = self._files.parsed(path)
        if tree is not None:
            self._names[path] = names_of(tree, path)
        else:
            text = self._files.content(path) if self._files.is_unknown(path) else ""
            self._names[path] = names_in_text(text)
        folder, name = posixpath.split(path)
        stem = name.removesuffix(".py")
        self._by_stem[posixpath.basename(folder) if stem == "__init__" else stem].add(path)

    def of(self, script: str) -> frozenset[str] | None:
        """The files that a start of a script may execute; None: any."""
        if script not in self._kept:
            self._kept[script] = self._closure(script)
        return self._kept[script]

    def _closure(self, script: str) -> frozenset[str] | None:
        if script not in self._names:
            return None
        reached: set[str] = set()
        pending = [script]
        while pending:
            path = pending.pop()
            if path in reached:
                continue
            reached.add(path)
            names = self._names[path]
            if names.executes_any:
                return None
            pending += self._packages(path)
            for name in names.imported:
                if self._is_left_out(posixpath.dirname(path), name):
                    return None
                pending += self._by_stem.get(name, ())
        return frozenset(reached)

    def _is_left_out(self, folder: str, name: str) -> bool:
        """Whether a name may be that of a module that is on the disk, but is not read as one of the project."""
        files = (f"{name}.py", f"{name}/__init__.py")
        paths = [posixpath.join(start, file) for start in {folder, ""} for file in files]
        return any(path not in self._names and self._files.exists(path) for path in paths)

    def _packages(self, path: str) -> Iterable[str]:
        """The packages that a file is in, which are executed before it."""
        folder = posixpath.dirname(path)
        while folder:
            if f"{folder}/__init__.py" in self._names:
                yield f"{folder}/__init__.py"
            folder = posixpath.dirname(folder)
