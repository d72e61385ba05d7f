"""Which part of the training config a piece of code feeds: by the calls around it, and those that get what it makes."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator, Sequence
from typing import Final

from npulint.commands.compare.code_changes.arguments import PASSED
from npulint.commands.compare.code_changes.statements import Code, Statement
from npulint.commands.compare.code_changes.trees import ATTRIBUTE, CALL, CONST, Label, Tree
from npulint.commands.compare.code_changes.units import Units
from npulint.commands.training_config.passed import argument_part
from npulint.commands.training_config.program import LEADING
from npulint.commands.training_config.steps.calls import RUNNING
from npulint.commands.training_config.steps.model import MODULE, CodeStep, Home

_DEEP: Final = 8  # functions and assignments that are followed
_CHANGING: Final = frozenset("append extend update sort reverse insert pop remove clear setdefault add".split())
"""Methods that change the object they are called on."""
_MODULES: Final = ("nn.Module", ".Layer", ".Model", "nn.Sequential")
_ASIDE: Final = (
    *("npu_bridge.", "npu_device.", "torch_npu.", "hccl."),
    *(
        "torch.profiler.",
        "torch.autograd.profiler.",
        "tensorflow.profiler.",
        "time.",
        "datetime.",
        "logging.",
        "tqdm.",
        "wandb.",
    ),
    *("tensorflow.summary.", "tensorflow.Session", "tensorflow.ConfigProto", "tensorflow.train.Saver", "torch.save"),
)
"""What names begin with of functions of the adapter, and of those that only measure, show, save or run."""
_CALCULATING: Final = frozenset(("operation", "arithmetic", "setting"))
"""Parts of what calculates, or is set, for anything."""
_MADE_BY_FUNCTIONS: Final = frozenset(
    ("schedule", "learning_rate", "transform", "dataset", "loss", "average", "batch_size", "regularisation", "sampler")
)
_APPLYING: Final = frozenset(("__init__", "__call__", "forward", "call"))
"""Methods that make or apply an object: where the object is made tells what they feed."""
_FIRST: Final = ("update", "optimizer", "loss", "schedule", *LEADING)
"""The parts of a block of which one is named, the most important first."""
_OPTION: Final = ("--", "DEFINE_")


class Feeds:
    """Says what the code of one program feeds."""

    def __init__(self, units: Units) -> None:
        self._units = units
        self._functions: dict[Home, str] = {}
        self._known: dict[int, tuple[Statement, str]] = {}  # with the statement, so that its identity stays its own
        self._asked: set[tuple[Home, str]] = set()  # what is being asked

    def part(self, home: Home, code: Code, statement: Statement, tree: Tree) -> str:
        """The part that a tree in a statement feeds; empty if it feeds none. What calculates may do so for anything:
        what gets the result decides."""
        path = statement.tree.path_to(tree)
        near = self._around(home, path) or self._within(home, tree) or self._targeted(statement)
        if near and near not in _CALCULATING:
            return near
        if self._changes_batch(code, statement) and home in self._units.config.parts:
            return "transform"
        further = self._onwards(home, code, statement, 0)
        if further and further not in _CALCULATING:
            return further
        if not further and (not near or statement.kind != "do"):  # nothing gets it
            return ""
        return self.of_calculation(home) or near or further

    def of_line(self, home: Home, line: int) -> str:
        """The part that a calculation in a line of a function feeds, if it is not that of a network."""
        code = self._units.code(home)
        for each in code.statements if code is not None else ():
            here = each.lines[0] <= line <= each.lines[1] and not each.is_border
            if code is not None and here and self._changes_batch(code, each):
                return "transform"
        return self.of_calculation(home)

    def of_calculation(self, home: Home) -> str:
        """The part that calculations in a function feed, if the function makes something else than a network."""
        part = self.of_function(home)
        return part if part in _MADE_BY_FUNCTIONS else ""

    @staticmethod
    def _changes_batch(code: Code, statement: Statement) -> bool:
        """Whether a statement makes something else of what a loop gives, before it is used."""
        if statement.kind != "set" or not statement.targets:
            return False
        names = {label[1] for label in statement.targets}
        given = (label for label in statement.uses if label[1] in names and label in code.assigned)
        return any(code.statements[code.assigned[label]].kind == "for" for label in given)

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
        known = self._known.get(id(statement))
        if known is None:
            self._known[id(statement)] = statement, ""  # while it is asked for
            known = self._known[id(statement)] = statement, self._getting(home, code, statement, depth)
        return known[1]

    def _getting(self, home: Home, code: Code, statement: Statement, depth: int) -> str:
        if statement.kind == "return":
            return self._of_result(home, depth + 1)
        if statement.kind in ("break", "continue"):
            return "steps" if any(self._of_block(home, code, at, depth, False) for at in statement.opened) else ""
        if statement.is_border:
            if statement.kind in ("with", "end"):
                return ""
            return self._of_block(home, code, _number(code, statement), depth)
        return self._of_variables(home, code, statement, depth)

    def _of_block(self, home: Home, code: Code, head: int, depth: int, exits: bool = True) -> str:
        """The most important part of the statements of a block; without `exits`, of those that do not leave it."""
        parts: set[str] = set()
        for each in code.statements:
            if (
                head in each.opened
                and not each.is_border
                and not is_aside(each.tree)
                and (exits or each.kind not in ("break", "continue"))
            ):
                part = self._within(home, each.tree) or self._targeted(each)
                parts.add(part or self._onwards(home, code, each, depth + 1))
        parts.discard("")
        return next((part for part in _FIRST if part in parts), min(parts, default=""))

    def decides_between(self, home: Home, code: Code, statement: Statement) -> bool:
        """Whether both branches of a condition do something for the same part."""
        head = _number(code, statement)
        inside = [each for each in code.statements if head in each.opened]
        middle = next((at for at, each in enumerate(inside) if each.kind == "else" and each.opened[-1] == head), -1)
        if middle < 0:
            return False
        ways = [{self._within(home, e.tree) for e in way} - {""} for way in (inside[:middle], inside[middle:])]
        return bool(ways[0] & ways[1])

    def _of_variables(self, home: Home, code: Code, statement: Statement, depth: int) -> str:
        seen: set[Label] = set()
        waiting = [*statement.targets, *_changed(statement)]
        while waiting:
            label = waiting.pop(0)
            if label in seen or len(seen) > 4 * _DEEP:
                continue
            seen.add(label)
            for reader, tree in _readers(code, label):
                if any(map(is_aside_call, reader.tree.path_to(tree))):
                    continue
                part = self._around(home, reader.tree.path_to(tree))
                if part:
                    return part
                if self._is_kept(reader):
                    return self._of_class(owner) if (owner := self._owner(home)) is not None else ""
                if reader.kind == "return":
                    part = self._of_result(home, depth + 1)
                    if part:
                        return part
                waiting += [*reader.targets, *_changed(reader)]
        return self._kept(home, statement)

    @staticmethod
    def _is_kept(statement: Statement) -> bool:
        """Whether a statement only puts something into a collection that an object has: ``self.pairs.append(x)``."""
        tree = statement.tree
        is_method = statement.kind == "do" and tree.kind == CALL and tree.names[1:2] == ("self",)
        return is_method and tree.parts[1].kind == ATTRIBUTE and bool(_changed(statement))

    def _kept(self, home: Home, statement: Statement) -> str:
        """The part of a class whose attribute is assigned, or of a variable of a module or a parameter by its name."""
        owner = self._owner(home)
        attribute = statement.tree.parts[0] if statement.kind == "set" and len(statement.tree.parts) == 2 else None
        if owner is not None and attribute is not None and attribute.kind == ATTRIBUTE:
            return self._of_attribute(owner, attribute) or self._of_class(owner)
        if owner is not None and (owner == home or statement.kind == "parameter"):
            return self._of_class(owner)
        if statement.kind == "parameter" or (home[1] == MODULE and statement.targets):
            name = str(statement.targets[0][1]) if statement.targets else ""
            return _setting(name) if name not in RUNNING else ""
        return ""

    def _owner(self, home: Home) -> Home | None:
        """The class that a method belongs to, or that a home is."""
        path, block = home
        module = self._units.config.context.project.modules[path]
        if block == MODULE:
            return None
        if module.blocks[block].kind == "class":
            return home
        owner = module.class_of(block)
        return (path, owner) if owner >= 0 else None

    def _of_attribute(self, owner: Home, attribute: Tree) -> str:
        """The part that the methods of a class feed with one of its attributes."""
        module = self._units.config.context.project.modules[owner[0]]
        for block, record in enumerate(module.blocks):
            if record.kind != "function" or module.class_of(block) != owner[1]:
                continue
            code = self._units.code((owner[0], block))
            for each in code.statements if code is not None else ():
                read = next((t for t in each.tree.walk() if t.label == attribute.label and t is not attribute), None)
                if read is None or (each.kind == "set" and read is each.tree.parts[0]):
                    continue
                question = (owner[0], block), str(attribute.label[1])
                if question in self._asked:
                    continue
                self._asked.add(question)
                part = self.part((owner[0], block), code, each, read) if code is not None else ""
                self._asked.discard(question)
                if part and part not in _CALCULATING:
                    return part
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
        own = self._units.config.parts.get(home, "")
        part = self._of_calls(home, depth)
        return own if part is None or part in ("", *_CALCULATING) else part

    def _of_result(self, home: Home, depth: int) -> str:
        """The part that the result of a function feeds; its own part if it is not known what gets the result."""
        if (home, "") in self._asked:
            return ""
        self._asked.add((home, ""))
        part = self._of_calls(home, depth)
        self._asked.discard((home, ""))
        return self._units.config.parts.get(home, "") if part is None else part

    def _of_calls(self, home: Home, depth: int) -> str | None:
        """The part of what a function is given to, or of what gets its result; None if it has no callers."""
        for step in self._units.handing(home):
            if step.part:
                return step.part
        owner = self._owner(home)
        if owner is not None and self._is_network(owner):
            return "operation"
        name = self._units.config.scope(home).record.name.rpartition(".")[2]
        made = owner if name in _APPLYING else None
        found: str | None = None
        for place, statement, path in self._units.callers(home, made) if depth <= _DEEP else ():
            code = self._units.code(place)
            part = self._outside(place, path)
            if code is not None and part in ("", *_CALCULATING):
                part = self._targeted(statement) or self._onwards(place, code, statement, depth + 1) or part
            if part and part not in _CALCULATING:
                return "schedule" if part == "learning_rate" else part  # a rate that is calculated changes
            found = found or part
        return found

    def _is_network(self, owner: Home) -> bool:
        """Whether a class is a network or a layer."""
        return any(base.name.endswith(_MODULES) for base in self._units.config.scope(owner).bases)

    def _of_class(self, owner: Home) -> str:
        """The part of what a class is: a network or a layer, or what its methods do."""
        scope = self._units.config.scope(owner)
        if self._is_network(owner):
            return "operation"
        if any(base.name.endswith("Dataset") for base in scope.bases):
            return "transform"
        parts = {
            part
            for (path, block), part in self._units.config.parts.items()
            if path == owner[0] and scope.module.class_of(block) == owner[1]
        }
        return next((part for part in LEADING if part in parts), "")


def is_aside_call(tree: Tree) -> bool:
    """Whether a tree is a call that only measures, shows, saves or runs something."""
    callee = tree.parts[0] if tree.label == (CALL,) else None
    return callee is not None and callee.kind == "lib" and str(callee.label[1]).startswith(_ASIDE)


def is_aside(tree: Tree) -> bool:
    """Whether there is such a call, or a name of such a library, in a tree."""
    return any(str(inner.label[1]).startswith(_ASIDE) for inner in tree.walk() if inner.kind == "lib")


def _role(step: CodeStep, name: str) -> str:
    """The part of an argument of a step, or of the step. What a call only passes on is no part of it, except the files
    of a data set."""
    if name.startswith(PASSED):
        return step.part if step.part == "dataset" else ""
    role = next((argument.role for argument in step.arguments if argument.name == name and argument.role), step.part)
    return step.part if role == "ranks" else role


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
    if tree.parts[0].kind == "lib" and hasattr(builtins, str(tree.parts[0].label[1])):
        return ""
    callee = tree.parts[0].node
    if isinstance(callee, ast.Attribute | ast.Name):
        last = callee.attr if isinstance(callee, ast.Attribute) else callee.id
        if last.startswith("DEFINE_") and len(tree.parts) > 1 and tree.parts[1].kind == CONST:
            return _setting(str(tree.parts[1].label[-1]))
    return _setting(name.lstrip(PASSED)) if name and not name.isdigit() and name not in ("self", "**") else ""


def _setting(name: str) -> str:
    """The part of a setting of this name, if the name tells one."""
    part = argument_part(name) if name not in RUNNING else ""
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
            return [inner.label for inner in tree.parts[1].walk() if inner.is_name]
    return []


def _number(code: Code, statement: Statement) -> int:
    return next((at for at, each in enumerate(code.statements) if each is statement), -1)
