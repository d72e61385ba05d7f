"""The files that a check has read, read again where an execution needs their text."""

from __future__ import annotations

import ast
import posixpath
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from npulint.discover.kinds import SourceFile
from npulint.facts.model import Problem
from npulint.model.execution.project_files import NotRead, parsed_text
from npulint.model.execution.sources import Sources
from npulint.read.files import LoadedFile
from npulint.read.source import decode

_KINDS: Final = ("python", "data", "configuration", "mixlist")


class CheckedFiles(Sources):
    """Python files and data files of one project. `files` are by path below its root; `load` reads one of them again.
    Nothing else is looked up on the disk."""

    def __init__(self, files: Mapping[str, SourceFile], load: Callable[[SourceFile], LoadedFile]) -> None:
        super().__init__({})
        self._files = {path: file for path, file in files.items() if file.kind in _KINDS}
        self._load = load
        self._read: dict[str, str | None] = {}
        self._folders = {posixpath.dirname(path) for path in self._files}

    @property
    def scripts(self) -> Sequence[str]:
        """The paths of all Python files, in order."""
        return sorted(path for path, file in self._files.items() if file.kind == "python")

    def exists(self, path: str) -> bool:
        """Whether the check has read such a file."""
        return path in self._files

    def content(self, path: str) -> str | None:
        """The text of a file; None if there is none, or it cannot be read."""
        if path not in self._read:
            self._read[path] = self._text(path) if path in self._files else None
        return self._read[path]

    def _text(self, path: str) -> str | None:
        file = self._files[path]
        loaded = self._load(file)
        if loaded.problem is not None:
            return None
        source = decode(loaded.data, file.path, file.kind == "python")
        return None if isinstance(source, Problem) else source.text

    def tree(self, path: str) -> ast.Module | None:
        """The syntax tree of a Python file. Raises `NotRead` for one that this Python cannot parse: an older or a newer
        one may."""
        if path not in self._trees:
            self._trees[path] = self._parsed(path)
        tree = self._trees[path]
        if tree is None:
            raise NotRead
        return tree

    def _parsed(self, path: str) -> ast.Module | None:
        text = self.content(path)
        if text is None:
            return None
        try:
            return parsed_text(text)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None
