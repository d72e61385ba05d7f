"""Which part of the training config a piece of code feeds: by the calls around it, and those that get what it makes."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import Final

from npulint.commands.compare.code_changes.expressions import PASSED
from npulint.commands.compare.code_changes.statements import Code, Statement
from npulint.commands.compare.code_changes.trees import ATTRIBUTE, CALL, CONST, Label, Tree
from npulint.commands.compare.code_changes.units import Units
from npulint.commands.training_config.passed import argument_part
from npulint.commands.training_config.program import LEADING
from npulint.commands.training_config.steps.model import MODULE, CodeStep, Home

_DEEP: Final = 8  # functions and assignments that are followed
_CHANGING: Final = frozenset("append extend update sort reverse insert pop remove clear setdefault add".split())
"""Methods that change the object they are called on."""
_MODULES: Final = ("nn.Module", ".Layer", ".Model", "nn.Sequential")
_APPLYING: Final = frozenset(("forward", "call", "__call__"))
_OPTION: Final = ("--", "DEFINE_")


class Feeds:
    """Says what the code of one program feeds."""

    def __init__(self, units: Units) -> None:
        self._units = units
        self._functions: dict[Home, str] = {}

    def part(self, home: Home, code: Code, statement: Statement, tree: Tree) -> str:
        """The part that a tree in a statement feeds; empty if it feeds none."""
        path = statement.tree.path_to(tree)
        return (
            self._around(home, path)
            or self._within(home, tree)
            or self._targeted(statement)
            or self._onwards(home, code, statement, 0)
        )

    # -- within one statement

    def _around(self, home: Home, path: Sequence[Tree], skipped: int = 1) -> str:
        """The part of the innermost known call or named entry around the last tree of a path."""
        for at in range(len(path) - skipped, -1, -1):
            tree = path[at]
            name = ""
            if at + 1 < len(path):
                inner = path[at + 1]
                name = next((n for n, p in zip(tree.names, tree.parts, strict=False) if p is inner), "")
            step = self._units.step(home, tree)
            if step is not None and step.counts:
                part = _role(step, name)
                if part:
                    return part
            part = _named(tree, name)
            if part:
                return part
        return ""

    def _outside(self, home: Home, path: Sequence[Tree]) -> str:
        """The part of the innermost known call around the last tree of a path, which is a call itself."""
        return self._around(home, path, 2)

    def _within(self, home: Home, tree: Tree) -> str:
        """The part of the outermost known call in a tree."""
        for inner in tree.walk():
            step = self._units.step(home, inner)
            if step is not None and step.counts and step.part:
                return step.part
        return ""

    @staticmethod
    def _targeted(statement: Statement) -> str:
        """The part that the name of an assigned attribute or entry tells: ``cfg.lr = 0.1``."""
        if statement.kind != "set" or len(statement.tree.parts) != 2:
            return ""
        place = statement.tree.parts[0]
        if place.kind == ATTRIBUTE:
            return _setting(str(place.label[1]))
        if place.kind == "[]" and place.parts[1].label[:2] == (CONST, "str"):
            return _setting(str(place.parts[1].label[2]))
        return ""

    # -- what gets the result

    def _onwards(self, home: Home, code: Code, statement: Statement, depth: int) -> str:
        """The part of what gets the result of a statement, or of what a block contains."""
        if depth > _DEEP:
            return ""
        if statement.kind == "return":
            return self.of_function(home, depth + 1)
        if statement.kind in ("break", "continue", "else", "end"):
            around = statement.opened[-1:] if statement.kind != "end" else ()
            return next((self._of_block(home, code, at, depth) for at in around), "")
        if statement.is_border:
            at = next((at for at, each in enumerate(code.statements) if each is statement), -1)
            return self._of_block(home, code, at, depth) if statement.kind != "with" else ""
        return self._of_variables(home, code, statement, depth)

    def _of_block(self, home: Home, code: Code, head: int, depth: int) -> str:
        """The part of the first statement of a block that has one."""
        for each in code.statements:
            if head in each.opened and not each.is_border:
                part = self._within(home, each.tree) or self._targeted(each)
                part = part or self._onwards(home, code, each, depth + 1)
                if part:
                    return part
        return ""

    def _of_variables(self, home: Home, code: Code, statement: Statement, depth: int) -> str:
        seen: set[Label] = set()
        waiting = [*statement.targets, *_changed(statement)]
        while waiting:
            label = waiting.pop(0)
            if label in seen or len(seen) > 4 * _DEEP:
                continue
            seen.add(label)
            for reader, tree in _readers(code, label):
                part = self._around(home, reader.tree.path_to(tree))
                if part:
                    return part
                if reader.kind == "return":
                    part = self.of_function(home, depth + 1)
                    if part:
                        return part
                waiting += [*reader.targets, *_changed(reader)]
        return self._kept(home, statement)

    def _kept(self, home: Home, statement: Statement) -> str:
        """The part of a module or class whose attribute or variable is assigned."""
        path, block = home
        module = self._units.config.context.project.modules[path]
        owner = module.class_of(block) if block != MODULE else -1
        owner = block if module.blocks[block].kind == "class" else owner
        if owner >= 0 and statement.kind in ("set", "do", "parameter"):
            return self._of_class((path, owner))
        if statement.kind == "parameter" or (block == MODULE and statement.targets):
            name = str(statement.targets[0][1]) if statement.targets else ""
            return _setting(name)
        return ""

    # -- functions

    def of_function(self, home: Home, depth: int = 0) -> str:
        """The part that the result of a function feeds."""
        known = self._functions.get(home)
        if known is None:
            self._functions[home] = ""  # while it is asked for
            known = self._functions[home] = self._of_function(home, depth)
        return known

    def _of_function(self, home: Home, depth: int) -> str:
        for step in self._units.handing(home):
            if step.part:
                return step.part
        own = self._units.config.parts.get(home, "")
        module = self._units.config.context.project.modules[home[0]]
        owner = module.class_of(home[1]) if home[1] != MODULE else -1
        if owner >= 0 and module.blocks[home[1]].name.rpartition(".")[2] in _APPLYING:
            return self._of_class((home[0], owner)) or own
        if own or depth > _DEEP:
            return own
        for place, statement, path in self._units.callers(home):
            code = self._units.code(place)
            part = self._outside(place, path)
            if not part and code is not None:
                part = self._targeted(statement) or self._onwards(place, code, statement, depth + 1)
            if part:
                return part
        return ""

    def _of_class(self, owner: Home) -> str:
        """The part of what a class is: a network or a layer, or what its methods do."""
        scope = self._units.config.scope(owner)
        if any(base.name.endswith(_MODULES) for base in scope.bases):
            return "operation"
        parts = {
            part
            for (path, block), part in self._units.config.parts.items()
            if path == owner[0] and scope.module.class_of(block) == owner[1]
        }
        return next((part for part in LEADING if part in parts), "")


def _role(step: CodeStep, name: str) -> str:
    """The part of an argument of a step, or of the step. What a call only passes on is no part of it, except the files of
    a data set."""
    if name.startswith(PASSED):
        return step.part if step.part == "dataset" else ""
    return next((argument.role for argument in step.arguments if argument.name == name and argument.role), step.part)


def _named(tree: Tree, name: str) -> str:
    """The part that the name of an entry, of an argument, or of an option that is defined tells."""
    if tree.kind == "dict" and name[:1] in "'\"":
        return _setting(name.strip("'\""))
    if tree.kind != CALL:
        return ""
    for part in tree.parts[1:3]:
        text = str(part.label[2]) if part.label[:2] == (CONST, "str") else ""
        if text.startswith("--"):
            return _setting(text[2:])
    callee = tree.parts[0].node
    if isinstance(callee, ast.Attribute | ast.Name):
        last = callee.attr if isinstance(callee, ast.Attribute) else callee.id
        if last.startswith("DEFINE_") and len(tree.parts) > 1 and tree.parts[1].kind == CONST:
            return _setting(str(tree.parts[1].label[-1]))
    return _setting(name.lstrip(PASSED)) if name and not name.isdigit() and name not in ("self", "**") else ""


def _setting(name: str) -> str:
    """The part of a setting of this name, if the name tells one."""
    part = argument_part(name)
    return "" if part == "setting" else part


def _readers(code: Code, label: Label) -> Iterator[tuple[Statement, Tree]]:
    """The statements that read a variable, with the tree that is its name."""
    for each in code.statements:
        if label in each.uses:
            for tree in each.tree.walk():
                if tree.label == label:
                    yield each, tree


def _changed(statement: Statement) -> list[Label]:
    """The variables whose object a statement changes: ``files.sort()``, ``x[0] = 1``, ``cfg.lr = 2``."""
    tree = statement.tree
    if statement.kind == "set" and len(tree.parts) == 2:
        tree = tree.parts[0]
        while tree.kind in (ATTRIBUTE, "[]"):
            tree = tree.parts[0]
        return [tree.label] if tree.is_name else []
    if statement.kind == "do" and tree.kind == CALL and "self" in tree.names:
        callee = tree.parts[0].node
        last = callee.attr if isinstance(callee, ast.Attribute) else ""
        if last in _CHANGING or (last.endswith("_") and not last.endswith("__")):
            return [tree.parts[1].label] if tree.parts[1].is_name else []
    return []


