"""Lists the statements of one function, class or module as trees, in the order in which they are written."""

from __future__ import annotations

import ast
from collections.abc import Hashable, Iterator, Sequence
from functools import cached_property
from typing import Final

import msgspec

from npulint.commands.compare.code_changes.expressions import Expressions
from npulint.commands.compare.code_changes.resolver import Resolver
from npulint.commands.compare.code_changes.trees import LOCAL, Label, Tree
from npulint.facts.model import Span

Body = ast.Module | ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
"""What has statements of its own."""
_DEFINING: Final = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_WITHOUT_EFFECT: Final = (ast.Import, ast.ImportFrom, ast.Pass, ast.Global, ast.Nonlocal, ast.Assert, ast.Delete)
_SHOWING: Final = frozenset(
    """print info debug warning warn log critical exception add_scalar add_scalars add_summary add_histogram add_image
    scalar set_postfix set_description set_postfix_str flush""".split()
)
"""Last names of functions that only show what they are given."""
_OPENING: Final = frozenset(("if", "for", "while", "with", "try", "else", "except"))
_LONG: Final = 60  # characters of a statement that are shown


class Statement(msgspec.Struct, frozen=True, eq=False, dict=True):
    """One statement, or the head of one that contains others, or the place where such a one ends. `kind`: set, do,
    return, raise, parameter, if, for, while, with, try, except, else, end, break or continue. `node` is the syntax node
    and `lines` its first and last line, for a head without the lines below it. `opened` are the numbers of the heads
    around it. `targets` are the variables that it assigns."""

    kind: str
    tree: Tree
    node: ast.AST
    lines: tuple[int, int]
    opened: tuple[int, ...] = ()
    targets: tuple[Label, ...] = ()

    @cached_property
    def shape(self) -> Hashable:
        """A key that is equal for statements that differ in the names of variables only."""
        return self.kind, self.tree.shape

    @property
    def is_border(self) -> bool:
        """Whether a block begins or ends here."""
        return self.kind in _OPENING or self.kind == "end"

    @cached_property
    def uses(self) -> frozenset[Label]:
        """The variables that it reads."""
        return frozenset(tree.label for tree in self.tree.walk() if tree.is_name) - frozenset(self.targets)

    @property
    def span(self) -> Span:
        """Where it stands."""
        column = getattr(self.node, "col_offset", 0) + 1
        return Span(self.lines[0], column, self.lines[1], column + 1)

    @cached_property
    def source(self) -> str:
        """The statement in one line; of one that contains others, its head."""
        node = self.node
        if isinstance(node, ast.If | ast.While):
            return f"{'if' if isinstance(node, ast.If) else 'while'} {ast.unparse(node.test)}"
        if isinstance(node, ast.For):
            return f"for {ast.unparse(node.target)} in {ast.unparse(node.iter)}"
        if isinstance(node, ast.With):
            return "with " + ", ".join(map(ast.unparse, node.items))
        return ast.unparse(node).partition("\n")[0] if isinstance(node, ast.stmt | ast.expr) else ""

    @property
    def text(self) -> str:
        """The statement in one line, shortened."""
        return self.source if len(self.source) <= _LONG else self.source[: _LONG - 1] + "…"

    def moved(self, tree: Tree, opened: tuple[int, ...]) -> Statement:
        """The same statement with another tree, and the numbers that the heads around it have now."""
        if tree is self.tree and opened == self.opened:
            return self
        return Statement(self.kind, tree, self.node, self.lines, opened, self.targets)


class Code(msgspec.Struct, frozen=True, eq=False, dict=True):
    """The statements of one function, class or module."""

    statements: list[Statement]

    @cached_property
    def assigned(self) -> dict[Label, int]:
        """The number of the statement that assigns each variable."""
        return {target: at for at, each in enumerate(self.statements) for target in each.targets}


def code_of(body: Body, block: int, resolver: Resolver) -> Code:
    """The statements of a function, class or module, without those of the functions and classes in it."""
    inner = _Names(body)
    outer = frozenset(name for function in _around(resolver, block) for name in function)
    maker = Expressions(resolver, block, inner.local, outer - inner.local)
    return Code(list(_Lister(maker).all_of(body)))


def _around(resolver: Resolver, block: int) -> Iterator[frozenset[str]]:
    """The variables of the functions and of the module around a block."""
    module = resolver.module.module
    around = module.blocks[block].parent if block else -1
    while around >= 0:
        yield frozenset(module.names.get(around, ())) - frozenset(module.imports.get(around, ()))
        if module.blocks[around].kind in ("function", "lambda"):
            yield frozenset(module.params.get(around, ()))
        around = module.blocks[around].parent


