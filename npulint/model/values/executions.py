"""What the executions of a project's scripts tell of values that change after they are written.

A dict that is changed through another name, a method or a function is worth what an execution makes of it, and only the
abstract execution of `npulint.model.execution` follows all of that. The scripts that may reach a module are executed
when the first question about it is asked, with any arguments, in a bounded number of steps; most projects ask none."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Final

from npulint.facts.code import Value
from npulint.facts.values import PossibleValues
from npulint.model.code.module import Module
from npulint.model.values.syntax_nodes import SyntaxNodes
from npulint.read.files import ReadableFiles

if TYPE_CHECKING:
    from npulint.model.code.project import Project
    from npulint.model.execution.engine import Engine
    from npulint.model.execution.sources import Sources

_MOST_STEPS: Final = 30_000  # of one start
_MOST_OF_ALL: Final = 60_000  # of all starts of a project
_MOST_STARTS: Final = 8  # scripts that may reach one module
_SCALARS: Final = (str, int, float, bool, type(None))
_READING: Final = (ast.Subscript, ast.Call, ast.Attribute, ast.Name)


class Executions:
    """The executions of the scripts of one project."""

    def __init__(self, project: Project, readable: ReadableFiles) -> None:
        self._project, self._readable = project, readable
        self._nodes = SyntaxNodes(project.root)
        self._steps_left = _MOST_OF_ALL
        self._engines: dict[str, Engine | None] = {}

    def values(self, module: Module, value: Value) -> PossibleValues | None:
        """The scalars that a value in the records of a module has in all executions; None where one of them is not
        followed to its end, or leaves it open, and where none reaches it."""
        node, engines = self._node(module, value), self._reaching(module)
        if node is None or engines is None:
            return None
        shown = [engine.probes.shown[node] for engine in engines if node in engine.probes.shown]
        if not shown:
            return None
        found: list[str | int | float | bool | None] = []
        for each in shown:
            if each.values is None:
                return None
            for one in each.values:
                if not isinstance(one, _SCALARS):
                    return None
                if not any(one == other and type(one) is type(other) for other in found):
                    found.append(one)
        return PossibleValues(tuple(found), True)

    def is_unread(self, module: Module, literal: Value) -> bool:
        """Whether all scripts that reach a literal keep it somewhere, but never read it from there: something else is
        written over it before."""
        node, engines = self._node(module, literal), self._reaching(module)
        if not isinstance(node, ast.Constant) or engines is None:
            return False
        origins = [engine.literals[node].origin for engine in engines if node in engine.literals]
        roots = [origin.root for origin in origins if origin is not None]
        return len(roots) == len(origins) > 0 and all(root.is_stored and not root.is_read for root in roots)

    def _node(self, module: Module, value: Value) -> ast.expr | None:
        return self._nodes.of(module, self._sources).get(id(value))

    def _reaching(self, module: Module) -> Sequence[Engine] | None:
        """The executions of all scripts that may reach a module; None if one was not followed to its end."""
        scripts = self._scripts.get(module.path, ())
        if not scripts or len(scripts) > _MOST_STARTS:
            return None
        engines = [self._executed(script) for script in scripts]
        whole = [engine for engine in engines if engine is not None]
        return whole if len(whole) == len(engines) else None

    def _executed(self, script: str) -> Engine | None:
        if script not in self._engines:
            self._engines[script] = self._execution(script)
        return self._engines[script]

    def _execution(self, script: str) -> Engine | None:
        from npulint.model.execution.deep_stack import in_deep_stack  # few projects ask
        from npulint.model.execution.reveal import executed
        from npulint.model.execution.starts import Start

        most = min(_MOST_STEPS, self._steps_left)
        path = self._nodes.below(script)
        if most <= 0 or not path:
            return None
        trees = [self._nodes.parsed(each, self._sources)[0] for each in self._reached[script]]
        watched = frozenset(
            node for tree in trees if tree is not None for node in ast.walk(tree) if isinstance(node, _READING)
        )
        start = Start(path, is_open=True)
        engine, reason = in_deep_stack(lambda: executed(self._sources, start, watched, most))
        self._steps_left -= engine.steps
        return None if reason else engine

    @cached_property
    def _sources(self) -> Sources:
        from npulint.model.execution.checked_files import CheckedFiles

        files = {self._nodes.below(file.path): file for file in self._readable.files}
        return CheckedFiles(files, self._readable.load)

    @cached_property
    def _reached(self) -> Mapping[str, Sequence[str]]:
        """By script, the modules that it may import, itself included."""
        reached: dict[str, Sequence[str]] = {}
        for module in self._project.modules.values():
            if module.main_guards or module.path not in self._project.imported_paths:
                reached[module.path] = (module.path, *self._project.reached_from(module.path))
        return reached

    @cached_property
    def _scripts(self) -> Mapping[str, Sequence[str]]:
        """By module, the scripts that may reach it."""
        scripts: dict[str, list[str]] = {}
        for script, paths in self._reached.items():
            for path in dict.fromkeys(paths):
                scripts.setdefault(path, []).append(script)
        return scripts
