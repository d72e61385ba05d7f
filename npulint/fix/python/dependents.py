"""Removes what depends on an object that a fix takes away: uses of members that what remains does not have."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Sequence

from npulint.fix.model import FixRefused
from npulint.fix.python.statements import is_idle, without_all
from npulint.fix.python.tree import Tree, is_dotted
from npulint.judge.findings import Edit

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


def dependents(tree: Tree, node: ast.AST, members: Collection[str]) -> list[ast.stmt]:
    """The statements that use other members than these of the value of an expression, which is about to be replaced by
    a value that has only `members`. Raises `FixRefused` (``depends``) where such a use cannot be removed."""
    given = _choice(tree, node)
    statements: dict[ast.stmt, None] = {}
    for use in _uses(tree, given):
        if use.attr not in members:
            statements[_removable(tree, use)] = None
    if (statements and given is not node) or any(use.attr not in members for use in _uses_elsewhere(tree, given)):
        raise FixRefused("depends")  # other objects may come there as well
    return list(statements)


def _choice(tree: Tree, node: ast.AST) -> ast.AST:
    """The outermost conditional expression, or ``and`` and ``or``, whose value an expression may be; else it itself."""
    parent = tree.parent(node)
    while (isinstance(parent, ast.IfExp) and parent.test is not node) or isinstance(parent, ast.BoolOp):
        node, parent = parent, tree.parent(parent)
    return node


def replaced_with_dependents(
    tree: Tree, node: ast.AST, edits: list[Edit], members: str, nothing_left: bool
) -> list[Edit]:
    """The edits of a replacement, with those that remove what depends on the old value. `members` are the names that
    the new value has as well, separated by spaces; `nothing_left` if the statement of the expression goes with it."""
    others = dependents(tree, node, frozenset(members.split()))
    if not others:
        return edits
    if nothing_left:
        return without_all(tree, [tree.statement(node), *others])
    return [*edits, *without_all(tree, others)]


def _uses(tree: Tree, node: ast.AST) -> Iterator[ast.Attribute]:
    """Where attributes of the value of an expression are used: directly, or by the name that it is bound to."""
    parent = tree.parent(node)
    if isinstance(parent, ast.Attribute):
        yield parent
    name = _bound_to(tree, node)
    if name is None:
        return
    begin, scope = tree.range(tree.statement(node))[0], _scope(tree, node, name)
    rebound = [other for other in _bindings(tree, name) if tree.range(other)[0] > begin]
    earlier: set[str] = set()
    later: list[ast.Attribute] = []
    for _, _, use in tree.nodes:
        if isinstance(use, ast.Attribute) and is_dotted(use.value) and tree.text(use.value) == name:
            if tree.range(use)[0] < begin and _function(tree, use) is _function(tree, node):
                earlier.add(use.attr)  # the old value has it, too
            elif _inside(tree, use, scope) and not _replaced_before(tree, use, rebound, name):
                later.append(use)
    yield from (use for use in later if use.attr not in earlier)


def _uses_elsewhere(tree: Tree, node: ast.AST) -> Iterator[ast.Attribute]:
    """Where functions of the file that get the value of an expression use its attributes, and callers of the function
    that returns it; and where those of other names for it are used."""
    name = _bound_to(tree, node)
    aliases = set(_aliases(tree, node, name))
    for _, _, use in tree.nodes if aliases else ():
        if isinstance(use, ast.Attribute) and is_dotted(use.value) and tree.text(use.value) in aliases:
            yield use
    functions = {function.name: function for _, _, function in tree.nodes if isinstance(function, ast.FunctionDef)}
    here = _function(tree, node)
    for _, _, candidate in tree.nodes:
        if isinstance(candidate, ast.Call) and isinstance(candidate.func, ast.Name) and candidate.func.id in functions:
            function = functions[candidate.func.id]
            yield from (
                use for given in _given(tree, candidate, function, name, node) for use in _of_name(function, given)
            )
        elif isinstance(candidate, ast.Return) and candidate.value is not None and _function(tree, candidate) is here:
            yield from _of_results(tree, here) if candidate.value is node or tree.text(candidate.value) == name else ()


def _aliases(tree: Tree, node: ast.AST, name: str | None) -> Iterator[str]:
    """Other names for the value of an expression: those to which `name` is assigned, and those of several targets."""
    for _, _, other in tree.nodes:
        if not isinstance(other, ast.Assign):
            continue
        taken = name is not None and is_dotted(other.value) and tree.text(other.value) == name
        shared = name is None and other is tree.statement(node) and _holds(tree, node, other.value)
        for target in other.targets if taken or shared else ():
            yield from (tree.text(part) for part in ast.walk(target) if isinstance(part, ast.expr) and is_dotted(part))


def _holds(tree: Tree, node: ast.AST, value: ast.AST) -> bool:
    """Whether a target gets an expression itself: it is all of the assigned value, or an element of it."""
    return node is value or (isinstance(value, ast.Tuple | ast.List) and tree.parent(node) is value)


def _given(tree: Tree, call: ast.Call, function: ast.FunctionDef, name: str | None, node: ast.AST) -> Iterator[str]:
    """The parameters of a function that get a name, or the expression itself."""
    positions = [argument.arg for argument in (*function.args.posonlyargs, *function.args.args)]
    given = [*zip(positions, call.args, strict=False), *((keyword.arg, keyword.value) for keyword in call.keywords)]
    for parameter, value in given:
        if parameter and (value is node or (name is not None and is_dotted(value) and tree.text(value) == name)):
            yield parameter


def _of_results(tree: Tree, function: ast.AST) -> Iterator[ast.Attribute]:
    """The attributes used of what a function returns."""
    for _, _, node in tree.nodes:
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id == getattr(function, "name", "")
        ):
            yield from _uses(tree, node)


def _of_name(function: ast.AST, name: str) -> Iterator[ast.Attribute]:
    for node in ast.walk(function):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == name:
            yield node


def _bound_to(tree: Tree, node: ast.AST) -> str | None:
    """The name that the value of an expression gets."""
    parent = tree.parent(node)
    target: ast.AST | None = None
    if isinstance(parent, ast.Assign) and parent.value is node and len(parent.targets) == 1:
        target = parent.targets[0]
    elif isinstance(parent, ast.AnnAssign | ast.NamedExpr) and parent.value is node:
        target = parent.target
    elif isinstance(parent, ast.withitem) and parent.context_expr is node:
        target = parent.optional_vars
    return tree.text(target) if isinstance(target, ast.expr) and is_dotted(target) else None


def _scope(tree: Tree, node: ast.AST, name: str) -> ast.AST:
    """Where a name bound at a place may be used: in its function, or everywhere for attributes and globals."""
    function = _function(tree, node)
    if "." in name or any(
        isinstance(declaration, ast.Global | ast.Nonlocal) and name in declaration.names
        for declaration in ast.walk(function)
    ):
        return tree.module
    return function


def _function(tree: Tree, node: ast.AST) -> ast.AST:
    around = tree.parent(node)
    while not isinstance(around, (*_FUNCTIONS, ast.Module)):
        around = tree.parent(around)
    return around


def _inside(tree: Tree, node: ast.AST, scope: ast.AST) -> bool:
    while node is not scope:
        if node is tree.module:
            return False
        node = tree.parent(node)
    return True


def _bindings(tree: Tree, name: str) -> list[ast.stmt]:
    """The assignments to a name."""
    return [
        node
        for _, _, node in tree.nodes
        if isinstance(node, ast.Assign)
        and any(is_dotted(target) and tree.text(target) == name for target in node.targets)
    ]


def _replaced_before(tree: Tree, use: ast.Attribute, rebound: Sequence[ast.stmt], name: str) -> bool:
    """Whether the name surely has another value at a use: one assigned before, on every way to it."""
    place = tree.range(use)[0]
    for other in rebound:
        value = getattr(other, "value", None)
        wraps = value is not None and any(
            isinstance(part, ast.Name | ast.Attribute) and tree.text(part) == name for part in ast.walk(value)
        )
        if tree.range(other)[1] <= place and not wraps and _inside(tree, use, tree.parent(other)):
            return True
    return False


def _removable(tree: Tree, use: ast.Attribute) -> ast.stmt:
    """The statement that consists of this use only: a call of the member without use of its result, or an assignment
    to it."""
    statement = tree.statement(use)
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call) and statement.value.func is use:
        call = statement.value
        if all(map(is_idle, [*call.args, *(keyword.value for keyword in call.keywords)])):
            return statement
    if isinstance(statement, ast.Assign) and statement.targets == [use] and is_idle(statement.value):
        return statement
    raise FixRefused("depends")
