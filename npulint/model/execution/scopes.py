"""Which names belong to a function, class or comprehension, as Python decides it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
ComprehensionNode = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
_COMPREHENSIONS: Final = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_FUNCTIONS: Final = (ast.FunctionDef, ast.AsyncFunctionDef)


class Scope:
    """The names of one scope: those that it binds, and those that it declares to be of the module or of a function
    around it. `yields`: the function is a generator."""

    __slots__ = ("globals", "is_class", "locals", "nonlocals", "yields")

    def __init__(self, names: frozenset[str], is_class: bool = False) -> None:
        self.locals = names
        self.globals: frozenset[str] = frozenset()
        self.nonlocals: frozenset[str] = frozenset()
        self.is_class = is_class
        self.yields = False


MODULE: Final = Scope(frozenset())


def function_scope(node: FunctionNode) -> Scope:
    """The scope of a function: its parameters and what its body binds."""
    arguments = node.args
    parameters = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    names = {parameter.arg for parameter in parameters}
    names |= {extra.arg for extra in (arguments.vararg, arguments.kwarg) if extra is not None}
    body: list[ast.AST] = [node.body] if isinstance(node, ast.Lambda) else [*node.body]
    return _scope(body, names)


def class_scope(node: ast.ClassDef) -> Scope:
    """The scope of a class body."""
    scope = _scope([*node.body], set())
    scope.is_class = True
    return scope


def comprehension_scope(node: ComprehensionNode) -> Scope:
    """The scope of a comprehension: the names of its loops."""
    names: set[str] = set()
    for generator in node.generators:
        names |= {part.id for part in ast.walk(generator.target) if isinstance(part, ast.Name)}
    return Scope(frozenset(names))


def _scope(body: list[ast.AST], names: set[str]) -> Scope:
    declared: dict[type, set[str]] = {ast.Global: set(), ast.Nonlocal: set()}
    yields = False
    for node in _within(body):
        if isinstance(node, (ast.Global, ast.Nonlocal)):
            declared[type(node)].update(node.names)
        elif isinstance(node, (ast.Yield, ast.YieldFrom)):
            yields = True
        else:
            names.update(_bound_by(node))
    outside = declared[ast.Global] | declared[ast.Nonlocal]
    scope = Scope(frozenset(names - outside))
    scope.globals, scope.nonlocals = frozenset(declared[ast.Global]), frozenset(declared[ast.Nonlocal])
    scope.yields = yields
    return scope


def _bound_by(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Name):
        if not isinstance(node.ctx, ast.Load):
            yield node.id
    elif isinstance(node, (*_FUNCTIONS, ast.ClassDef)):
        yield node.name
    elif isinstance(node, ast.ExceptHandler):
        if node.name:
            yield node.name
    elif isinstance(node, (ast.Import, ast.ImportFrom)):
        for alias in node.names:
            yield alias.asname or alias.name.partition(".")[0]
    elif isinstance(node, (ast.MatchAs, ast.MatchStar)):
        if node.name:
            yield node.name
    elif isinstance(node, ast.MatchMapping) and node.rest:
        yield node.rest


def _within(body: list[ast.AST]) -> Iterator[ast.AST]:
    """All nodes of a body but those of scopes within it; what these evaluate outside (defaults, decorators, bases, the
    first iterable) belongs to the body, and so do the names that ``:=`` binds in comprehensions."""
    stack = list(body)
    while stack:
        node = stack.pop()
        yield node
        if isinstance(node, _FUNCTIONS):
            stack += [*node.decorator_list, *node.args.defaults, *filter(None, node.args.kw_defaults)]
        elif isinstance(node, ast.Lambda):
            stack += [*node.args.defaults, *filter(None, node.args.kw_defaults)]
        elif isinstance(node, ast.ClassDef):
            stack += [*node.decorator_list, *node.bases, *(keyword.value for keyword in node.keywords)]
        elif isinstance(node, _COMPREHENSIONS):
            stack.append(node.generators[0].iter)
            stack += [part.target for part in ast.walk(node) if isinstance(part, ast.NamedExpr)]
        else:
            stack += ast.iter_child_nodes(node)