class _Names(ast.NodeVisitor):
    """The variables of a function, class or module."""

    def __init__(self, body: Body) -> None:
        found: set[str] = set()
        self._found, self._foreign = found, set[str]()
        for argument in _parameters(body):
            found.add(argument.arg)
        for statement in body.body:
            self.visit(statement)
        self.local = frozenset(found - self._foreign)

    def visit_Name(self, node: ast.Name) -> None:
        """Note a name that is assigned."""
        if isinstance(node.ctx, ast.Store):
            self._found.add(node.id)

    def visit_Global(self, node: ast.Global) -> None:
        """Note names that belong to the module."""
        self._foreign.update(node.names)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        """Leave out what has variables of its own."""

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> None:
        """Leave out what has variables of its own."""

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        """Leave out what has variables of its own."""

    def visit_Lambda(self, node: ast.Lambda) -> None:
        """Leave out what has variables of its own."""

    def visit_ListComp(self, node: ast.ListComp) -> None:
        """Leave out what has variables of its own."""

    visit_SetComp = visit_GeneratorExp = visit_DictComp = visit_ListComp  # type: ignore[assignment]


def _parameters(body: Body) -> list[ast.arg]:
    if not isinstance(body, ast.FunctionDef | ast.AsyncFunctionDef):
        return []
    given = body.args
    rest = [argument for argument in (given.vararg, given.kwarg) if argument is not None]
    return [*given.posonlyargs, *given.args, *given.kwonlyargs, *rest]


