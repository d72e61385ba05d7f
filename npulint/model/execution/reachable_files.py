"""Which Python files a start may execute, by the names that they import: more than it does, never fewer."""

from __future__ import annotations

import ast
import posixpath
from collections import defaultdict
from collections.abc import Iterable
from typing import Final, NamedTuple

from npulint.core.lazy_regex import lazy_compile
from npulint.model.execution.project_files import ProjectFiles

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
