"""Walks over values: the subexpressions of a value, and all expressions of a source."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from npulint.facts.code import CallResult, Code, Const, Op, Ref, SequenceDisplay, Table, Value


def nested(value: Value) -> Iterator[Value]:
    """A value and, depth first from left to right, all its subexpressions (operands, elements, keys and values of
    displays). Arguments of calls are not included: they belong to the calls."""
    queue: list[Value] = [value]
    while queue:
        part = queue.pop()
        yield part
        if isinstance(part, Op):
            queue += part.operands[::-1]
        elif isinstance(part, SequenceDisplay):
            queue += part.items[::-1]
        elif isinstance(part, Table):
            queue += part.values[::-1]
            queue += [key for key in part.keys[::-1] if key is not None]


def names_in(values: Iterable[Value]) -> list[Ref]:
    """The names in some values and their subexpressions (see `nested`), in no order, at the cost of one list."""
    found: list[Ref] = []
    queue = list(values)
    for part in queue:
        kind = type(part)
        if kind is Ref:
            found.append(part)  # type: ignore[arg-type]
        elif kind is Const or kind is CallResult:  # most others
            continue
        elif isinstance(part, Op):
            queue += part.operands
        elif isinstance(part, SequenceDisplay):
            queue += part.items
        elif isinstance(part, Table):
            queue += part.values
            queue += [key for key in part.keys if key is not None]
    return found


def written_values(code: Code) -> Iterator[tuple[Value, int, int]]:
    """(expression, block, line) of every call, assignment, return, condition, default, decorator and base class."""
    for call in code.calls:
        for value in (call.callee, *call.args, *(value for _, value in call.keywords)):
            yield value, call.block, call.line
    for assignment in code.assignments:
        yield assignment.value, assignment.block, assignment.line
        yield assignment.key, assignment.block, assignment.line
    for returned in code.returns:
        yield returned.value, returned.block, returned.line
    for block in code.blocks:
        for value in (block.test, *block.defaults, *block.decorators, *block.bases):
            yield value, max(block.parent, 0), block.line
