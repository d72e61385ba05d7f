"""Converts expressions to values, and records the calls and names in them as facts."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from typing import Any

from npulint.facts.code import (
    UNKNOWN,
    Assignment,
    Block,
    Call,
    CallResult,
    Const,
    Exit,
    Function,
    Import,
    NameUse,
    Op,
    Ref,
    Return,
    Scalar,
    SequenceDisplay,
    Table,
    Unknown,
    Value,
)
from npulint.read.python.alignment import SourcePositions
from npulint.read.python.notes import COMPUTED, NOTED, asks_cuda, says_cuda

_DISPLAYS = (ast.Tuple, ast.List, ast.Set)
_DEEP = 60  # levels of expressions read recursively; deeper ones are queued
_WIDE = 256  # elements of a display; a longer one is data, not a setting
_BEFORE = 30  # operands of ``and`` and ``or`` that are recorded as conditions of a later one
_LONG = 400  # characters of a string that are kept
# Classes and functions whose keyword arguments are settings with places of their own.
_CONFIGURING = ("Config", "Arguments", ".from_pretrained", ".from_config", "Trainer", "Fabric", "Accelerator", "LLM")

_EXACT = (bool, float, type(None))
BINARY = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%", ast.Pow: "**"} | {
    ast.MatMult: "@",
    ast.BitAnd: "&",
    ast.BitOr: "|",
    ast.BitXor: "^",
    ast.LShift: "<<",
    ast.RShift: ">>",
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


class Expressions(SourcePositions):
    """Converts expression nodes to values. Recursion is bounded: a part deeper than `_DEEP` levels is unknown to its
    parent and queued in `deferred`, so that calls in it are still found."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.blocks: list[Block] = []
        self.calls: list[Call] = []
        self.binds: list[Assignment] = []
        self.imports: list[Import] = []
        self.mentions: list[NameUse] = []
        self.returns: list[Return] = []
        self.exits: list[Exit] = []
        self.noted: list[tuple[str, Value, int, ast.expr]] = []  # candidates for `TorchExpression`
        self._notes = "torch" in text  # whether to record these
        self.imported: set[str] = set()
        self.looked_up = False  # whether a name use represents a ``getattr``
        self.deferred: list[tuple[ast.expr, int]] = []
        self._depth = 0

    def new_block(self, kind: str, parent: int, line: int, test: Value = UNKNOWN) -> int:
        """Record a block; its index."""
        self.blocks.append(Block(kind, parent, line, "", test))
        return len(self.blocks) - 1

    def value(self, node: ast.expr, block: int) -> Value:
        """The value of `node`, evaluated in `block`."""
        kind = node.__class__
        leaf = _LEAVES.get(kind)
        if leaf is not None:
            return leaf(self, node, block)
        reader = _READERS.get(kind)
        if reader is None:
            return UNKNOWN
        if self._depth >= _DEEP:
            self.deferred.append((node, block))
            return UNKNOWN
        self._depth += 1
        value = reader(self, node, block)
        self._depth -= 1
        return value

    def values(self, nodes: Iterable[ast.expr], block: int) -> tuple[Value, ...]:
        """The value of each node. (Not a comprehension: slow up to Python 3.11.)"""
        leaf, other = _LEAVES.get, Expressions.value
        values = []
        for node in nodes:
            values.append(leaf(node.__class__, other)(self, node, block))
        return tuple(values)

    def target(self, node: Any, block: int) -> tuple[str, Value, Value]:
        """An assignment target as text, its last computed key, and the result of the last call in it; records calls and
        computed subscripts."""
        parts: list[str] = []
        last: Value = UNKNOWN
        called: Value | None = None
        while True:
            kind: type = node.__class__
            if kind is ast.Name:
                parts.append(node.id)
                parts.reverse()
                return "".join(parts), last, called or UNKNOWN
            if kind is ast.Attribute:
                parts.append("." + node.attr)
                node = node.value
            elif kind is ast.Subscript:
                key = self.value(node.slice, block)
                if last is UNKNOWN and not isinstance(key, Const):
                    last = key
                parts.append(f"[{key.value}]" if isinstance(key, Const) else "[*]")
                node = node.value
            elif kind is ast.Call:
                if called is None:  # its reading includes the calls that it follows
                    called = self.value(node, block)
                parts.append("()")
                node = node.func
            else:
                return "", last, UNKNOWN

    def parameters(self, args: ast.arguments, block: int) -> tuple[tuple[str, ...], tuple[Value, ...]]:
        """Parameter names (``*args`` and ``**kwargs`` with stars) and the defaults of the last ones; keyword-only
        parameters without a default get an unknown one."""
        names = [a.arg for a in (*args.posonlyargs, *args.args)]
        defaults = [self.value(d, block) for d in args.defaults]
        if args.kwonlyargs:
            defaults += [UNKNOWN if d is None else self.value(d, block) for d in args.kw_defaults]
            names += [a.arg for a in args.kwonlyargs]
        tail = [f"*{args.vararg.arg}"] if args.vararg else []
        tail += [f"**{args.kwarg.arg}"] if args.kwarg else []
        return (*names, *tail), (*defaults, *[UNKNOWN] * len(tail))

    def _constant(self, node: ast.Constant, block: int) -> Value:
        value: Any = node.value
        kind = value.__class__
        if kind is str:
            return Const(value if len(value) <= _LONG and value.isascii() else _encodable(value[:_LONG]))
        if kind in _EXACT:
            return Const(value)
        if kind is int:
            return Const(value) if abs(value) < 1 << 63 else Const(float(value)) if abs(value) < 1 << 1000 else UNKNOWN
        if kind is bytes:
            return Const(value[:_LONG].decode("latin-1"), True)
        return UNKNOWN

    def _name(self, node: ast.Name, block: int) -> Value:
        name = node.id
        if name in self.imported:
            self._mention(name, node, block)
        return Ref(name)

    def _mention(self, name: str, node: ast.expr, block: int) -> None:
        self.mentions.append(NameUse(name, block, *self.place(node)))

    def _attribute(self, node: ast.Attribute, block: int) -> Value:
        value = self._dotted(node, block)
        if value.__class__ is Ref and value.name.partition(".")[0] in self.imported:
            self._mention(value.name, node, block)
        elif node.attr in NOTED:
            self._note("attribute", value, node, block)
        return value

    def _note(self, kind: str, value: Value, node: ast.expr, block: int) -> None:
        if self._notes:
            self.noted.append((kind, value, block, node))

    def _dotted(self, node: ast.Attribute, block: int) -> Value:
        inner: Any = node.value
        if inner.__class__ is ast.Name:
            return Ref(f"{inner.id}.{node.attr}")
        parts = [node.attr]
        while inner.__class__ is ast.Attribute:
            parts.append(inner.attr)
            inner = inner.value
        if len(parts) > _DEEP:
            self.value(inner, block)
            return UNKNOWN
        if inner.__class__ is ast.Name:
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
        fields = node.__dict__  # faster than attribute access on the node
        func = fields["func"]
        if func.__class__ is ast.Attribute:
            callee = self._dotted(func, block)
            if callee is UNKNOWN:
                callee = Op(".", (UNKNOWN, Const(func.attr)))
        elif func.__class__ is ast.Name:
            callee = Ref(func.id)
        else:
            callee = self.value(func, block)
        args = self.values(fields["args"], block) if fields["args"] else ()
        keywords = self._keywords(fields["keywords"], block) if fields["keywords"] else ()
        if len(args) > 1 and func.__class__ is ast.Name and func.id == "getattr":
            holder, name = args[0], args[1]
            if isinstance(name, Const) and isinstance(name.value, str):
                return self._attribute_of(holder, name, node, block)
        if len(args) == 3 and func.__class__ is ast.Name and func.id == "setattr":
            self._set_attribute(node, args, block)
        line, end = fields["lineno"], fields["end_lineno"]
        if keywords and callee.__class__ is Ref and callee.name.endswith(_CONFIGURING):
            places = tuple([self.span(keyword) for keyword in fields["keywords"]])
            call = Call(callee, args, keywords, block, *self.span(node), places)
        elif line in self.wide or end in self.wide:
            call = Call(callee, args, keywords, block, *self.span(node))
        else:
            column, stop = fields["col_offset"] + 1, fields["end_col_offset"] + 1
            call = Call(callee, args, keywords, block, line, column, end, stop)
        self.calls.append(call)
        return CallResult(len(self.calls) - 1)

    def _attribute_of(self, holder: Value, name: Const, node: ast.Call, block: int) -> Value:
        """What ``getattr(x, "name")`` reads: the attribute, as if it was written as such."""
        if not isinstance(holder, Ref):
            return Op(".", (holder, name))
        self.looked_up = True
        self._mention(f"{holder.name}.{name.value}", node, block)
        return Ref(f"{holder.name}.{name.value}")

    def _set_attribute(self, node: ast.Call, args: tuple[Value, ...], block: int) -> None:
        """Records ``setattr(x, "name", value)`` as an assignment as well; a computed name is written ``*``."""
        holder, name, value = args
        text = self._as_target(holder)
        if text:
            target = f"{text}.{name.value if isinstance(name, Const) else '*'}"
            while isinstance(holder, Op):
                holder = holder.operands[0]
            called = holder if isinstance(holder, CallResult) else UNKNOWN
            self.binds.append(Assignment(target, value, block, *self.span(node), name, called))

    def _as_target(self, value: Value) -> str:
        """An expression as the text of an assignment target; empty if it cannot be one."""
        if isinstance(value, Ref):
            return value.name
        if isinstance(value, CallResult):
            callee = self._as_target(self.calls[value.call].callee)
            return callee and f"{callee}()"
        if not isinstance(value, Op) or value.op not in (".", "[]"):
            return ""
        holder, part = self._as_target(value.operands[0]), value.operands[1]
        if value.op == ".":
            return f"{holder}.{part.value}" if holder and isinstance(part, Const) else ""
        return holder and f"{holder}[{part.value if isinstance(part, Const) else '*'}]"

    def _keywords(self, nodes: list[ast.keyword], block: int) -> tuple[tuple[str, Value], ...]:
        leaf, other = _LEAVES.get, Expressions.value
        keywords = []
        for keyword in nodes:
            node = keyword.value
            keywords.append((keyword.arg or "**", leaf(node.__class__, other)(self, node, block)))
        return tuple(keywords)

    def _subscript(self, node: ast.Subscript, block: int) -> Value:
        leaf, value = _LEAVES.get, Expressions.value
        holder, index = node.value, node.slice
        kind = index.__class__
        read = Op("[]", (leaf(holder.__class__, value)(self, holder, block), leaf(kind, value)(self, index, block)))
        if self._notes and kind in COMPUTED:
            self.noted.append(("mask", read, block, node))
        return read

    def _binary(self, node: ast.BinOp, block: int) -> Value:
        leaf, value = _LEAVES.get, Expressions.value
        left, right = node.left, node.right
        operator = BINARY.get(node.op.__class__, "?")
        operands = (leaf(left.__class__, value)(self, left, block), leaf(right.__class__, value)(self, right, block))
        result = Op(operator, operands)
        if operator == "@":
            self._note("matmul", result, node, block)
        return result

    def _boolean(self, node: ast.BoolOp, block: int) -> Value:
        """The operands after the first are only evaluated where those before let them: of thousands, the nearest are
        recorded with each."""
        operator, kind = ("and", "if") if node.op.__class__ is ast.And else ("or", "else")
        operands = [self.value(node.values[0], block)]
        for part in node.values[1:]:
            test = operands[0] if len(operands) == 1 else Op(operator, tuple(operands[-_BEFORE:]))
            operands.append(self._branch(part, kind, test, block))
        return Op(operator, tuple(operands))

    def _branch(self, node: ast.expr, kind: str, test: Value, block: int) -> Value:
        """The value of an operand that is only evaluated where `test` holds (``if``) or not (``else``): what it calls
        stands in a block of its own, as the branches of a statement do."""
        if node.__class__ in _SIMPLE:
            return self.value(node, block)
        inner = self.new_block(kind, block, node.lineno, test)
        before = self._size()
        value = self.value(node, inner)
        if len(self.blocks) == inner + 1 and self._size() == before:
            self.blocks.pop()
        return value

    def _size(self) -> tuple[int, ...]:
        """How much has been recorded."""
        lists = (self.calls, self.mentions, self.noted, self.deferred, self.binds, self.returns)
        return tuple([len(records) for records in lists])

    def _unary(self, node: ast.UnaryOp, block: int) -> Value:
        value = self.value(node.operand, block)
        operator = node.op.__class__
        if operator is ast.Not:
            return Op("not", (value,))
        if operator is ast.UAdd:
            return value
        if operator is ast.USub:
            if value.__class__ is Const and isinstance(value.value, (int, float)):
                return Const(-value.value)
            return Op("neg", (value,))
        return Op("~", (value,))

    def _compare(self, node: ast.Compare, block: int) -> Value:
        before = len(self.mentions)
        left = self.value(node.left, block)
        rights = [self.value(part, block) for part in node.comparators]
        if len(self.mentions) > before:
            self._mark_compared((node.left, *node.comparators), before)
        if len(rights) > 1:
            return UNKNOWN
        right = rights[0]
        result = Op(_COMPARE[node.ops[0].__class__], (left, right))
        if self._notes and (says_cuda(left) or says_cuda(right)):
            self._note("compare", result, node, block)
        return result

    def _mark_compared(self, nodes: Iterable[ast.expr | None], before: int) -> None:
        """Mark the names among `nodes`, also in displays, of the mentions from number `before` on."""
        parts = [part for node in nodes for part in (node.elts if isinstance(node, _DISPLAYS) else (node,))]
        places = {self.place(part) for part in parts if isinstance(part, ast.Name | ast.Attribute)}
        for number in range(before, len(self.mentions)):
            use = self.mentions[number]
            if (use.line, use.column, use.end_column) in places:
                self.mentions[number] = NameUse(use.name, use.block, use.line, use.column, use.end_column, True)

    def _conditional(self, node: ast.IfExp, block: int) -> Value:
        test = self.value(node.test, block)
        if self._notes and asks_cuda(test, self.calls):
            self._note("choice", test, node.body, block)
        chosen = self._branch(node.body, "if", test, block)
        return Op("if", (test, chosen, self._branch(node.orelse, "else", test, block)))

    def _display(self, node: ast.Tuple | ast.List | ast.Set, block: int) -> Value:
        if len(node.elts) > _WIDE:
            for element in node.elts:
                if type(element) is not ast.Constant:
                    self.value(element, block)
            return UNKNOWN
        return SequenceDisplay(self.values(node.elts, block))

    def _dict(self, node: ast.Dict, block: int) -> Value:
        if len(node.values) > _WIDE:
            for element in node.values:
                if type(element) is not ast.Constant:
                    self.value(element, block)
            return UNKNOWN
        before = len(self.mentions)
        keys = tuple([None if k is None else self.value(k, block) for k in node.keys])
        if len(self.mentions) > before:
            self._mark_compared(node.keys, before)
        return Table(keys, self.values(node.values, block))

    def _join(self, node: ast.JoinedStr, block: int) -> Value:
        return Op("join", self.values(node.values, block))

    def _inner(self, node: ast.FormattedValue | ast.Await, block: int) -> Value:
        return self.value(node.value, block)

    def _starred(self, node: ast.Starred, block: int) -> Value:
        return Op("star", (self.value(node.value, block),))

    def _slice(self, node: ast.Slice, block: int) -> Value:
        bounds: list[Scalar] = []
        for part in (node.lower, node.upper, node.step):
            value = Const(None) if part is None else self.value(part, block)
            if isinstance(value, Const):
                bounds.append(value.value)
        return Unknown(tuple(bounds)) if len(bounds) == 3 and any(bounds) else UNKNOWN

    def _yield(self, node: ast.Yield | ast.YieldFrom, block: int) -> Value:
        if node.value is not None:
            self.returns.append(Return(self.value(node.value, block), block, node.lineno))
        return UNKNOWN

    def _walrus(self, node: ast.NamedExpr, block: int) -> Value:
        value = self.value(node.value, block)
        self.binds.append(Assignment(node.target.id, value, block, *self.span(node)))
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
            names = _names(generator.target)
            self.blocks.append(Block("loop", inner, node.lineno, "", source, names))
            inner = len(self.blocks) - 1
            for condition in generator.ifs:
                self.value(condition, inner)
        if isinstance(node, ast.DictComp):
            self.value(node.key, inner)
            return Op("each", (self.value(node.value, inner),))
        return Op("each", (self.value(node.elt, inner),))


