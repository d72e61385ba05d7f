"""What the names and calls of one module mean."""

from __future__ import annotations

import ast
from collections.abc import Hashable
from typing import Protocol

from npulint.commands.training_config.steps.model import Home
from npulint.model.values.cursors import CallSite, Scope, call_at, scope_named
from npulint.read.python.alignment import SourcePositions


class SharedNames(Protocol):
    """Names of functions of a program and of their parameters that the other program shares."""

    def own(self, home: Home) -> Hashable:
        """A key that is equal for a function and its counterpart."""

    def parameter(self, home: Home, name: str) -> str:
        """The name of a parameter in the counterpart of a function."""


class Resolver:
    """What names and calls of one module mean. `call_numbers` are the numbers of its calls by their positions."""

    def __init__(self, module: Scope, framework: str, shared: SharedNames, positions: SourcePositions) -> None:
        self.module, self.framework, self.shared, self._positions = module, framework, shared, positions
        calls = enumerate(module.module.code.calls)
        self.call_numbers = {(c.line, c.column, c.end_line, c.end_column): at for at, c in calls}

    def site(self, node: ast.Call) -> CallSite | None:
        """The call that a syntax node is."""
        number = self.call_numbers.get(self._positions.span(node))
        return None if number is None else call_at(self.module.context, self.module.module, number)

    def imports(self, name: str) -> bool:
        """Whether a name is that of an imported module."""
        return any(name in imported for imported in self.module.module.imports.values())

    def name(self, written: str, block: int, line: int) -> str:
        """The canonical name of a dotted name."""
        return self.module.context.names.of_name(self.module.module, written, block, line)

    def target(self, canonical: str) -> Home | None:
        """The function or class of the project that a canonical name means."""
        scope = scope_named(self.module.context, canonical)
        return None if scope is None else (scope.path, scope.block)
