"""Operations on tensors in one form, whether written as operator, function, method or module, and the way back
from a value to the operation that made it, within one function."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

from npulint.assemble.context import Context
from npulint.assemble.flow import argument
from npulint.assemble.module import Module
from npulint.facts.code import Assignment, CallResult, Const, Op, Ref, SequenceDisplay, Value

_BUDGET = 160  # values looked at on one way back; a function with many branches would make it explode
_HOPS = 40  # steps from a value to the names or the operation that it only reshapes
_SPACES = ("torch", "F", "nn", "functional", "th")
# Modules whose call is an operation on its argument.
_MODULES = {
    "Softmax": "softmax",
    "SiLU": "silu",
    "GELU": "gelu",
    "Sigmoid": "sigmoid",
    "Softplus": "softplus",
    "Tanh": "tanh",
    "ReLU6": "relu6",
    "GroupNorm": "group_norm",
    "LayerNorm": "layer_norm",
    "Linear": "linear",
    "Identity": "identity",
}
_OPERATORS = {"+": "add", "-": "sub", "*": "mul", "/": "div", "@": "matmul", "**": "pow"}
_SAME = {"multiply": "mul", "divide": "div", "true_divide": "div", "subtract": "sub", "swish": "silu"}
_FIRST = ("input", "x", "self", "query")

RESHAPES = frozenset(
    "to type type_as float half bfloat16 contiguous view reshape view_as expand expand_as flatten clone transpose "
    "permute swapaxes movedim identity reshape_as unflatten T mT [] as_tensor".split()
)
"""Operations that leave the numbers as they are."""
CASTS = frozenset("to type type_as float half bfloat16 contiguous clone identity".split())


class Node(NamedTuple):
    """An operation: its name without a trailing underscore (``masked_fill``; ``own:f`` for a function of the project,
    ``self:f`` for a module of unknown kind), the values that go in, and its call (-1: an operator)."""

    op: str
    inputs: tuple[Value, ...]
    call: int = -1


class At(NamedTuple):
    """A value and where it stands."""

    value: Value
    block: int
    line: int


class Way(NamedTuple):
    """A way back: the operation found, where, and the operations and local names passed."""

    node: Node
    at: At
    passed: tuple[str, ...]
    names: tuple[str, ...]


class Operations:
    """The tensor operations of one module."""

    def __init__(self, context: Context, module: Module) -> None:
        self.context = context
        self.module = module
        self._set: dict[int, list[Assignment]] | None = None  # function -> its assignments

    def node(self, value: Value) -> Node | None:
        """The operation that an expression is; None for names and literals."""
        if isinstance(value, CallResult):
            return self.of_call(value.call)
        if isinstance(value, Op):
            if value.op == ".":
                return Node(str(value.operands[1].value), value.operands[:1])  # type: ignore[union-attr]
            return Node(_OPERATORS.get(value.op, value.op), value.operands)
        if isinstance(value, Ref) and value.name.endswith((".T", ".mT")):
            head, _, last = value.name.rpartition(".")
            return Node(last, (Ref(head),))
        return None

    def of_call(self, index: int) -> Node:
        """The operation that a call is."""
        call = self.module.code.calls[index]
        name = self.context.names.of_call(self.module, index)
        inputs = call.args or tuple(value for key, value in call.keywords if key in _FIRST)
        if name.endswith("()"):
            last = name[:-2].rpartition(".")[2]
            if name.startswith("torch.") and last in _MODULES:
                return Node(_MODULES[last], inputs, index)
            if "Dropout" in last or "DropPath" in last:
                return Node("dropout", inputs, index)
            if last.endswith("Linear") or name[:-2].rpartition(":")[2].endswith("Linear"):
                return Node("linear", inputs, index)
        last = self.module.callee_name(index).rstrip("_") or self.module.callee_name(index)
        callee = call.callee
        if isinstance(callee, Ref):
            head = callee.name.rpartition(".")[0]
            if _is_function(name) or head in _SPACES:
                last = name.rpartition(".")[2].rstrip("_") if _is_function(name) else last
                return Node(_SAME.get(last, last), inputs, index)
            if not head:
                return Node(f"own:{last}", inputs, index)
            if head == "self" or self.module.owner_of_self(head, call.block) >= 0:
                return Node("dropout" if "drop" in last else f"self:{last}", inputs, index)
            return Node(_SAME.get(last, last), (Ref(head), *call.args), index)
        if isinstance(callee, Op) and callee.op == ".":
            return Node(_SAME.get(last, last), (callee.operands[0], *call.args), index)
        return Node("?", inputs, index)

    def argument(self, node: Node, name: str, position: int) -> Value | None:
        """What a call passes for a parameter; `position` counts the tensor that a method is called on."""
        if node.call < 0:
            return None
        call = self.module.code.calls[node.call]
        shift = len(node.inputs) - len(call.args) if call.args or node.inputs else 0
        return argument(call, name, position - shift if position >= shift else -1)

    def before(self, name: str, block: int, line: int) -> list[At]:
        """The values that a local name may hold, the nearest first; empty for parameters and outer names.
        ``x += y`` counts as the operation ``update`` on x and y."""
        scope = self.module.scope[block]
        binds = self.module.names.get(scope, {}).get(name, ())
        known = [b for b in binds if b.line < line]
        if not known:
            return []
        found = []
        for bind in self.module.reaching(known, block, line):
            value = bind.value
            if isinstance(value, Op) and value.op == "+=":
                value = Op("update", (Ref(name), *value.operands))
            found.append(At(value, bind.block, bind.line))
        return found

    def back(self, at: At, passes: dict[str, str], goal: frozenset[str]) -> Way | None:
        """The nearest operation of `goal` that leads to a value through operations of `passes` only. These
        map an operation to the inputs that may be followed: first, all or tail (all but the first)."""
        stack: list[tuple[At, tuple[str, ...], tuple[str, ...]]] = [(at, (), ())]
        for _ in range(_BUDGET):
            if not stack:
                return None
            (value, block, line), passed, names = stack.pop()
            node = self.node(value)
            if node is None:
                if isinstance(value, Ref):
                    found = self.before(value.name, block, line)
                    stack += [(known, passed, (*names, value.name)) for known in reversed(found)]
                continue
            if node.op in goal:
                return Way(node, At(value, block, line), passed, names)
            which = passes.get(node.op)
            if which is not None:
                inputs = node.inputs[:1] if which == "first" else node.inputs[which == "tail" :]
                here = self._line(node, line)
                stack += [(At(v, block, here), (*passed, node.op), names) for v in reversed(inputs)]
        return None

    def _line(self, node: Node, line: int) -> int:
        return self.module.code.calls[node.call].line if node.call >= 0 else line

    def origin(self, at: At, through: frozenset[str] = CASTS) -> At:
        """What a value is before the operations `through`: the name or operation behind plain copies."""
        for _ in range(_HOPS):
            node = self.node(at.value)
            if node is None:
                known = self.before(at.value.name, at.block, at.line) if isinstance(at.value, Ref) else []
                if len(known) != 1 or (self.node(known[0].value) is None and not isinstance(known[0].value, Ref)):
                    return at
                at = known[0]
            elif node.op in through and node.inputs:
                at = At(node.inputs[0], at.block, at.line)
            else:
                return at
        return at

    def same(self, first: At, second: At) -> bool:
        """Whether two values are certainly the same tensor, but for its dtype."""
        one, other = self.origin(first), self.origin(second)
        if one.value != other.value or isinstance(one.value, Const):
            return False
        if not isinstance(one.value, Ref):
            return True
        name = one.value.name
        return self.before(name, one.block, one.line) == self.before(name, other.block, other.line)

    def roots(self, function: int) -> Iterator[At]:
        """Every value that stands in a function (-1: in none) and in no function within it."""
        home = self.module.function_of
        if self._set is None:
            self._set = defaultdict(list)
            for bind in self.module.code.assignments:
                self._set[home(bind.block)].append(bind)
        for bind in self._set.get(function, ()):
            yield At(bind.value, bind.block, bind.line)
        for returned in self.module.returns.get(function, ()):
            yield At(returned.value, returned.block, returned.line + 1)
        for index in self.module.calls_in.get(function, ()):
            call = self.module.code.calls[index]
            for part in (*call.args, *(v for _, v in call.keywords), call.callee):
                if isinstance(part, Op | SequenceDisplay):
                    yield At(part, call.block, call.line)

    def operators(self, function: int, op: str) -> Iterator[tuple[Node, At]]:
        """The operations of one name in a function, operators and calls."""
        for root in self.roots(function):
            stack = [root.value]
            while stack:
                value = stack.pop()
                if isinstance(value, Op):
                    node = self.node(value)
                    if node is not None and node.op == op:
                        yield node, At(value, root.block, root.line)
                    stack += value.operands
                elif isinstance(value, SequenceDisplay):
                    stack += value.items
        for index in self.module.calls_in.get(function, ()):
            node = self.of_call(index)
            if node.op == op:
                call = self.module.code.calls[index]
                yield node, At(CallResult(index), call.block, call.line)


def facts_for_module(context: Context, module: Module) -> Operations:
    """The operations of a module, made once."""
    return context.memoize(("operations", module.path), lambda: Operations(context, module))


def number(value: Value | None) -> float | None:
    """A numeric literal."""
    if isinstance(value, Const) and isinstance(value.value, int | float) and not isinstance(value.value, bool):
        return float(value.value)
    return None


def _is_function(name: str) -> bool:
    return name.startswith("torch.") and "()" not in name and "[]" not in name