# Unbound methods: building these tables per file would be slow.
_LEAVES: dict[type, Callable[[Expressions, Any, int], Value]] = {
    ast.Constant: Expressions._constant,
    ast.Name: Expressions._name,
    ast.Attribute: Expressions._attribute,
}
_SIMPLE = frozenset((ast.Constant, ast.Name))
_READERS: dict[type, Callable[[Expressions, Any, int], Value]] = {
    ast.Call: Expressions._call,
    ast.Subscript: Expressions._subscript,
    ast.BinOp: Expressions._binary,
    ast.BoolOp: Expressions._boolean,
    ast.UnaryOp: Expressions._unary,
    ast.Compare: Expressions._compare,
    ast.IfExp: Expressions._conditional,
    ast.Tuple: Expressions._display,
    ast.List: Expressions._display,
    ast.Set: Expressions._display,
    ast.Dict: Expressions._dict,
    ast.JoinedStr: Expressions._join,
    ast.FormattedValue: Expressions._inner,
    ast.Starred: Expressions._starred,
    ast.Await: Expressions._inner,
    ast.Lambda: Expressions._lambda,
    ast.ListComp: Expressions._comprehension,
    ast.SetComp: Expressions._comprehension,
    ast.GeneratorExp: Expressions._comprehension,
    ast.DictComp: Expressions._comprehension,
    ast.NamedExpr: Expressions._walrus,
    ast.Slice: Expressions._slice,
    ast.Yield: Expressions._yield,
    ast.YieldFrom: Expressions._yield,
}


def _names(target: ast.expr) -> tuple[str, ...]:
    if isinstance(target, ast.Name):
        return (target.id,)
    return tuple([node.id for node in ast.walk(target) if isinstance(node, ast.Name)])


def _encodable(text: str) -> str:
    """Replace lone surrogates (``"\\ud800"`` is a legal literal), which can be neither cached nor printed."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")
