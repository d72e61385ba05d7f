"""Environment variables that code reads by ``os.environ[...]``, or looks for with ``in os.environ``."""

from __future__ import annotations

from collections.abc import Iterator

from npulint.assemble.context import Context
from npulint.assemble.module import Module
from npulint.facts.code import Const, Op, Ref, SequenceDisplay, Table, Value
from npulint.facts.model import Fact, Span

_DEEPEST = 12


def facts_for_module(context: Context, module: Module) -> list[Fact]:
    """An ``environment_read`` fact for each variable that a module reads so."""
    if not any(mention.name.endswith("environ") for mention in module.code.name_uses):
        return []
    found = []
    for value, block, line in _values(module):
        for holder, key in _lookups(value, 0):
            if context.names.of_name(module, holder, block, line) == "os.environ":
                around = context.around(module, block)
                found.append(Fact("environment_read", key, module.path, Span(line, 1, line, 1), {}, None, around))
    return found


def _values(module: Module) -> Iterator[tuple[Value, int, int]]:
    """Every written value of a module, with its block and line."""
    for call in module.code.calls:
        for value in (call.callee, *call.args, *(given for _, given in call.keywords)):
            yield value, call.block, call.line
    for bind in module.code.assignments:
        yield bind.value, bind.block, bind.line
    for returned in module.code.returns:
        yield returned.value, returned.block, returned.line
    for block in module.blocks:
        for value in (block.test, *block.defaults):
            yield value, max(block.parent, 0), block.line


def _lookups(value: Value | None, depth: int) -> Iterator[tuple[str, str]]:
    """The names that are looked up in something, with that something."""
    if depth > _DEEPEST:
        return
    if isinstance(value, Op):
        if len(value.operands) == 2 and value.op in ("[]", "in", "not in"):
            first, second = value.operands if value.op == "[]" else value.operands[::-1]
            if isinstance(first, Ref) and isinstance(second, Const) and isinstance(second.value, str):
                yield first.name, second.value
        inner: tuple[Value | None, ...] = value.operands
    elif isinstance(value, SequenceDisplay):
        inner = value.items
    elif isinstance(value, Table):
        inner = (*value.keys, *value.values)
    else:
        return
    for part in inner:
        yield from _lookups(part, depth + 1)
