"""Where the gradient scaler of a training step is made, and how functions get it."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import TypeGuard

from npulint.facts.model import Span
from npulint.fix.model import FixRefused, Text
from npulint.fix.python.mixed.steps import Routine, inside
from npulint.fix.python.names import module_name
from npulint.fix.python.sections import is_main
from npulint.fix.python.tree import Tree, tree_of
from npulint.judge.findings import Edit

_NAMES = ("scaler", "grad_scaler")
_DEPTH = 4  # functions that hand the scaler on


class Scalers:
    """Finds or makes the scaler next to the optimizers. `callers` are the places, one a line, of calls in other files
    (``path:line:column``), or ``unknown``. `edits` are what that takes, `using` the files that name torch_npu then."""

    def __init__(self, text_of: Callable[[str], Text], callers: str) -> None:
        self._text_of = text_of
        self._callers = callers.split()
        self._made: dict[tuple[object, ...], str] = {}
        self.edits: list[Edit] = []
        self.using: set[str] = set()

    def name_in(
        self, tree: Tree, routine: Routine, optimizers: Sequence[ast.expr], user: ast.AST, depth: int = 0
    ) -> str:
        """The name of the scaler in a routine, which is made after its optimizers or becomes a parameter beside them.
        `user` is what needs it."""
        key = (tree.path, id(routine), *map(ast.dump, optimizers))
        if key not in self._made:
            self._made[key] = self._name(tree, routine, optimizers, user, depth)
        return self._made[key]

    def _name(self, tree: Tree, routine: Routine, optimizers: Sequence[ast.expr], user: ast.AST, depth: int) -> str:
        if all(_is_own(optimizer) for optimizer in optimizers):
            return self._in_class(tree, routine, optimizers)
        names = [optimizer.id for optimizer in optimizers if isinstance(optimizer, ast.Name)]
        if len(names) < len(optimizers):
            raise FixRefused("callers")
        parameters = [] if isinstance(routine, ast.Module) else [argument.arg for argument in _arguments(routine)]
        if not isinstance(routine, ast.Module) and all(name in parameters for name in names):
            return self._as_parameter(tree, routine, names, depth)
        if any(name in parameters for name in names):
            raise FixRefused("callers")
        for scope in (routine, tree.module):
            nodeses = [_assigning(tree, scope, name) for name in names]
            if all(nodeses):
                name = _free(_all_names(tree.module), tree)
                last = max((node for some in nodeses for node in some), key=tree.range)
                self._make(tree, _beside(tree, last, user) if scope is routine else _outermost(tree, last), name)
                return name
        raise FixRefused("callers")

    def _make(self, tree: Tree, after: ast.stmt, name: str) -> None:
        start, end = tree.range(after)
        place = tree.line_end(end)
        if not tree.leads(start) or tree.source[end:place].strip()[:1] not in ("", "#"):
            raise FixRefused("one-line")
        self.edits.append(
            tree.edit(place, place, f"\n{tree.indent(start)}{name} = {_torch(tree)}.npu.amp.GradScaler()")
        )
        self.using.add(tree.path)

    # -- attributes of an object ------------------------------------------------------------------

    def _in_class(self, tree: Tree, routine: Routine, optimizers: Sequence[ast.expr]) -> str:
        """The scaler as an attribute, made in the method that makes the optimizers."""
        around = tree.parent(routine)
        if not isinstance(around, ast.ClassDef):
            raise FixRefused("callers")
        wanted = {optimizer.attr for optimizer in optimizers if isinstance(optimizer, ast.Attribute)}
        attributes = {node.attr for node in ast.walk(around) if isinstance(node, ast.Attribute)}
        places: dict[ast.FunctionDef, dict[str, ast.stmt]] = {}
        for method in around.body:
            if isinstance(method, ast.FunctionDef):
                for node in inside(method):
                    if _is_own(node) and isinstance(node.ctx, ast.Store) and node.attr in wanted:
                        places.setdefault(method, {})[node.attr] = tree.statement(node)
        if len(places) != 1:
            raise FixRefused("callers")
        (method, statements), *_ = places.items()
        if set(statements) != wanted:
            raise FixRefused("callers")
        name = next((candidate for candidate in _NAMES if candidate not in attributes), "")
        if not name:
            raise FixRefused("name-taken")
        last = max(statements.values(), key=tree.range)
        self._make(tree, _in_block(tree, last, method), f"self.{name}")
        return f"self.{name}"

    # -- parameters -------------------------------------------------------------------------------

    def _as_parameter(
        self, tree: Tree, routine: ast.FunctionDef | ast.AsyncFunctionDef, names: list[str], depth: int
    ) -> str:
        """The scaler as a parameter behind the optimizers, which all callers pass."""
        if (
            self._callers == ["unknown"]
            or depth == _DEPTH
            or tree.parent(routine) is not tree.module
            or routine.decorator_list
        ):
            raise FixRefused("callers")
        positional = [*routine.args.posonlyargs, *routine.args.args]
        by_name = {node.arg: number for number, node in enumerate(positional)}
        if not all(name in by_name for name in names):
            raise FixRefused("callers")
        number = max(by_name[name] for name in names)
        if number >= len(positional) - len(routine.args.defaults):
            raise FixRefused("callers")
        name = _free(
            {node.id for node in ast.walk(routine) if isinstance(node, ast.Name)} | set(_parameters(routine)), tree
        )
        end = tree.range(positional[number])[1]
        self.edits.append(tree.edit(end, end, f", {name}"))
        calls = [*self._calls_here(tree, routine), *self._calls_elsewhere(routine)]
        if not calls:
            raise FixRefused("callers")
        for home, call in calls:
            self._pass(home, call, [by_name[optimizer] for optimizer in names], names, name, depth)
        return name

    def _calls_here(self, tree: Tree, routine: ast.FunctionDef | ast.AsyncFunctionDef) -> list[tuple[Tree, ast.Call]]:
        here = []
        for _, _, node in tree.nodes:
            if isinstance(node, ast.Name) and node.id == routine.name:
                parent = tree.parent(node)
                if not isinstance(parent, ast.Call) or parent.func is not node:
                    raise FixRefused("callers")
                here.append((tree, parent))
        return here

    def _calls_elsewhere(self, routine: ast.FunctionDef | ast.AsyncFunctionDef) -> list[tuple[Tree, ast.Call]]:
        elsewhere = []
        for place in self._callers:
            path, line, column = place.rsplit(":", 2)
            tree = tree_of(self._text_of(path))
            start, _ = tree.offsets(Span(int(line), int(column), int(line), int(column)))
            calls = [node for begin, _, node in tree.nodes if begin == start and isinstance(node, ast.Call)]
            elsewhere += [(tree, call) for call in calls if _called(call) == routine.name]
        return elsewhere

    def _pass(
        self, tree: Tree, call: ast.Call, positions: list[int], names: list[str], parameter: str, depth: int
    ) -> None:
        """Make a call pass the scaler behind the optimizers."""
        if any(isinstance(argument, ast.Starred) for argument in call.args) or any(
            keyword.arg is None for keyword in call.keywords
        ):
            raise FixRefused("callers")
        keywords = {keyword.arg: keyword for keyword in call.keywords}
        values: list[ast.expr] = []
        for position, name in zip(positions, names, strict=True):
            if position < len(call.args):
                values.append(call.args[position])
            elif name in keywords:
                values.append(keywords[name].value)
            else:
                raise FixRefused("callers")
        routine = _routine(tree, call)
        scaler = self.name_in(tree, routine, values, call, depth + 1)
        last = max(positions)
        if last < len(call.args):
            end = tree.outer(call.args[last])[1]
            self.edits.append(tree.edit(end, end, f", {scaler}"))
        else:
            end = tree.outer(keywords[names[positions.index(last)]].value)[1]
            self.edits.append(tree.edit(end, end, f", {parameter}={scaler}"))


def _is_own(node: ast.AST) -> TypeGuard[ast.Attribute]:
    """Whether an expression is an attribute of ``self``."""
    return isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self"


def _arguments(routine: ast.FunctionDef | ast.AsyncFunctionDef) -> list[ast.arg]:
    return [*routine.args.posonlyargs, *routine.args.args, *routine.args.kwonlyargs]


def _parameters(routine: ast.FunctionDef | ast.AsyncFunctionDef) -> list[str]:
    return [argument.arg for argument in _arguments(routine)]


def _assigning(tree: Tree, scope: Routine, name: str) -> list[ast.stmt]:
    """The statements of a scope that assign a name."""
    nodes = [node for node in inside(scope) if isinstance(node, ast.Name) and node.id == name]
    return [tree.statement(node) for node in nodes if isinstance(node.ctx, ast.Store)]


def _beside(tree: Tree, statement: ast.stmt, user: ast.AST) -> ast.stmt:
    """The statement around one that stands before something around `user`, in the same block."""
    around = set(_outwards(tree, user))
    while True:
        others = [node for node in tree.block(statement) if node in around]
        if others and others[0] is not statement:
            return statement
        parent = tree.parent(statement)
        if others or not isinstance(parent, ast.stmt) or isinstance(parent, ast.FunctionDef | ast.AsyncFunctionDef):
            raise FixRefused("callers")
        statement = parent


def _outermost(tree: Tree, statement: ast.stmt) -> ast.stmt:
    """The outermost statement around one of the module, within ``if __name__ == "__main__"``."""
    parent = tree.parent(statement)
    while isinstance(parent, ast.stmt) and not (isinstance(parent, ast.If) and is_main(parent)):
        statement, parent = parent, tree.parent(parent)
    return statement


def _in_block(tree: Tree, statement: ast.stmt, method: ast.FunctionDef) -> ast.stmt:
    """The statement around one in the body of a method."""
    while statement not in method.body:
        parent = tree.parent(statement)
        if not isinstance(parent, ast.stmt):
            raise FixRefused("callers")
        statement = parent
    return statement


def _outwards(tree: Tree, node: ast.AST) -> list[ast.AST]:
    """The nodes around a node, inner ones first, and itself."""
    nodes = [node]
    while node is not tree.module:
        node = tree.parent(node)
        nodes.append(node)
    return nodes


def _routine(tree: Tree, node: ast.AST) -> Routine:
    around = next(
        outward
        for outward in _outwards(tree, node)
        if isinstance(outward, ast.FunctionDef | ast.AsyncFunctionDef | ast.Module)
    )
    return around


def _called(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def _all_names(module: ast.AST) -> set[str]:
    names = {node.id for node in ast.walk(module) if isinstance(node, ast.Name)}
    return names | {node.arg for node in ast.walk(module) if isinstance(node, ast.arg)}


def _free(taken: set[str], tree: Tree) -> str:
    """A name for the scaler that nothing else has."""
    name = next((candidate for candidate in _NAMES if candidate not in taken), "")
    if not name:
        raise FixRefused("name-taken")
    return name


def _torch(tree: Tree) -> str:
    try:
        return module_name(tree, "torch")
    except FixRefused:
        return "torch"
