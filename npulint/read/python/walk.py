"""The one pass over a syntax tree: statements by an explicit stack, expressions by `Expressions`."""

from __future__ import annotations

import ast
from collections.abc import Callable

from npulint.facts.code import (
    UNKNOWN,
    Bind,
    Block,
    Code,
    Const,
    Function,
    Import,
    Mention,
    Note,
    Op,
    Ref,
    Return,
    Value,
)
from npulint.read.python.expressions import Expressions
from npulint.read.python.notes import MASK_WORDS, indices_of, is_mask

_Statements = list[ast.stmt]


class Walker(Expressions):
    """Collects the syntax facts of one module; use once."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self._stack: list[tuple[_Statements, int]] = []
        self._elsewhere: dict[int, dict[str, int]] = {}
        self._handlers: dict[type, Callable[..., None]] = {
            ast.Expr: self._expression,
            ast.Assign: self._assign,
            ast.AugAssign: self._augment,
            ast.AnnAssign: self._annotate,
            ast.FunctionDef: self._define,
            ast.AsyncFunctionDef: self._define,
            ast.ClassDef: self._class,
            ast.Return: self._return,
            ast.Import: self._import,
            ast.ImportFrom: self._import_from,
            ast.If: self._if,
            ast.For: self._for,
            ast.AsyncFor: self._for,
            ast.While: self._while,
            ast.With: self._with,
            ast.AsyncWith: self._with,
            ast.Try: self._try,
            ast.Global: self._global,
            ast.Nonlocal: self._global,
            ast.Assert: self._assert,
            ast.Raise: self._raise,
            ast.Delete: self._skip,
        }
        for name, handler in (("TryStar", self._try), ("Match", self._match), ("TypeAlias", self._skip)):
            if hasattr(ast, name):
                self._handlers[getattr(ast, name)] = handler

    def walk(self, tree: ast.Module) -> Code:
        """All facts of `tree`, in no particular order within a list except that blocks precede children."""
        self.new_block("module", -1, 1)
        self._stack.append((tree.body, 0))
        while self._stack or self.deferred:
            while self._stack:
                body, block = self._stack.pop()
                for statement in body:
                    handler = self._handlers.get(statement.__class__)
                    if handler is not None:
                        handler(statement, block)
            if self.deferred:
                node, block = self.deferred.pop()
                self.value(node, block)
        roots = {i.alias.split(".", 1)[0] for i in self.imports}
        mentions = [Mention(*m) for m in self.mentions if m[0].split(".", 1)[0] in roots]
        notes = self._kept_notes() if self.notes else []
        return Code(self.blocks, self.calls, self.binds, self.imports, mentions, self.returns, notes)

    def _kept_notes(self) -> list[Note]:
        """The notes without the subscripts that this file gives no reason to think masks."""
        indices = {id(note): indices_of(note) for note in self.notes if note.kind == "mask"}
        asked = {part.name.rpartition(".")[2] for parts in indices.values() for part in parts if isinstance(part, Ref)}
        masks = {name for name in asked if any(word in name for word in MASK_WORDS)}
        for bind in self.binds if asked else ():
            last = bind.target.rpartition(".")[2]
            if last in asked and last not in masks and is_mask(bind.value, self.calls):
                masks.add(last)

        def masking(part: Value) -> bool:
            return part.name.rpartition(".")[2] in masks if isinstance(part, Ref) else is_mask(part, self.calls)

        return [note for note in self.notes if note.kind != "mask" or any(map(masking, indices[id(note)]))]

    def new_block(self, kind: str, parent: int, line: int, **fields: object) -> int:
        self.blocks.append(Block(kind, parent, line, **fields))  # type: ignore[arg-type]
        return len(self.blocks) - 1

    def _enter(self, body: _Statements, block: int) -> None:
        if body:
            self._stack.append((body, block))

    def _skip(self, node: ast.stmt, block: int) -> None:
        pass

    def _expression(self, node: ast.Expr, block: int) -> None:
        if isinstance(node.value, ast.Yield | ast.YieldFrom):
            value = self.value(node.value.value, block) if node.value.value else UNKNOWN
            self.returns.append(Return(value, block, node.lineno))
        elif not isinstance(node.value, ast.Constant):
            self.value(node.value, block)

    def _assert(self, node: ast.Assert, block: int) -> None:
        self.value(node.test, block)

    def _raise(self, node: ast.Raise, block: int) -> None:
        if node.exc is not None:
            self.value(node.exc, block)

    def _assign(self, node: ast.Assign, block: int) -> None:
        value = self.value(node.value, block)
        for target in node.targets:
            self.bind(target, value, block)

    def _augment(self, node: ast.AugAssign, block: int) -> None:
        value = self.value(node.value, block)
        self.bind(node.target, Op("+=", (value,)), block)

    def _annotate(self, node: ast.AnnAssign, block: int) -> None:
        if node.value is not None:
            self.bind(node.target, self.value(node.value, block), block)

    def bind(self, target: ast.expr, value: Value, block: int) -> None:
        """Record an assignment; tuples are taken apart, one level of `Items` element by element."""
        if isinstance(target, ast.Tuple | ast.List):
            items = value.items if hasattr(value, "items") and len(value.items) == len(target.elts) else None
            rest = next((i for i, e in enumerate(target.elts) if isinstance(e, ast.Starred)), len(target.elts))
            for place, element in enumerate(target.elts):
                index = place if place < rest else place - len(target.elts)  # after a star, from the end
                part = items[index] if items else UNKNOWN if value is UNKNOWN else Op("[]", (value, Const(index)))
                self.bind(element, part, block)
            return
        if isinstance(target, ast.Starred):
            return self.bind(target.value, UNKNOWN, block)
        name = self.target_name(target, block)
        if not name:
            return
        where = self._home(name, block)
        self.binds.append(Bind(name, value, where, *self.span(target), self.target_key))

    def _home(self, name: str, block: int) -> int:
        return self._elsewhere.get(self._scope(block), {}).get(name, block) if self._elsewhere else block

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
        inner = self.new_block(
            "function",
            block,
            node.lineno,
            name=self._qualified(node.name, block),
            params=params,
            defaults=defaults,
            decorators=tuple(self.value(d, block) for d in node.decorator_list),
            end_line=node.end_lineno or node.lineno,
        )
        self.binds.append(
            Bind(node.name, Function(inner), block, node.lineno, node.col_offset + 1, node.lineno, node.col_offset + 1)
        )
        self._enter(node.body, inner)

    def _class(self, node: ast.ClassDef, block: int) -> None:
        inner = self.new_block(
            "class",
            block,
            node.lineno,
            name=self._qualified(node.name, block),
            bases=tuple(self.value(b, block) for b in node.bases),
            decorators=tuple(self.value(d, block) for d in node.decorator_list),
            end_line=node.end_lineno or node.lineno,
        )
        self.binds.append(
            Bind(node.name, Function(inner), block, node.lineno, node.col_offset + 1, node.lineno, node.col_offset + 1)
        )
        self._enter(node.body, inner)

    def _qualified(self, name: str, block: int) -> str:
        while block > 0:
            if self.blocks[block].kind in ("function", "class"):
                return f"{self.blocks[block].name}.{name}"
            block = self.blocks[block].parent
        return name

    def _return(self, node: ast.Return, block: int) -> None:
        if node.value is not None:
            self.returns.append(Return(self.value(node.value, block), block, node.lineno))

    def _import(self, node: ast.Import, block: int) -> None:
        for alias in node.names:
            bound = alias.asname or alias.name.split(".", 1)[0]
            module = alias.name if alias.asname else bound
            self._record_import(node, block, module, "", bound, 0)
            if module != alias.name:  # `import a.b` also loads a.b
                self._record_import(node, block, alias.name, "", "", 0)

    def _import_from(self, node: ast.ImportFrom, block: int) -> None:
        for alias in node.names:
            self._record_import(node, block, node.module or "", alias.name, alias.asname or alias.name, node.level)

    def _record_import(self, node: ast.stmt, block: int, module: str, name: str, alias: str, level: int) -> None:
        line, column, last, end = self.span(node)
        end = end if last == line else column + 1
        self.imports.append(Import(module, name, alias, level, block, line, column, end))
        if alias:
            self.imported.add(alias)

    def _if(self, node: ast.If, block: int) -> None:
        test = self.value(node.test, block)
        self._enter(node.body, self.new_block("if", block, node.lineno, test=test))
        if node.orelse:
            self._enter(node.orelse, self.new_block("else", block, node.lineno, test=test))

    def _for(self, node: ast.For | ast.AsyncFor, block: int) -> None:
        source = self.value(node.iter, block)
        inner = self.new_block("loop", block, node.lineno, test=source)
        self.bind(node.target, Op("iter", (source,)), inner)
        self._enter(node.body, inner)
        self._enter(node.orelse, block)

    def _while(self, node: ast.While, block: int) -> None:
        inner = self.new_block("loop", block, node.lineno, test=self.value(node.test, block))
        self._enter(node.body, inner)
        self._enter(node.orelse, block)

    def _with(self, node: ast.With | ast.AsyncWith, block: int) -> None:
        inner = block
        for item in node.items:
            context = self.value(item.context_expr, inner)
            inner = self.new_block("with", inner, node.lineno, test=context)
            if item.optional_vars is not None:
                self.bind(item.optional_vars, context, block)
        self._enter(node.body, inner)

    def _try(self, node: ast.Try, block: int) -> None:
        inner = self.new_block("try", block, node.lineno)
        self._enter(node.body, inner)
        for handler in node.handlers:
            self._enter(handler.body, self.new_block("except", block, handler.lineno))
        self._enter(node.orelse, inner)
        self._enter(node.finalbody, block)

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
            self.binds.append(Bind(name, UNKNOWN, self._home(name, block), *self.span(pattern)))
