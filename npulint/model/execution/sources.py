"""The files of a project, and its modules."""

from __future__ import annotations

import ast
import posixpath
from collections.abc import Mapping, Sequence
from typing import NamedTuple


class ModuleData(NamedTuple):
    """A module of the program: its file below the project's root, its dotted name, and whether it is a package."""

    path: str
    name: str
    is_package: bool


class Sources:
    """The files of a project, by path below its root."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self._texts = texts
        self._folders = {posixpath.dirname(path) for path in texts}
        self._trees: dict[str, ast.Module | None] = {}

    @property
    def scripts(self) -> Sequence[str]:
        """The paths of all Python files, in order."""
        return sorted(path for path in self._texts if path.endswith(".py"))

    def exists(self, path: str) -> bool:
        """Whether there is such a file."""
        return path in self._texts

    def content(self, path: str) -> str | None:
        """The text of a file; None if there is none."""
        return self._texts.get(path)

    def ending_with(self, tails: Sequence[str]) -> list[str]:
        """The Python files whose paths end with one of these, part by part."""
        return [path for path in self.scripts if any(f"/{path}".endswith(f"/{tail}") for tail in tails)]

    def tree(self, path: str) -> ast.Module | None:
        """The syntax tree of a Python file; None if it cannot be parsed."""
        if path not in self._trees:
            try:
                self._trees[path] = ast.parse(self.content(path) or "")
            except (SyntaxError, ValueError, RecursionError, MemoryError):
                self._trees[path] = None
        return self._trees[path]

    def has_folder(self, folder: str) -> bool:
        """Whether there is a folder with files in it."""
        return any(inner == folder or inner.startswith(f"{folder}/") for inner in self._folders)
