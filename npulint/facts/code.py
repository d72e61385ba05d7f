"""Syntax facts of one Python source: blocks, calls, bindings and imports as plain data.

A reader fills these records once per file; they hold no syntax nodes, so they can be cached and sent
between processes. Names are kept as written ("tf.nn.top_k"); `npulint.model` gives them meaning.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

Scalar = str | int | float | bool | None


class Const(msgspec.Struct, frozen=True, array_like=True, tag="c", gc=False):
    """A literal. Byte strings are decoded; `binary` marks them."""

    value: Scalar
    binary: bool = False


class Ref(msgspec.Struct, frozen=True, array_like=True, tag="r", gc=False):
    """A dotted name as written, for instance ``FLAGS.batch_size`` or ``self.sess``."""

    name: str


class CallResult(msgspec.Struct, frozen=True, array_like=True, tag="k", gc=False):
    """The result of a call; `call` is its index in `Code.calls`."""

    call: int


class SequenceDisplay(msgspec.Struct, frozen=True, array_like=True, tag="s"):
    """A list, tuple or set display."""

    items: tuple[Value, ...]


class Table(msgspec.Struct, frozen=True, array_like=True, tag="d"):
    """A dict display; a ``**other`` entry has the key ``None``. `keyword_spans` are the spans of the values, recorded
    for assigned displays only."""

    keys: tuple[Value | None, ...]
    values: tuple[Value, ...]
    places: tuple[tuple[int, int, int, int], ...] = ()


class Op(msgspec.Struct, frozen=True, array_like=True, tag="o"):
    """An operation on values: ``+ - * / // % ** @ & | ^ ~ << >>``, ``and or not``, comparisons, ``if`` (a conditional
    expression: test, then, else), ``join`` (an f-string), ``[]`` (subscript: object, index),
    ``.`` (attribute of a value that has no name: object, attribute name), ``+=`` (an augmented assignment: value, and
    the operator unless it is ``+``)."""

    op: str
    operands: tuple[Value, ...]


class Function(msgspec.Struct, frozen=True, array_like=True, tag="f", gc=False):
    """A function value; `block` is the index of its body in `Code.blocks`."""

    block: int


class Unknown(msgspec.Struct, frozen=True, array_like=True, tag="u", gc=False):
    """An expression that the reader does not model. A slice with literal bounds has these: lower, upper and step."""

    bounds: tuple[Scalar, ...] = ()


Value = Const | Ref | CallResult | SequenceDisplay | Table | Op | Function | Unknown
UNKNOWN = Unknown()


class Block(msgspec.Struct, frozen=True, array_like=True):
    """A region of code. Kinds: module, function, lambda, class, if, else, loop, with, try, except; global and nonlocal
    hold the assignments to names declared so (they belong to another scope).

    `name` is the qualified name of a function or class. `test` is the condition of an if/else/while block, the iterated
    value of a for loop, the context value of a with block, or the exceptions that an except block catches. `params` are
    parameter names in order; `defaults` belong to the last of them; `decorators` are as written; `bases` are those of a
    class."""

    kind: str
    parent: int
    line: int
    name: str = ""
    test: Value = UNKNOWN
    params: tuple[str, ...] = ()
    defaults: tuple[Value, ...] = ()
    decorators: tuple[Value, ...] = ()
    bases: tuple[Value, ...] = ()
    end_line: int = 0


class Call(msgspec.Struct, frozen=True, array_like=True):
    """A call. `callee` is a `Ref` for a dotted name, ``Op(".", (CallResult, Const))`` for a method on a result. Lines
    and columns (in characters) count from 1; the end column is exclusive. `keyword_spans`: the spans of the keywords of
    classes and functions that configure something (``…Config``), each of which is a setting by itself;
    `argument_spans`: the spans of all argument values, recorded for calls of several lines only."""

    callee: Value
    args: tuple[Value, ...]
    keywords: tuple[tuple[str, Value], ...]
    block: int
    line: int
    column: int
    end_line: int
    end_column: int
    keyword_spans: tuple[tuple[int, int, int, int], ...] = ()
    argument_spans: tuple[tuple[int, int, int, int], ...] = ()


class Assignment(msgspec.Struct, frozen=True, array_like=True):
    """An assignment. `target` is a dotted name as written; subscripts with a literal key are written ``[key]``
    (``op.parameter_map[precision_mode].s``), other subscripts ``[*]``. `key` is its last computed key
    (``x[x > 1] = 0``, ``op.parameter_map[name].s = b"…"``). ``setattr(x, "name", value)`` assigns as well; the `key` is
    then the name, and a computed one is written ``x.*``. `called` is the result of the last call in the target
    (``optimizers.add().name = "…"``, as written ``optimizers.add().name``)."""

    target: str
    value: Value
    block: int
    line: int
    column: int
    end_line: int
    end_column: int
    key: Value = UNKNOWN
    called: Value = UNKNOWN


class Import(msgspec.Struct, frozen=True, array_like=True):
    """``import module as alias`` (`name` is empty) or ``from module import name as alias`` (`name` may
    be ``*``); `level` counts the leading dots."""

    module: str
    name: str
    alias: str
    level: int
    block: int
    line: int
    column: int
    end_column: int


class NameUse(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A dotted name that is used, but neither called nor assigned. `compared`: something is compared with it, or looked
    up among it and others, such as the keys of a dict."""

    name: str
    block: int
    line: int
    column: int
    end_column: int
    compared: bool = False


