"""Walks over values: the subexpressions of a value, and all expressions of a source."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from npulint.facts.code import Code, Op, Ref, SequenceDisplay, Table, Value

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
