"""Single pass over a syntax tree: statements with an explicit stack, expressions with `Expressions`."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from npulint.facts.code import (
    UNKNOWN,
    Assignment,
    Block,
    CallResult,
    Code,
    Const,
    Exit,
    Function,
    Import,
    Op,
    Ref,
    Return,
    SequenceDisplay,
    TorchExpression,
    Value,
)
from npulint.read.python.expressions import BINARY, Expressions
from npulint.read.python.notes import MASK_WORDS, asks_cuda, indices_of, is_mask

_Statements = list[ast.stmt]


class Walker(Expressions):
    """Collects the syntax facts of one module; use an instance once."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self._stack: list[tuple[_Statements, int]] = []
        self._elsewhere: dict[int, dict[str, int]] = {}

    def walk(self, tree: ast.Module) -> Code:
        """All facts of `tree`, unordered except that blocks precede their children."""
        self.new_block("module", -1, 1)
        stack, deferred, handler_of = self._stack, self.deferred, _HANDLERS.get
        stack.append((tree.body, 0))
        while stack or deferred:
            while stack:
                body, block = stack.pop()
                for statement in body:
                    handler = handler_of(statement.__class__)
                    if handler is not None:
                        handler(self, statement, block)
            if deferred:
                node, block = deferred.pop()
                self.value(node, block)
        if self.looked_up:
            self.mentions = [m for m in self.mentions if m.name.split(".", 1)[0] in self.imported]
        notes = self._kept_notes() if self.noted else []
        return Code(
            self.blocks, self.calls, self.binds, self.imports, self.mentions, self.returns, notes, exits=self.exits
        )

    def _kept_notes(self) -> list[TorchExpression]:
        """The recorded expressions, without subscripts that are probably no masks."""
        masks = self._mask_names()

        def masking(part: Value) -> bool:
            return part.name.rpartition(".")[2] in masks if isinstance(part, Ref) else is_mask(part, self.calls)

        return [
            TorchExpression(kind, value, block, *self.span(node))
            for kind, value, block, node in self.noted
            if kind != "mask" or any(map(masking, indices_of(value)))
        ]

    def _mask_names(self) -> set[str]:
        """The last parts of names that are used as an index and assigned, or called with, a mask."""
        subscripts = [value for kind, value, _, _ in self.noted if kind == "mask"]
        indices = [part.name for value in subscripts for part in indices_of(value) if isinstance(part, Ref)]
        last_parts = {name.rpartition(".")[2] for name in indices}
        masks = {name for name in last_parts if any(word in name for word in MASK_WORDS)}
        for bind in self.binds if last_parts else ():
            if bind.value.__class__ in _COMPUTED:
                last = bind.target.rpartition(".")[2]
                if last in last_parts and last not in masks and is_mask(bind.value, self.calls):
                    masks.add(last)
        return masks

    def _enter(self, body: _Statements, block: int) -> None:
        if body:
            self._stack.append((body, block))

    def _expression(self, node: ast.Expr, block: int) -> None:
        inner: Any = node.value
        kind = inner.__class__
        if kind is ast.Yield or kind is ast.YieldFrom:
            yielded = inner.value
            value = self.value(yielded, block) if yielded else UNKNOWN
            self.returns.append(Return(value, block, node.lineno))
        elif kind is not ast.Constant:
            self.value(inner, block)

    def _assert(self, node: ast.Assert, block: int) -> None:
        test = self.value(node.test, block)
        if self._notes and asks_cuda(test, self.calls):
            self._note("assert", test, node.test, block)

    def _raise(self, node: ast.Raise, block: int) -> None:
        self.exits.append(Exit("raise", block, node.end_lineno or node.lineno))
        if node.exc is not None:
            self.value(node.exc, block)

    def _leave(self, node: ast.Break | ast.Continue, block: int) -> None:
        self.exits.append(Exit("break" if node.__class__ is ast.Break else "continue", block, node.lineno))

    def _assign(self, node: ast.Assign, block: int) -> None:
        value = self.value(node.value, block)
        for target in node.targets:
            self.bind(target, value, block)

    def _augment(self, node: ast.AugAssign, block: int) -> None:
        value = self.value(node.value, block)
        sign = BINARY[node.op.__class__]
        self.bind(node.target, Op("+=", (value,) if sign == "+" else (value, Const(sign))), block)

    def _annotate(self, node: ast.AnnAssign, block: int) -> None:
        if node.value is not None:
            self.bind(node.target, self.value(node.value, block), block)

    def bind(self, target: Any, value: Value, block: int) -> None:
        """Record an assignment; tuples are unpacked, one level of `SequenceDisplay` by element."""
        kind = target.__class__
        key: Value = UNKNOWN
        called: Value = UNKNOWN
        if kind is ast.Name:
            name: str = target.id
        elif kind is ast.Tuple or kind is ast.List:
            return self._unpack(target.elts, value, block)
        elif kind is ast.Starred:
            return self.bind(target.value, UNKNOWN, block)
        else:
            name, key, called = self.target(target, block)
            if not name:
                return
        if self._elsewhere:
            block = self._home(name, block)
        line, end = target.lineno, target.end_lineno
        if line in self.wide or end in self.wide:
            bind = Assignment(name, value, block, *self.span(target), key, called)
        else:
            column, stop = target.col_offset + 1, target.end_col_offset + 1
            bind = Assignment(name, value, block, line, column, end, stop, key, called)
        self.binds.append(bind)

    def _unpack(self, targets: list[ast.expr], value: Value, block: int) -> None:
        items = value.items if value.__class__ is SequenceDisplay and len(value.items) == len(targets) else None
        rest = next((i for i, e in enumerate(targets) if e.__class__ is ast.Starred), len(targets))
        for place, element in enumerate(targets):
            index = place if place < rest else place - len(targets)  # counted from the end after a star
            part = items[index] if items else UNKNOWN if value is UNKNOWN else Op("[]", (value, Const(index)))
            self.bind(element, part, block)

    def _home(self, name: str, block: int) -> int:
        return self._elsewhere.get(self._scope(block), {}).get(name, block)

    def _scope(self, block: int) -> int:
        while block > 0 and self.blocks[block].kind not in ("function", "class", "lambda"):
            block = self.blocks[block].parent
        return block

    def _global(self, node: ast.Global | ast.Nonlocal, block: int) -> None:
        kind = "global" if isinstance(node, ast.Global) else "nonlocal"
        home = self.new_block(kind, block, node.lineno)
        self._elsewhere.setdefault(self._scope(block), {}).update(dict.fromkeys(node.names, home))

    def _define(self, node: ast.FunctionDef | ast.AsyncFunctionDef, block: int) -> None:
        params, defaults = self.parameters(node.args, block)
        name = self._qualified(node.name, block)
        decorators = self.values(node.decorator_list, block)
        end = node.end_lineno or node.lineno
        made = Block("function", block, node.lineno, name, UNKNOWN, params, defaults, decorators, (), end)
        self._open(node, made)

    def _class(self, node: ast.ClassDef, block: int) -> None:
        name = self._qualified(node.name, block)
        bases = self.values(node.bases, block)
        decorators = self.values(node.decorator_list, block)
        end = node.end_lineno or node.lineno
        self._open(node, Block("class", block, node.lineno, name, UNKNOWN, (), (), decorators, bases, end))

    def _open(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef, made: Block) -> None:
        """Record the block of a definition and the binding of its name; continue with the body."""
        inner = len(self.blocks)
        self.blocks.append(made)
        line, column = node.lineno, node.col_offset + 1
        self.binds.append(Assignment(node.name, Function(inner), made.parent, line, column, line, column))
        self._enter(node.body, inner)

    def _qualified(self, name: str, block: int) -> str:
        while block > 0:
            if self.blocks[block].kind in ("function", "class"):
                return f"{self.blocks[block].name}.{name}"
            block = self.blocks[block].parent
        return name

    def _return(self, node: ast.Return, block: int) -> None:
        self.exits.append(Exit("return", block, node.end_lineno or node.lineno))
        if node.value is not None:
            self.returns.append(Return(self.value(node.value, block), block, node.lineno))

    def _import(self, node: ast.Import, block: int) -> None:
        place = self.place(node)
        for alias in node.names:
            bound = alias.asname or alias.name.split(".", 1)[0]
            module = alias.name if alias.asname else bound
            self.imports.append(Import(module, "", bound, 0, block, *place))
            self.imported.add(bound)
            if module != alias.name:  # `import a.b` also loads a.b
                self.imports.append(Import(alias.name, "", "", 0, block, *place))

    def _import_from(self, node: ast.ImportFrom, block: int) -> None:
        place = self.place(node)
        module, level = node.module or "", node.level
        for alias in node.names:
            bound = alias.asname or alias.name
            self.imports.append(Import(module, alias.name, bound, level, block, *place))
            self.imported.add(bound)

    def _if(self, node: ast.If, block: int) -> None:
        test = self.value(node.test, block)
        self._enter(node.body, self.new_block("if", block, node.lineno, test))
        if node.orelse:
            self._enter(node.orelse, self.new_block("else", block, node.lineno, test))

    def _for(self, node: ast.For | ast.AsyncFor, block: int) -> None:
        source = self.value(node.iter, block)
        inner = self.new_block("loop", block, node.lineno, source)
        self.bind(node.target, Op("iter", (source,)), inner)
        self._enter(node.body, inner)
        self._enter(node.orelse, block)

    def _while(self, node: ast.While, block: int) -> None:
        inner = self.new_block("loop", block, node.lineno, self.value(node.test, block))
        self._enter(node.body, inner)
        self._enter(node.orelse, block)

    def _with(self, node: ast.With | ast.AsyncWith, block: int) -> None:
        inner = block
        for item in node.items:
            context = self.value(item.context_expr, inner)
            inner = self.new_block("with", inner, node.lineno, context)
            if item.optional_vars is not None:
                self.bind(item.optional_vars, context, block)
        self._enter(node.body, inner)

    def _try(self, node: ast.Try, block: int) -> None:
        inner = self.new_block("try", block, node.lineno)
        self._enter(node.body, inner)
        for handler in node.handlers:
            caught = UNKNOWN if handler.type is None else self._caught(handler.type)
            self._enter(handler.body, self.new_block("except", block, handler.lineno, caught))
        self._enter(node.orelse, inner)
        self._enter(node.finalbody, block)

    def _caught(self, node: ast.expr) -> Value:
        """The names of the exceptions that a handler catches; using these needs nothing of what they belong to."""
        if isinstance(node, ast.Tuple):
            return SequenceDisplay(tuple(self._caught(elt) for elt in node.elts))
        return Ref(self.target(node, 0)[0]) if isinstance(node, ast.Name | ast.Attribute) else UNKNOWN

    def _match(self, node: ast.Match, block: int) -> None:
        self.value(node.subject, block)
        for case in node.cases:
            inner = self.new_block("if", block, case.pattern.lineno)
            for part in ast.walk(case.pattern):
                self._capture(part, inner)
            if case.guard is not None:
                self.value(case.guard, inner)
            self._enter(case.body, inner)

    def _capture(self, pattern: ast.AST, block: int) -> None:
        """Record the name that a pattern binds, or the value that it compares with."""
        if isinstance(pattern, ast.MatchValue | ast.MatchClass):
            self.value(pattern.value if isinstance(pattern, ast.MatchValue) else pattern.cls, block)
            return
        name = getattr(pattern, "rest" if isinstance(pattern, ast.MatchMapping) else "name", None)
        if isinstance(pattern, ast.pattern) and name:
            self.binds.append(Assignment(name, UNKNOWN, self._home(name, block), *self.span(pattern)))