class TorchExpression(msgspec.Struct, frozen=True, array_like=True):
    """An expression that only PyTorch checks query; recorded in files that use PyTorch. Kinds: compare (with a text or
    name that contains CUDA, GPU or NCCL), attribute (of an object that was not imported: ``x.is_cuda``), mask (a
    subscript that is read and whose index is computed), matmul (``a @ b``), choice (the result of a conditional
    expression whose test, `value`, tests for CUDA), assert (the test of an assertion, if it tests for CUDA)."""

    kind: str
    value: Value
    block: int
    line: int
    column: int
    end_line: int
    end_column: int


class Return(msgspec.Struct, frozen=True, array_like=True):
    """A ``return`` (or ``yield``) with its value."""

    value: Value
    block: int
    line: int


class Exit(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A statement after which the rest of its block does not run: ``return``, ``raise``, ``break`` or ``continue``.
    `line` is the last one of the statement."""

    kind: str
    block: int
    line: int


class Code(msgspec.Struct, frozen=True, array_like=True, dict=True):
    """All syntax facts of one source; block 0 is the module itself. `devices`: the text mentions CUDA or NPU; `light`:
    function bodies were skipped because the source names no framework; `npu`: the code names the NPU or HCCL."""

    blocks: list[Block] = []
    calls: list[Call] = []
    assignments: list[Assignment] = []
    imports: list[Import] = []
    name_uses: list[NameUse] = []
    returns: list[Return] = []
    torch_expressions: list[TorchExpression] = []
    devices: bool = True
    light: bool = False
    exits: list[Exit] = []
    npu: bool = False


# Parts of a call that its syntax alone determines.


def receiver_of(call: Call) -> Value | None:
    """The object that a method is called on; None for a plain function."""
    if isinstance(call.callee, Op) and call.callee.op == ".":
        return call.callee.operands[0]
    if isinstance(call.callee, Ref) and "." in call.callee.name:
        return Ref(call.callee.name.rpartition(".")[0])
    return None


def argument(call: Call, name: str, position: int) -> Value | None:
    """What a call passes for a parameter by keyword or position; None when it is not passed or starred."""
    for key, value in call.keywords:
        if key == name:
            return value
    if 0 <= position < len(call.args):
        before = call.args[: position + 1]
        if not any(isinstance(a, Op) and a.op == "star" for a in before):
            return call.args[position]
    return None


# Walks over values: the subexpressions of a value, and all expressions of a source.

_COMPOSED = frozenset((Op, SequenceDisplay, Table))


def parts_of(value: Value) -> tuple[Value, ...]:
    """What a value is made of, from left to right: operands, elements, keys and values of displays."""
    if isinstance(value, Op):
        return value.operands
    if isinstance(value, SequenceDisplay):
        return value.items
    if isinstance(value, Table):
        return (*[key for key in value.keys if key is not None], *value.values)
    return ()


def nested(value: Value) -> Iterator[Value]:
    """A value and, depth first from left to right, all its subexpressions (operands, elements, keys and values of
    displays). Arguments of calls are not included: they belong to the calls."""
    queue: list[Value] = [value]
    while queue:
        part = queue.pop()
        yield part
        if part.__class__ in _COMPOSED:
            queue += parts_of(part)[::-1]


def written_operations(code: Code) -> Iterator[tuple[Op, int, int]]:
    """(operation, block, line) of every operation in `written_values`, in that order. Most values are names, literals
    and results of calls, which are skipped at once."""
    for call in code.calls:
        values = [call.callee, *call.args]
        if call.keywords:
            values += [value for _, value in call.keywords]
        for value in values:
            if value.__class__ in _COMPOSED:
                for part in nested(value):
                    if part.__class__ is Op:
                        yield part, call.block, call.line
    for value, block, line in _outside_calls(code):
        if value.__class__ in _COMPOSED:
            for part in nested(value):
                if part.__class__ is Op:
                    yield part, block, line


def names_in(values: Iterable[Value]) -> list[Ref]:
    """The names in some values and their subexpressions (see `nested`), in no order, at the cost of one list."""
    references: list[Ref] = []
    queue = list(values)
    for part in queue:
        kind = type(part)
        if kind is Ref:
            references.append(part)  # type: ignore[arg-type]
        elif kind in _COMPOSED:
            queue += parts_of(part)
    return references


def written_values(code: Code) -> Iterator[tuple[Value, int, int]]:
    """(expression, block, line) of every call, assignment, return, condition, default, decorator and base class."""
    for call in code.calls:
        for value in (call.callee, *call.args, *(value for _, value in call.keywords)):
            yield value, call.block, call.line
    yield from _outside_calls(code)


def _outside_calls(code: Code) -> Iterator[tuple[Value, int, int]]:
    for assignment in code.assignments:
        yield assignment.value, assignment.block, assignment.line
        yield assignment.key, assignment.block, assignment.line
    for returned in code.returns:
        yield returned.value, returned.block, returned.line
    for block in code.blocks:
        for value in (block.test, *block.defaults, *block.decorators, *block.bases):
            yield value, max(block.parent, 0), block.line
