"""Values of expressions in one start of a program, taken from its abstract execution (`npulint.model.execution`)."""

from __future__ import annotations

import ast
import os
from collections.abc import Sequence
from functools import cached_property
from typing import Final

from npulint.commands.training_config.provenance.launch_values import frozen
from npulint.commands.training_config.provenance.plain import UNKNOWN, Found, joined, literal
from npulint.commands.training_config.provenance.variables import written
from npulint.discover.kinds import SourceFile
from npulint.facts.model import Span
from npulint.facts.recipe import ProvenanceStep
from npulint.model.abstract_values.value import Value
from npulint.model.code.module import Module
from npulint.model.execution.answers import steps_of
from npulint.model.execution.deep_stack import in_deep_stack
from npulint.model.execution.launchers import launcher_starts
from npulint.model.execution.probes import Observable, Shown
from npulint.model.execution.project_files import ProjectFiles
from npulint.model.execution.reveal import executed
from npulint.model.execution.starts import Start
from npulint.model.launches.project_launches import Launch
from npulint.model.values.cursors import AssignmentSite, Expr
from npulint.model.values.executions import SyntaxNodes

_MOST_STEPS: Final = 30_000  # of one start
_MOST_OF_ALL: Final = 60_000  # of all starts of one side
_LONGEST: Final = 60  # characters of an expression that is named


class ProgramSources:
    """The files of one side of a comparison, as an execution needs them; `root` is its folder as findings show it."""

    def __init__(self, root: str, sources: Sequence[SourceFile]) -> None:
        self._syntax = SyntaxNodes(root)
        self._sources = sources
        self.steps_left = _MOST_OF_ALL
        self._classes: dict[str, dict[int, ast.ClassDef]] = {}

    @cached_property
    def files(self) -> ProjectFiles | None:
        """The files on the disk; None if the folder is not found."""
        for source in self._sources:
            below, location = self._syntax.below(source.path), os.path.abspath(source.location)
            if below and location.replace(os.sep, "/").endswith(f"/{below}"):
                return ProjectFiles(location[: -len(below)] or "/")
        return None

    def shown(self, path: str) -> str:
        """A path below the root as findings show it."""
        return self._syntax.shown(path)

    def nodes(self, module: Module) -> dict[int, ast.expr]:
        """The expression nodes of the values in the records of a module, by the identity of the value."""
        return {} if self.files is None else self._syntax.of(module, self.files)

    def tree(self, module: Module) -> tuple[ast.Module | None, str]:
        """The syntax tree of a module, and its text; None if it cannot be parsed."""
        return (None, "") if self.files is None else self._syntax.parsed(module.path, self.files)

    def classes(self, module: Module) -> dict[int, ast.ClassDef]:
        """The classes of a module by the lines that they begin on."""
        if module.path not in self._classes:
            tree, _ = self.tree(module)
            nodes = () if tree is None else ast.walk(tree)
            self._classes[module.path] = {node.lineno: node for node in nodes if isinstance(node, ast.ClassDef)}
        return self._classes[module.path]

    def start(self, entry: str, launch: Launch | None) -> Start | None:
        """The start of a script by a launcher, or without one; None where it is not understood."""
        files = self.files
        if files is None:
            return None
        script = self._syntax.below(entry)
        if launch is None:
            return Start(script)
        path = self._syntax.below(launch.fact.path)
        kind = dict(files.launchers).get(path)
        text = files.launcher_text(path) if kind is not None else None
        starts = [] if kind is None or text is None else launcher_starts(text, path, kind, files)
        starts = [start for start in starts if start.script == script and not start.is_open]
        near = [start for start in starts if start.line == launch.fact.span.line]
        return next(iter(near or starts), None)


class Execution:
    """The abstract execution of one start of a program whose modules are `modules`."""

    def __init__(self, sources: ProgramSources, start: Start, modules: Sequence[Module]) -> None:
        self._sources, self._start, self._modules = sources, start, modules
        self._literals: dict[ast.Constant, Value] = {}

    def found(self, expr: Expr) -> Found | None:
        """The values that an expression has, none where they are not known; None where the execution does not reach
        the expression, or was not followed to its end."""
        node = self._node(expr)
        possible = None if node is None else self._found(node, written(expr))
        if node is None or possible is None or not possible.provenance:
            return possible
        name = written(expr) or ast.unparse(node)
        return possible.through(ProvenanceStep(expr.module.path, Span.at(expr.line), name[:_LONGEST]))

    def _node(self, expr: Expr) -> ast.expr | None:
        return None if self._shown is None else self._sources.nodes(expr.module).get(id(expr.value))

    def _found(self, watched: Observable, name: str) -> Found | None:
        seen = None if self._shown is None else self._shown.get(watched)
        if seen is None or seen.values is None:
            return None if seen is None else UNKNOWN
        steps = steps_of(seen.origin)
        way = tuple(ProvenanceStep(self._sources.shown(path), Span.at(line), name) for path, line in steps)
        possible = joined([literal(frozen(value)) for value in seen.values])
        return possible.through(*way) if way else possible

    def depends_on_option(self, expr: Expr) -> bool:
        """Whether the value of an expression is not known because the start may pass any for an option."""
        node = self._node(expr)
        seen = self._shown.get(node) if self._shown is not None and node is not None else None
        return seen is not None and seen.values is None and seen.reason.startswith("--")

    def field(self, bind: AssignmentSite) -> Found | None:
        """The values that a field of a data class has in the instances that are made; None where that is not told."""
        owner = bind.scope
        node = self._sources.classes(owner.module).get(owner.record.line) if self._shown is not None else None
        return None if node is None else self._found((node, bind.target), bind.target)

    def is_unread(self, expr: Expr) -> bool:
        """Whether the program keeps the value of a literal somewhere, but never reads it from there: it is overwritten
        before."""
        node = self._node(expr)
        constant = node.operand if isinstance(node, ast.UnaryOp) else node
        value = self._literals.get(constant) if isinstance(constant, ast.Constant) else None
        if value is None or value.origin is None:
            return False
        return value.origin.root.is_stored and not value.origin.root.is_read

    @cached_property
    def _shown(self) -> dict[Observable, Shown] | None:
        files = self._sources.files
        if files is None or not self._modules:
            return None
        nodes = (node for module in self._modules for node in self._sources.nodes(module).values())
        watched = frozenset(node for node in nodes if not isinstance(node, ast.Constant))
        most = min(_MOST_STEPS, self._sources.steps_left)
        if most <= 0:
            return None
        engine, reason = in_deep_stack(lambda: executed(files, self._start, watched, most))
        self._sources.steps_left -= engine.steps
        self._literals = engine.literals
        return None if reason else engine.probes.shown
