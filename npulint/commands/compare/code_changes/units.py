"""The functions, classes and modules of one program, each with its statements."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cached_property

from npulint.commands.compare.code_changes.resolver import Resolver, SharedNames
from npulint.commands.compare.code_changes.statements import Body, Code, Statement, code_of
from npulint.commands.compare.code_changes.trees import CALL, Tree
from npulint.commands.training_config.execution import ProgramSources
from npulint.commands.training_config.program import TrainingConfig
from npulint.commands.training_config.steps.model import MODULE, CodeStep, Home
from npulint.read.python.alignment import SourcePositions

_BODIES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_Caller = tuple[Home, Statement, list[Tree]]
"""The place of a call: its function, its statement, and the trees around it there, itself last."""


class Units:
    """The code of one program."""

    def __init__(self, config: TrainingConfig, sources: ProgramSources, shared: SharedNames) -> None:
        self.config, self._sources, self._shared = config, sources, shared
        self._codes: dict[Home, Code | None] = {}
        self._bodies: dict[str, dict[tuple[bool, int], Body]] = {}
        self._texts: dict[str, list[str]] = {}
        self._resolvers: dict[str, Resolver] = {}

    def homes(self) -> Iterator[Home]:
        """The functions, classes and modules that the program may run."""
        for path in self.config.paths:
            module = self.config.context.project.modules[path]
            for block, record in enumerate(module.blocks):
                if block == MODULE or record.kind in ("function", "class"):
                    home = (path, block)
                    if record.kind != "function" or self.config.runs(home):
                        yield home

    def body(self, home: Home) -> Body | None:
        """The syntax node of a function, class or module; None if its file cannot be parsed."""
        path, block = home
        bodies = self._bodies.get(path)
        if bodies is None:
            module = self.config.context.project.modules[path]
            tree, text = self._sources.tree(module)
            self._texts[path] = text.split("\n")
            bodies = self._bodies[path] = {}
            for node in () if tree is None else ast.walk(tree):
                if isinstance(node, _BODIES):
                    bodies.setdefault((isinstance(node, ast.ClassDef), node.lineno), node)
            if tree is not None:
                bodies[True, 0] = tree
                scope = self.config.scope((path, MODULE))
                framework = self.config.program.fact.framework
                self._resolvers[path] = Resolver(scope, framework, self._shared, SourcePositions(text))
        record = self.config.context.project.modules[path].blocks[block]
        return bodies.get((True, 0) if block == MODULE else (record.kind == "class", record.line))

    def home_at(self, path: str, line: int) -> Home | None:
        """The innermost function or class around a line; None where the file is not one of the program."""
        module = self.config.context.project.modules.get(path)
        if module is None or path not in self.config.paths:
            return None
        around = [
            block
            for block, record in enumerate(module.blocks)
            if record.kind in ("function", "class") and record.line <= line <= record.end_line
        ]
        return path, max(around, default=MODULE)

    def text(self, home: Home) -> str:
        """The source of a function, class or module."""
        body = self.body(home)
        lines = self._texts.get(home[0], [])
        if body is None or isinstance(body, ast.Module):
            return "\n".join(lines)
        return "\n".join(lines[body.lineno - 1 : body.end_lineno])

    def code(self, home: Home) -> Code | None:
        """The statements of a function, class or module; None where they cannot be told."""
        if home not in self._codes:
            body = self.body(home)
            try:
                self._codes[home] = None if body is None else code_of(body, home[1], self._resolvers[home[0]])
            except RecursionError:
                self._codes[home] = None
        return self._codes[home]

    @cached_property
    def steps(self) -> dict[tuple[str, int], CodeStep]:
        """The steps that are calls, by the path and number of the call."""
        return {
            (step.scope.path, step.site.index): step
            for steps in self.config.homes.values()
            for step in steps
            if step.site is not None
        }

    def step(self, home: Home, tree: Tree) -> CodeStep | None:
        """The step of a call; None for another tree."""
        return self.steps.get((home[0], tree.call)) if tree.call >= 0 else None

    @cached_property
    def _calls(self) -> dict[Home, list[tuple[Home, int]]]:
        """By the function or class that they call, the steps of the program."""
        calls: dict[Home, list[tuple[Home, int]]] = {}
        for home, steps in self.config.homes.items():
            for step in steps:
                if step.target is not None and step.site is not None:
                    calls.setdefault(step.target, []).append((home, step.site.index))
        return calls

    @cached_property
    def _handed(self) -> dict[Home, list[tuple[Home, int]]]:
        """By function, the steps that are given the function itself as an argument."""
        handed: dict[Home, list[tuple[Home, int]]] = {}
        for home, steps in self.config.homes.items():
            for step in steps:
                if step.kind != "call" or step.site is None:
                    continue
                for value in step.site.arguments:
                    target = value.context.names.function(value.name) if value.written else None
                    if target is not None:
                        handed.setdefault((target[0].path, target[1]), []).append((home, step.site.index))
        return handed

    def handing(self, home: Home) -> list[CodeStep]:
        """The known calls that a function is an argument of."""
        return [self.steps[place[0], number] for place, number in self._handed.get(home, ())]

    def callers(self, home: Home, made: Home | None = None) -> Iterator[_Caller]:
        """Where a function is called, or an object of the class `made` is made."""
        for target in (home, made) if made is not None else (home,):
            for place, number in self._calls.get(target, ()):
                code = self.code(place)
                for statement in code.statements if code is not None else ():
                    found = next((t for t in statement.tree.walk() if t.call == number and t.kind == CALL), None)
                    if found is not None:
                        yield place, statement, statement.tree.path_to(found)
