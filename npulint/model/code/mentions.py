"""The names that a source mentions other than by calling them, and where."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from npulint.facts.code import Code, Ref, Value, names_in
from npulint.model.code.module import Module

_TESTS = frozenset(("isinstance", "issubclass"))


def names_mentioned(code: Code) -> Iterator[tuple[str, int]]:
    """The names in the expressions of a source with their blocks: of what is called only the holder."""
    for block, values in enumerate(values_by_block(code)):
        for reference in names_in(values):
            yield reference.name, block


def values_by_block(code: Code) -> list[list[Value]]:
    """The expressions of a source by their blocks: of what is called only the holder."""
    values: list[list[Value]] = [[] for _ in code.blocks]
    tested = {call.line for call in code.calls if isinstance(call.callee, Ref) and call.callee.name in _TESTS}
    for use in code.name_uses:
        if use.line not in tested:
            values[use.block].append(Ref(use.name))
    for call in code.calls:
        here = values[call.block]
        callee = call.callee.name if isinstance(call.callee, Ref) else ""
        if "." in callee:
            here.append(Ref(callee.rpartition(".")[0]))
        if callee not in _TESTS:
            here += call.args
            here += [value for _, value in call.keywords]
    for bind in code.assignments:
        values[bind.block].append(bind.value)
    for returned in code.returns:
        values[returned.block].append(returned.value)
    for block in code.blocks:
        values[max(block.parent, 0)] += (block.test, *block.defaults, *block.bases)
    return values


def names_used(module: Module) -> Iterator[tuple[str, int]]:
    """The names that a module mentions or calls, with their blocks."""
    yield from names_mentioned(module.code)
    for call in module.code.calls:
        if isinstance(call.callee, Ref):
            yield call.callee.name, call.block


def mentioning_blocks(module: Module) -> dict[str, list[int]]:
    """By the first segment of a name the blocks of a module that mention or call it."""
    blocks: dict[str, list[int]] = defaultdict(list)
    for name, block in names_used(module):
        blocks[name.partition(".")[0]].append(block)
    return blocks
