"""The syntax nodes of what the records of modules hold, found where an execution is asked about them."""

from __future__ import annotations

import ast
import posixpath
from typing import TYPE_CHECKING

from npulint.model.code.module import Module
from npulint.read.python.alignment import nodes_of

if TYPE_CHECKING:
    from npulint.model.execution.sources import Sources


class SyntaxNodes:
    """The nodes of the modules of one project, whose root findings show as `root`."""

    def __init__(self, root: str) -> None:
        self.root = "" if root in (".", "") else root
        self._nodes: dict[str, dict[int, ast.expr]] = {}

    def below(self, path: str) -> str:
        """A path as it is below the root; empty for one that is not there."""
        if not self.root:
            return path
        return path.removeprefix(f"{self.root}/") if path.startswith(f"{self.root}/") else ""

    def shown(self, path: str) -> str:
        """A path below the root as findings show it."""
        return posixpath.join(self.root, path)

    def of(self, module: Module, sources: Sources) -> dict[int, ast.expr]:
        """The expression nodes of the values in the records of a module, by the identity of the value; empty for a
        file that is not there."""
        nodes = self._nodes.get(module.path)
        if nodes is None:
            tree, text = self.parsed(module.path, sources)
            nodes = self._nodes[module.path] = {} if tree is None else nodes_of(module.code, tree, text)
        return nodes

    def parsed(self, shown_path: str, sources: Sources) -> tuple[ast.Module | None, str]:
        """The syntax tree of a file, and its text."""
        path = self.below(shown_path)
        if not path or not sources.exists(path):
            return None, ""
        from npulint.model.execution.machine import Exhausted  # whoever asks has executed something

        try:
            return sources.tree(path), sources.content(path) or ""
        except Exhausted:
            return None, ""
