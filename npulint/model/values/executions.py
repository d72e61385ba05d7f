"""What the executions of a project's scripts tell of values that change after they are written.

A dict that is changed through another name, a method or a function is worth what an execution makes of it, and only the
abstract execution of `npulint.model.execution` follows all of that. The scripts that may reach a module are executed
when the first question about it is asked, with any arguments, in a bounded number of steps; most projects ask none."""

from __future__ import annotations

import ast
import posixpath
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Final, NamedTuple, cast

from npulint.facts.code import Scalar, Value
from npulint.facts.values import PossibleValues, merge
from npulint.model.code.module import Module
from npulint.read.files import ReadableFiles
from npulint.read.python.alignment import nodes_of

if TYPE_CHECKING:
    from npulint.model.abstract_values.value import Origin
    from npulint.model.code.project import Project
    from npulint.model.execution.probes import Observable, Shown
    from npulint.model.execution.sources import Sources


# The syntax nodes of what the records of modules hold, found where an execution is asked about them.


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


_MOST_STEPS: Final = 30_000  # of one start
_MOST_OF_ALL: Final = 60_000  # of all starts of a project
_MOST_STARTS: Final = 8  # scripts that may reach one module
_MOST_CODE: Final = 40_000  # bytes of all modules that a script may reach; more would need more steps
_SCALARS: Final = (str, int, float, bool, type(None))
_READING: Final = (ast.Subscript, ast.Call, ast.Attribute, ast.Name)


class _Executed(NamedTuple):
    """What an execution has shown: the values of what was watched, and the origins of literals."""

    shown: Mapping[Observable, Shown]
    literals: Mapping[ast.Constant, Origin | None]


class Executions:
    """The executions of the scripts of one project."""

    def __init__(self, project: Project, readable: ReadableFiles) -> None:
        self._project, self._readable = project, readable
        self._nodes = SyntaxNodes(project.root)
        self._steps_left = _MOST_OF_ALL
        self._executions: dict[str, _Executed | None] = {}

    def values(self, module: Module, value: Value) -> PossibleValues | None:
        """The scalars that a value in the records of a module has in all executions; None where one of them is not
        followed to its end, or leaves it open, and where none reaches it."""
        executed = self._reaching(module)
        node = None if executed is None else self._node(module, value)
        if node is None or executed is None:
            return None
        shown = [each.shown[node] for each in executed if node in each.shown]
        if not shown:
            return None
        scalars: list[PossibleValues] = []
        for observed in shown:
            if observed.values is None or not all(isinstance(scalar, _SCALARS) for scalar in observed.values):
                return None
            scalars += [PossibleValues((scalar,), True) for scalar in cast(list[Scalar], observed.values)]
        return merge(scalars)

    def is_unread(self, module: Module, literal: Value) -> bool:
        """Whether all scripts that reach a literal keep it somewhere, but never read it from there: something else is
        written over it before."""
        executed = self._reaching(module)
        node = None if executed is None else self._node(module, literal)
        if not isinstance(node, ast.Constant) or executed is None:
            return False
        origins = [each.literals[node] for each in executed if node in each.literals]
        roots = [origin.root for origin in origins if origin is not None]
        return len(roots) == len(origins) > 0 and all(root.is_stored and not root.is_read for root in roots)

    def _node(self, module: Module, value: Value) -> ast.expr | None:
        return self._nodes.of(module, self._sources).get(id(value))

    def _reaching(self, module: Module) -> Sequence[_Executed] | None:
        """The executions of all scripts that may reach a module; None if one was not followed to its end."""
        scripts = self._scripts.get(module.path, ())
        if not scripts or len(scripts) > _MOST_STARTS:
            return None
        executions = [self._executed(script) for script in scripts]
        executed = [execution for execution in executions if execution is not None]
        return executed if len(executed) == len(executions) else None

    def _executed(self, script: str) -> _Executed | None:
        if script not in self._executions:
            self._executions[script] = self._execution(script)
        return self._executions[script]

    def _execution(self, script: str) -> _Executed | None:
        from npulint.model.execution.deep_stack import in_deep_stack  # few projects ask
        from npulint.model.execution.reveal import executed
        from npulint.model.execution.starts import Start

        most = min(_MOST_STEPS, self._steps_left)
        path = self._nodes.below(script)
        if most <= 0 or not path or sum(self._sizes.get(each, 0) for each in self._reached[script]) > _MOST_CODE:
            return None
        trees = [self._nodes.parsed(each, self._sources)[0] for each in self._reached[script]]
        nodes = (node for tree in trees if tree is not None for node in ast.walk(tree))
        watched = frozenset(node for node in nodes if isinstance(node, _READING))
        start = Start(path, is_open=True)
        engine, reason = in_deep_stack(lambda: executed(self._sources, start, watched, most))
        self._steps_left -= engine.steps
        if reason:
            return None
        return _Executed(engine.probes.shown, {node: value.origin for node, value in engine.literals.items()})

    @cached_property
    def _sizes(self) -> Mapping[str, int]:
        return {file.path: file.size for file in self._readable.files}

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
                reached[module.path] = self._project.reached_from(module.path)
        return reached

    @cached_property
    def _scripts(self) -> Mapping[str, Sequence[str]]:
        """By module, the scripts that may reach it."""
        scripts: dict[str, list[str]] = {}
        for script, paths in self._reached.items():
            for path in paths:
                scripts.setdefault(path, []).append(script)
        return scripts
