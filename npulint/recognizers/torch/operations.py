"""Tensor operations in one form, whether written as operator, function, method or module, and tracing from a value back
to the operation that computed it, within one function."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from npulint.facts.code import Op, Ref
from npulint.model.code.module import bound_before
from npulint.model.values.cursors import CallSite, Expr, Scope

_BUDGET = 160  # maximum values per trace, which could grow exponentially with branches
_HOPS = 40  # maximum steps from a value to what it reshapes
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
"""Operations that do not change the elements."""
CASTS = frozenset("to type type_as float half bfloat16 contiguous clone identity".split())


class Operation(msgspec.Struct, frozen=True):
    """An operation: its name without a trailing underscore (``masked_fill``; ``own:f`` for a project function,
    ``self:f`` for a module of unknown kind), its inputs, and its call (None: an operator)."""

    op: str
    inputs: list[Expr]
    call: CallSite | None = None

    def argument(self, name: str, position: int) -> Expr | None:
        """The argument of a call for a parameter; `position` counts the tensor that a method is called on."""
        if self.call is None:
            return None
        positional = len(self.call.record.args)
        shift = len(self.inputs) - positional if positional or self.inputs else 0
        return self.call.argument(name, position - shift if position >= shift else -1)


class Trace(msgspec.Struct, frozen=True):
    """The result of tracing a value back: the operation found, the value that it is, and the operations and local names
    on the way."""

    operation: Operation
    at: Expr
    passed: tuple[str, ...]
    names: tuple[str, ...]

    @property
    def call(self) -> CallSite | None:
        """The call of the operation found; None for an operator."""
        return self.operation.call

    @property
    def input(self) -> Expr | None:
        """The first input of the operation found."""
        return self.operation.inputs[0] if self.operation.inputs else None


def operation(value: Expr) -> Operation | None:
    """The operation of an expression; None for names and literals."""
    call = value.call
    if call is not None:
        return _of_call(call, value)
    operator = value.operator
    if operator == ".":
        holder, name = value.operands()
        return Operation(name.text, [holder])
    if operator:
        return Operation(_OPERATORS.get(operator, operator), value.operands())
    if value.written.endswith((".T", ".mT")):
        head, _, last = value.written.rpartition(".")
        return Operation(last, [value.sibling(Ref(head))])
    return None


def call_operation(call: CallSite) -> Operation:
    """The operation of a call."""
    return _of_call(call, call.result)


def _of_call(call: CallSite, place: Expr) -> Operation:
    """The operation of a call, with inputs evaluated at `place`."""
    name, args = call.name, [place.sibling(value) for value in call.record.args]
    inputs = args or [place.sibling(value) for key, value in call.record.keywords if key in _FIRST]
    if name.endswith("()"):
        kind = _of_object(name[:-2])
        if kind:
            return Operation(kind, inputs, call)
    last = call.last.rstrip("_") or call.last
    receiver = call.receiver
    if not call.written:
        op = _SAME.get(last, last)
        return Operation("?", inputs, call) if receiver is None else Operation(op, [_at(receiver, place), *args], call)
    if _is_function(name):
        last = name.rpartition(".")[2].rstrip("_")
        return Operation(_SAME.get(last, last), inputs, call)
    head = call.written.rpartition(".")[0]
    if head in _SPACES:
        return Operation(_SAME.get(last, last), inputs, call)
    if receiver is None:
        return Operation(f"own:{last}", inputs, call)
    if head == "self" or call.module.owner_of_self(head, call.scope.block) >= 0:
        return Operation("dropout" if "drop" in last else f"self:{last}", inputs, call)
    return Operation(_SAME.get(last, last), [_at(receiver, place), *args], call)


def _at(value: Expr, place: Expr) -> Expr:
    return place.sibling(value.value)


def _of_object(maker: str) -> str:
    """The operation performed by calling an object, according to its constructor; empty if unknown."""
    last = maker.rpartition(".")[2]
    if maker.startswith("torch.") and last in _MODULES:
        return _MODULES[last]
    if "Dropout" in last or "DropPath" in last:
        return "dropout"
    return "linear" if last.endswith("Linear") or maker.rpartition(":")[2].endswith("Linear") else ""


def _is_function(name: str) -> bool:
    return name.startswith("torch.") and "()" not in name and "[]" not in name


def assigned_before(name: str, at: Expr) -> list[Expr]:
    """The possible values of a local name at an expression, nearest first; empty for parameters and outer names.
    ``x += y`` counts as the operation ``update`` on x and y."""
    module, block, line = at.module, at.scope.block, at.line
    earlier = bound_before(module.names.get(module.scope[block], {}).get(name, []), line)
    exprs = []
    for assignment in module.reaching(earlier, block, line) if earlier else ():
        value = assignment.value
        if isinstance(value, Op) and value.op == "+=":
            value = Op("update", (Ref(name), *value.operands[:1]))
        exprs.append(at.scope.at(assignment.block).expr(value, assignment.line))
    return exprs


def trace(value: Expr, passes: dict[str, str], goal: frozenset[str]) -> Trace | None:
    """Traces a value back to the nearest operation of `goal`, through operations of `passes` only, which map an
    operation to the inputs to follow: first, all or tail (all but the first)."""
    stack: list[tuple[Expr, tuple[str, ...], tuple[str, ...]]] = [(value, (), ())]
    for _ in range(_BUDGET):
        if not stack:
            return None
        at, passed, names = stack.pop()
        made = operation(at)
        if made is None:
            if at.written:
                before = assigned_before(at.written, at)
                stack += [(expr, passed, (*names, at.written)) for expr in reversed(before)]
            continue
        if made.op in goal:
            return Trace(made, at, passed, names)
        which = passes.get(made.op)
        if which is not None:
            inputs = made.inputs[:1] if which == "first" else made.inputs[which == "tail" :]
            stack += [(expr, (*passed, made.op), names) for expr in reversed(inputs)]
    return None


def origin(value: Expr, through: frozenset[str] = CASTS) -> Expr:
    """The name or operation behind a value, skipping the operations `through`."""
    for _ in range(_HOPS):
        made = operation(value)
        if made is None:
            exprs = assigned_before(value.written, value) if value.written else []
            if len(exprs) != 1 or (operation(exprs[0]) is None and not exprs[0].written):
                return value
            value = exprs[0]
        elif made.op in through and made.inputs:
            value = made.inputs[0]
        else:
            return value
    return value


def made_by(value: Expr) -> Operation | None:
    """The operation that computes a value, skipping copies and local names."""
    return operation(origin(value))


def is_same(first: Expr, second: Expr) -> bool:
    """Whether two values are certainly the same tensor, except for the dtype."""
    expr, other = origin(first), origin(second)
    if expr.value != other.value or expr.is_literal:
        return False
    return not expr.written or assigned_before(expr.written, expr) == assigned_before(expr.written, other)


def values_in(function: Scope) -> Iterator[Expr]:
    """Every value in a function, or at module level, without nested functions."""
    for local_assignment in function.local_assignments:
        yield local_assignment.value
    yield from function.returns
    for call in function.calls:
        for part in (*call.arguments, call.callee):
            if part.operator or part.is_display:
                yield part


def operations(function: Scope, op: str) -> Iterator[tuple[Operation, Expr]]:
    """The operations of one name in a function, operators and calls, with their expressions."""
    for root in values_in(function):
        for part in root.nested:
            operator = part.operator
            made = operation(part) if operator and _OPERATORS.get(operator, op) == op else None
            if made is not None and made.op == op:
                yield made, part
    for call in function.calls:
        called = call_operation(call)
        if called.op == op:
            yield called, call.result


def operations_of_calls(function: Scope) -> Iterator[Operation]:
    """The operations of the calls in a function."""
    return (call_operation(call) for call in function.calls)


def number(value: Expr | None) -> float | None:
    """A numeric literal."""
    literal = None if value is None else value.literal
    return float(literal) if isinstance(literal, int | float) and not isinstance(literal, bool) else None
