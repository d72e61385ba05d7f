"""The files of a project, and its modules."""

from __future__ import annotations

import ast
import posixpath
from typing import NamedTuple


class ModuleData(NamedTuple):
    """A module of the program: its file below the project's root, its dotted name, and whether it is a package."""

    path: str
    name: str
    is_package: bool


class Sources:
    """The files of a project, by path below its root."""

    def __init__(self, texts: dict[str, str]) -> None:
        self.texts = texts
        self._folders = {posixpath.dirname(path) for path in texts}
        self._trees: dict[str, ast.Module | None] = {}

    def tree(self, path: str) -> ast.Module | None:
        """The syntax tree of a Python file; None if it cannot be parsed."""
        if path not in self._trees:
            try:
                self._trees[path] = ast.parse(self.texts[path])
            except (SyntaxError, ValueError, RecursionError, MemoryError):
                self._trees[path] = None
        return self._trees[path]

    def has_folder(self, folder: str) -> bool:
        """Whether there is a folder with files in it."""
        return any(one == folder or one.startswith(f"{folder}/") for one in self._folders)