_COMPUTED = (Op, CallResult)  # values that may be masks
# Unbound methods: building this table per file would be slow.
_HANDLERS: dict[type, Callable[[Walker, Any, int], None]] = {
    ast.Expr: Walker._expression,
    ast.Assign: Walker._assign,
    ast.AugAssign: Walker._augment,
    ast.AnnAssign: Walker._annotate,
    ast.FunctionDef: Walker._define,
    ast.AsyncFunctionDef: Walker._define,
    ast.ClassDef: Walker._class,
    ast.Return: Walker._return,
    ast.Import: Walker._import,
    ast.ImportFrom: Walker._import_from,
    ast.If: Walker._if,
    ast.For: Walker._for,
    ast.AsyncFor: Walker._for,
    ast.While: Walker._while,
    ast.With: Walker._with,
    ast.AsyncWith: Walker._with,
    ast.Try: Walker._try,
    ast.Global: Walker._global,
    ast.Nonlocal: Walker._global,
    ast.Break: Walker._leave,
    ast.Continue: Walker._leave,
    ast.Assert: Walker._assert,
    ast.Raise: Walker._raise,
    ast.Match: Walker._match,
}
if hasattr(ast, "TryStar"):  # since Python 3.11
    _HANDLERS[ast.TryStar] = Walker._try