class _Lister:
    def __init__(self, maker: Expressions) -> None:
        self._maker = maker
        self._opened: list[int] = []
        self._count = 0

    def all_of(self, body: Body) -> Iterator[Statement]:
        """The statements of a body, after its parameters."""
        if isinstance(body, ast.FunctionDef | ast.AsyncFunctionDef):
            given = body.args
            plain = [*given.posonlyargs, *given.args]
            defaults = [None] * (len(plain) - len(given.defaults)) + list(given.defaults) + list(given.kw_defaults)
            for argument, default in zip([*plain, *given.kwonlyargs], defaults, strict=True):
                value = self._maker.of(default)
                yield self._statement(
                    "parameter", Tree(("parameter",), (value,)), default or argument, targets=(argument.arg,)
                )
        elif isinstance(body, ast.ClassDef):
            bases = tuple(map(self._maker.of, body.bases))
            first = body.bases[0] if body.bases else body
            yield self._statement("do", Tree(("bases",), bases), first, last=body.lineno)
        yield from self._block(body.body)

    def _block(self, statements: Sequence[ast.stmt]) -> Iterator[Statement]:
        for statement in statements:
            yield from self._one(statement)

    def _one(self, node: ast.stmt) -> Iterator[Statement]:
        if isinstance(node, (*_DEFINING, *_WITHOUT_EFFECT)):
            return
        if isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign):
            yield from self._assignment(node)
        elif isinstance(node, ast.If):
            yield from self._choice(node)
        elif isinstance(node, ast.For | ast.AsyncFor | ast.While):
            yield from self._loop(node)
        elif isinstance(node, ast.With | ast.AsyncWith):
            yield from self._with(node)
        elif isinstance(node, ast.Try):
            yield from self._try(node)
        elif isinstance(node, ast.Expr):
            if not isinstance(node.value, ast.Constant) and not _only_shows(node.value):
                yield self._statement("do", self._maker.of(node.value), node)
        elif isinstance(node, ast.Return | ast.Raise):
            value = node.value if isinstance(node, ast.Return) else node.exc
            yield self._statement("return" if isinstance(node, ast.Return) else "raise", self._maker.of(value), node)
        elif isinstance(node, ast.Break | ast.Continue):
            yield self._statement(type(node).__name__.lower(), Tree((type(node).__name__,)), node)

    # -- assignments

    def _assignment(self, node: ast.Assign | ast.AnnAssign | ast.AugAssign) -> Iterator[Statement]:
        if node.value is None:
            return
        if isinstance(node, ast.AugAssign):
            value = self._maker.of(ast.copy_location(ast.BinOp(_loaded(node.target), node.op, node.value), node))
            yield self._set(node.target, value, node)
            return
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        first = targets[0]
        alike = isinstance(first, ast.Tuple) and isinstance(node.value, ast.Tuple)
        if alike and len(targets) == 1 and len(first.elts) == len(node.value.elts):  # type: ignore[attr-defined]
            pairs = [(t, self._maker.of(v)) for t, v in zip(first.elts, node.value.elts, strict=True)]  # type: ignore[attr-defined]
        else:
            value = self._maker.of(node.value)
            pairs = [(target, value) for target in targets]
        for target, value in pairs:
            is_same = isinstance(target, ast.Name) and value.label[:2] == (LOCAL, target.id)
            if not is_same:  # else it is only moved to a device
                yield self._set(target, value, node)

    def _set(self, target: ast.expr, value: Tree, node: ast.stmt) -> Statement:
        if isinstance(target, ast.Name) and target.id in self._maker.versions:
            return self._statement("set", Tree(("set",), (value,), node), node, targets=(target.id,))
        names = tuple(
            name.id for name in ast.walk(target) if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store)
        )
        places = self._maker.of(_without_stores(target)) if not names else Tree(("targets", len(names)))
        return self._statement("set", Tree(("set",), (places, value), node), node, targets=names)

    # -- blocks

    def _choice(self, node: ast.If) -> Iterator[Statement]:
        if isinstance(node.test, ast.Constant) and node.test.value:
            yield from self._block(node.body)
            return
        with_else = bool(node.orelse)
        yield self._open("if", self._maker.of(node.test), node, _first_line(node.test))
        yield from self._block(node.body)
        if with_else:
            yield self._statement("else", Tree(("else",)), node.orelse[0], node.orelse[0])
            yield from self._block(node.orelse)
        yield self._close(node)

    def _loop(self, node: ast.For | ast.AsyncFor | ast.While) -> Iterator[Statement]:
        if isinstance(node, ast.While):
            yield self._open("while", self._maker.of(node.test), node, _first_line(node.test))
        else:
            target, counted, counter = _counted(node)
            value = self._maker.of(counted)
            names = tuple(name.id for name in ast.walk(target) if isinstance(name, ast.Name))
            tree = Tree(("for", len(names)), (value,))
            yield self._open("for", tree, node, _first_line(node.iter), (*names, *counter))
        yield from self._block(node.body)
        yield self._close(node)
        yield from self._block(node.orelse)

    def _with(self, node: ast.With | ast.AsyncWith) -> Iterator[Statement]:
        values = tuple(self._maker.of(item.context_expr) for item in node.items)
        names = tuple(
            name.id
            for item in node.items
            if item.optional_vars is not None
            for name in ast.walk(item.optional_vars)
            if isinstance(name, ast.Name)
        )
        yield self._open("with", Tree(("with",), values), node, _last_line(node.items[-1].context_expr), names)
        yield from self._block(node.body)
        yield self._close(node)

    def _try(self, node: ast.Try) -> Iterator[Statement]:
        yield from self._block(node.body)
        for handler in node.handlers:
            yield self._open("except", self._maker.of(handler.type), handler, handler.lineno)
            yield from self._block(handler.body)
            yield self._close(handler)
        yield from self._block(node.orelse)
        yield from self._block(node.finalbody)

    def _open(self, kind: str, tree: Tree, node: ast.AST, last: int, targets: tuple[str, ...] = ()) -> Statement:
        statement = self._statement(kind, tree, node, targets=targets, last=last)
        self._opened.append(self._count - 1)
        return statement

    def _close(self, node: ast.AST) -> Statement:
        self._opened.pop()
        return self._statement(
            "end", Tree(("end", type(node).__name__)), node, last=getattr(node, "end_lineno", 0), end=True
        )

    def _statement(
        self,
        kind: str,
        tree: Tree,
        node: ast.AST,
        shown: ast.AST | None = None,
        targets: tuple[str, ...] = (),
        last: int = 0,
        end: bool = False,
    ) -> Statement:
        self._count += 1
        labels: list[Label] = []
        for name in targets:
            if name in self._maker.versions:
                self._maker.versions[name] += 1
                labels.append((LOCAL, name, self._maker.versions[name]))
        first = getattr(shown or node, "lineno", 1)
        last = last or getattr(shown or node, "end_lineno", first)
        lines = (last, last) if end else (first, first if kind in ("else",) else last)
        return Statement(kind, tree, node, lines, tuple(self._opened), tuple(labels))


def _counted(node: ast.For | ast.AsyncFor) -> tuple[ast.expr, ast.expr, tuple[str, ...]]:
    """What a loop assigns, what it is over, and the variable that counts its rounds besides, if any."""
    call, target = node.iter, node.target
    counts = isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "enumerate"
    if counts and isinstance(call, ast.Call) and call.args and isinstance(target, ast.Tuple) and len(target.elts) == 2:
        counter, inner = target.elts
        return inner, call.args[0], (counter.id,) if isinstance(counter, ast.Name) else ()
    return target, call, ()


def _only_shows(node: ast.expr) -> bool:
    """Whether a call only prints or logs."""
    if not isinstance(node, ast.Call):
        return False
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    return name in _SHOWING or ".summary." in ast.unparse(node.func)


def _first_line(node: ast.expr) -> int:
    return node.end_lineno or node.lineno


_last_line = _first_line


def _loaded(target: ast.expr) -> ast.expr:
    """A target as an expression that is read."""
    return _without_stores(target)


def _without_stores(target: ast.expr) -> ast.expr:
    """An assigned expression as one that is read."""
    if isinstance(target, ast.Name):
        return ast.copy_location(ast.Name(target.id, ast.Load()), target)
    return target
