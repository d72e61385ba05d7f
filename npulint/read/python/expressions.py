"""Expressions as values; calls and names met on the way are recorded as facts."""

from __future__ import annotations

import ast
from bisect import bisect_left
from collections.abc import Callable

from npulint.facts.code import (
    UNKNOWN,
    Bind,
    Block,
    Call,
    Const,
    Function,
    Import,
    Items,
    Note,
    Op,
    Ref,
    Result,
    Return,
    Table,
    Value,
)
from npulint.read.python.notes import COMPUTED, NOTED, says_cuda

_DEEP = 60  # expression levels read by recursion; what lies deeper is queued and read afterwards
_WIDE = 256  # elements of a display kept as a value; a longer one is data, not a setting
_LONG = 400  # characters of a string kept as a value

_EXACT = (bool, float)
_BINARY = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%", ast.Pow: "**"} | {
    ast.MatMult: "@",
    ast.BitAnd: "&",
    ast.BitOr: "|",
    ast.BitXor: "^",
}
_COMPARE = {
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Is: "is",
    ast.IsNot: "is not",
    ast.In: "in",
    ast.NotIn: "not in",
}


class Expressions:
    """Turns expression nodes into values. Recursion is bounded: a part that lies deeper than `_DEEP`
    levels is unknown to its parent and queued in `deferred`, so that calls in it are still found."""

    def __init__(self, text: str) -> None:
        self.blocks: list[Block] = []
        self.calls: list[Call] = []
        self.binds: list[Bind] = []
        self.imports: list[Import] = []
        self.mentions: list[tuple[str, int, int, int, int]] = []
        self.returns: list[Return] = []
        self.notes: list[Note] = []
        self._notes = "torch" in text  # whether to take notes
        self.imported: set[str] = set()
        self.deferred: list[tuple[ast.expr, int]] = []
        self._depth = 0
        self._wide_lines = {} if text.isascii() else _wide_lines(text)
        self._continued: dict[int, list[int]] = {}
        self._leaves: dict[type, Callable[..., Value]] = {
            ast.Constant: self._constant,
            ast.Name: self._name,
            ast.Attribute: self._attribute,
        }
        self._readers: dict[type, Callable[..., Value]] = {
            ast.Call: self._call,
            ast.Subscript: self._subscript,
            ast.BinOp: self._binary,
            ast.BoolOp: self._boolean,
            ast.UnaryOp: self._unary,
            ast.Compare: self._compare,
            ast.IfExp: self._conditional,
            ast.Tuple: self._display,
            ast.List: self._display,
            ast.Set: self._display,
            ast.Dict: self._dict,
            ast.JoinedStr: self._join,
            ast.FormattedValue: self._inner,
            ast.Starred: self._starred,
            ast.Await: self._inner,
            ast.Lambda: self._lambda,
            ast.ListComp: self._comprehension,
            ast.SetComp: self._comprehension,
            ast.GeneratorExp: self._comprehension,
            ast.DictComp: self._comprehension,
            ast.NamedExpr: self._walrus,
            ast.Slice: self._slice,
            ast.Yield: self._yield,
            ast.YieldFrom: self._yield,
        }

    def value(self, node: ast.expr, block: int) -> Value:
        """The value of `node`, evaluated in `block`."""
        kind = node.__class__
        leaf = self._leaves.get(kind)
        if leaf is not None:
            return leaf(node, block)
        reader = self._readers.get(kind)
        if reader is None:
            return UNKNOWN
        if self._depth >= _DEEP:
            self.deferred.append((node, block))
            return UNKNOWN
        self._depth += 1
        value = reader(node, block)
        self._depth -= 1
        return value

    def span(self, node: ast.AST) -> tuple[int, int, int, int]:
        """Line, column, end line, end column of a node, columns from 1 in characters."""
        line, end = node.lineno, node.end_lineno  # type: ignore[attr-defined]
        column, stop = node.col_offset, node.end_col_offset  # type: ignore[attr-defined]
        if self._wide_lines:
            column = self._characters(line, column)
            stop = self._characters(end, stop)
        return line, column + 1, end, stop + 1

    def _characters(self, line: int, offset: int) -> int:
        wide = self._wide_lines.get(line)
        if wide is None:
            return offset
        continued = self._continued.get(line)
        if continued is None:
            continued = self._continued[line] = [i for i, byte in enumerate(wide) if byte & 0xC0 == 0x80]
        return offset - bisect_left(continued, offset)

    def target_name(self, node: ast.expr, block: int) -> str:
        """An assignment target as text; calls and computed subscripts in it are recorded. `target_key` is
        left holding the computed key of a last subscript."""
        parts: list[str] = []
        self.target_key: Value = UNKNOWN
        while True:
            if isinstance(node, ast.Name):
                return node.id + "".join(reversed(parts)) if parts else node.id
            if isinstance(node, ast.Attribute):
                parts.append("." + node.attr)
                node = node.value
            elif isinstance(node, ast.Subscript):
                key = self.value(node.slice, block)
                if not parts:
                    self.target_key = UNKNOWN if isinstance(key, Const) else key
                parts.append(f"[{key.value}]" if isinstance(key, Const) else "[*]")
                node = node.value
            elif isinstance(node, ast.Call):
                self.value(node, block)
                parts.append("()")
                node = node.func
            else:
                return ""

    def parameters(self, args: ast.arguments, block: int) -> tuple[tuple[str, ...], tuple[Value, ...]]:
        """Parameter names (``*args`` and ``**kwargs`` keep their stars) and the defaults of the last ones;
        keyword-only parameters without a default get an unknown one."""
        names = [a.arg for a in (*args.posonlyargs, *args.args)]
        defaults = [self.value(d, block) for d in args.defaults]
        if args.kwonlyargs:
            defaults += [UNKNOWN if d is None else self.value(d, block) for d in args.kw_defaults]
            names += [a.arg for a in args.kwonlyargs]
        tail = [f"*{args.vararg.arg}"] if args.vararg else []
        tail += [f"**{args.kwarg.arg}"] if args.kwarg else []
        return (*names, *tail), (*defaults, *(UNKNOWN for _ in tail))

    def _constant(self, node: ast.Constant, block: int) -> Value:
        value = node.value
        if value.__class__ is str:
            return Const(value if len(value) <= _LONG and value.isascii() else _encodable(value[:_LONG]))
        if value is None or isinstance(value, _EXACT):
            return Const(value)
        if isinstance(value, int):
            return Const(value) if abs(value) < 1 << 63 else Const(float(value)) if abs(value) < 1 << 1000 else UNKNOWN
        if isinstance(value, bytes):
            return Const(value[:_LONG].decode("latin-1"), True)
        return UNKNOWN

    def _name(self, node: ast.Name, block: int) -> Value:
        if node.id in self.imported:
            self.mentions.append((node.id, block, *self._place(node)))
        return Ref(node.id)

    def _place(self, node: ast.expr) -> tuple[int, int, int]:
        line, column, last, end = self.span(node)
        return line, column, end if last == line else column + 1

    def _attribute(self, node: ast.Attribute, block: int) -> Value:
        inner = node.value
        if inner.__class__ is ast.Name and inner.id not in self.imported:
            value: Value = Ref(f"{inner.id}.{node.attr}")
            if self._notes and node.attr in NOTED:
                self._note("attribute", value, node, block)
            return value
        value = self._dotted(node, block)
        if value.__class__ is Ref and value.name.partition(".")[0] in self.imported:
            self.mentions.append((value.name, block, *self._place(node)))
        elif self._notes and node.attr in NOTED:
            self._note("attribute", value, node, block)
        return value

    def _note(self, kind: str, value: Value, node: ast.expr, block: int) -> None:
        self.notes.append(Note(kind, value, block, *self.span(node)))

    def _dotted(self, node: ast.Attribute, block: int) -> Value:
        parts = [node.attr]
        inner: ast.expr = node.value
        while type(inner) is ast.Attribute:
            parts.append(inner.attr)
            inner = inner.value
        if len(parts) > _DEEP:
            self.value(inner, block)
            return UNKNOWN
        if type(inner) is ast.Name:
            parts.append(inner.id)
            parts.reverse()
            return Ref(".".join(parts))
        value = self.value(inner, block)
        if value is UNKNOWN:
            return UNKNOWN
        for part in reversed(parts):
            value = Op(".", (value, Const(part)))
        return value

    def _call(self, node: ast.Call, block: int) -> Value:
        func = node.func
        kind = type(func)
        if kind is ast.Name:
            callee: Value = Ref(func.id)  # type: ignore[attr-defined]
        elif kind is ast.Attribute:
            callee = self._dotted(func, block)  # type: ignore[arg-type]
            if callee is UNKNOWN:
                callee = Op(".", (UNKNOWN, Const(func.attr)))  # type: ignore[attr-defined]
        else:
            callee = self.value(func, block)
        value, leaves = self.value, self._leaves
        args = tuple([leaves.get(a.__class__, value)(a, block) for a in node.args])
        keywords = tuple([(k.arg or "**", value(k.value, block)) for k in node.keywords]) if node.keywords else ()
        looked_up = kind is ast.Name and func.id == "getattr" and len(args) > 1  # type: ignore[attr-defined]
        if looked_up and isinstance(args[0], Ref) and isinstance(args[1], Const):
            name = f"{args[0].name}.{args[1].value}"
            self.mentions.append((name, block, *self._place(node)))
            return Ref(name)
        self.calls.append(Call(callee, args, keywords, block, *self.span(node)))
        return Result(len(self.calls) - 1)

    def _subscript(self, node: ast.Subscript, block: int) -> Value:
        value, leaves = self.value, self._leaves
        holder = leaves.get(node.value.__class__, value)(node.value, block)
        read = Op("[]", (holder, leaves.get(node.slice.__class__, value)(node.slice, block)))
        if self._notes and node.slice.__class__ in COMPUTED:
            self._note("mask", read, node, block)
        return read

    def _binary(self, node: ast.BinOp, block: int) -> Value:
        value, leaves = self.value, self._leaves
        left = leaves.get(node.left.__class__, value)(node.left, block)
        result = Op(_BINARY.get(type(node.op), "?"), (left, leaves.get(node.right.__class__, value)(node.right, block)))
        if self._notes and result.op == "@":
            self._note("matmul", result, node, block)
        return result

    def _boolean(self, node: ast.BoolOp, block: int) -> Value:
        operator = "and" if isinstance(node.op, ast.And) else "or"
        return Op(operator, tuple([self.value(v, block) for v in node.values]))

    def _unary(self, node: ast.UnaryOp, block: int) -> Value:
        value = self.value(node.operand, block)
        if isinstance(node.op, ast.Not):
            return Op("not", (value,))
        if isinstance(node.op, ast.UAdd):
            return value
        if isinstance(node.op, ast.USub):
            if isinstance(value, Const) and isinstance(value.value, int | float):
                return Const(-value.value)
            return Op("neg", (value,))
        return Op("~", (value,))

    def _compare(self, node: ast.Compare, block: int) -> Value:
        left = self.value(node.left, block)
        right = [self.value(c, block) for c in node.comparators]
        if len(right) > 1:
            return UNKNOWN
        result = Op(_COMPARE[type(node.ops[0])], (left, right[0]))
        if self._notes and (says_cuda(left) or says_cuda(right[0])):
            self._note("compare", result, node, block)
        return result

    def _conditional(self, node: ast.IfExp, block: int) -> Value:
        return Op("if", (self.value(node.test, block), self.value(node.body, block), self.value(node.orelse, block)))

    def _display(self, node: ast.Tuple | ast.List | ast.Set, block: int) -> Value:
        if len(node.elts) > _WIDE:
            for element in node.elts:
                if type(element) is not ast.Constant:
                    self.value(element, block)
            return UNKNOWN
        value, leaves = self.value, self._leaves
        return Items(tuple([leaves.get(e.__class__, value)(e, block) for e in node.elts]))

    def _dict(self, node: ast.Dict, block: int) -> Value:
        if len(node.values) > _WIDE:
            for element in node.values:
                if type(element) is not ast.Constant:
                    self.value(element, block)
            return UNKNOWN
        keys = tuple([None if k is None else self.value(k, block) for k in node.keys])
        return Table(keys, tuple([self.value(v, block) for v in node.values]))

    def _join(self, node: ast.JoinedStr, block: int) -> Value:
        return Op("join", tuple([self.value(v, block) for v in node.values]))

    def _inner(self, node: ast.FormattedValue | ast.Await, block: int) -> Value:
        return self.value(node.value, block)

    def _starred(self, node: ast.Starred, block: int) -> Value:
        return Op("star", (self.value(node.value, block),))

    def _slice(self, node: ast.Slice, block: int) -> Value:
        for part in (node.lower, node.upper, node.step):
            if part is not None:
                self.value(part, block)
        return UNKNOWN

    def _yield(self, node: ast.Yield | ast.YieldFrom, block: int) -> Value:
        if node.value is not None:
            self.returns.append(Return(self.value(node.value, block), block, node.lineno))
        return UNKNOWN

    def _walrus(self, node: ast.NamedExpr, block: int) -> Value:
        value = self.value(node.value, block)
        self.binds.append(Bind(node.target.id, value, block, *self.span(node)))
        return value

    def _lambda(self, node: ast.Lambda, block: int) -> Value:
        params, defaults = self.parameters(node.args, block)
        self.blocks.append(Block("lambda", block, node.lineno, params=params, defaults=defaults))
        inner = len(self.blocks) - 1
        self.returns.append(Return(self.value(node.body, inner), inner, node.lineno))
        return Function(inner)

    def _comprehension(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp, block: int) -> Value:
        inner = block
        for generator in node.generators:
            source = self.value(generator.iter, inner)
            names = tuple(n.id for n in ast.walk(generator.target) if isinstance(n, ast.Name))
            self.blocks.append(Block("loop", inner, node.lineno, test=source, params=names))
            inner = len(self.blocks) - 1
            for condition in generator.ifs:
                self.value(condition, inner)
        if isinstance(node, ast.DictComp):
            self.value(node.key, inner)
            return Op("each", (self.value(node.value, inner),))
        return Op("each", (self.value(node.elt, inner),))


def _encodable(text: str) -> str:
    """Lone surrogates (``"\\ud800"`` is a legal literal) can be neither cached nor printed."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def _wide_lines(text: str) -> dict[int, bytes]:
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return {n: line.encode("utf-8", "replace") for n, line in enumerate(lines, 1) if not line.isascii()}
