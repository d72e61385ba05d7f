"""What stands in a block of code and in the blocks inside it: calls, assignments, blocks. The cost of an answer is that
of what stands there, however long the file is."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable

from npulint.facts.code import Exit
from npulint.model.code.module import Module
from npulint.model.values.cursors import AssignmentSite, CallSite, Scope, assignment_at

_Numbers = dict[int, list[int]]
"""Numbers of calls, assignments or blocks by the block that they stand in."""


def calls_inside(block: Scope) -> list[CallSite]:
    """The calls in a block and in those inside it, in text order."""
    return [block.call(index) for index in _inside(block, _calls_by_block)]


def assignments_inside(block: Scope) -> list[AssignmentSite]:
    """The assignments in a block and in those inside it, in text order."""
    code = block.module.code
    records = (code.assignments[index] for index in _inside(block, _assignments_by_block))
    return [assignment_at(block.context, block.module, record) for record in records]


def exits_inside(block: Scope) -> list[Exit]:
    """The statements in a block, and in those inside it, that leave a function or a loop; in text order."""
    exits = block.module.code.exits
    return [exits[index] for index in _inside(block, _exits_by_block)]


def blocks_inside(block: Scope) -> list[Scope]:
    """A block and those inside it, in text order."""
    return [block.at(number) for number in _blocks(block)]


def _blocks(block: Scope) -> list[int]:
    inner = block.module.derive(_blocks_by_parent)
    blocks, waiting = [], [block.block]
    while waiting:
        number = waiting.pop()
        blocks.append(number)
        waiting += inner.get(number, ())
    return sorted(blocks)


def _inside(block: Scope, by_block: Callable[[Module], _Numbers]) -> list[int]:
    """The numbers of what stands in a block and in those inside it."""
    numbers = block.module.derive(by_block)
    return sorted(index for number in _blocks(block) for index in numbers.get(number, ()))


def _calls_by_block(module: Module) -> _Numbers:
    return _numbered(call.block for call in module.code.calls)


def _assignments_by_block(module: Module) -> _Numbers:
    return _numbered(assignment.block for assignment in module.code.assignments)


def _exits_by_block(module: Module) -> _Numbers:
    return _numbered(exit_record.block for exit_record in module.code.exits)


def _blocks_by_parent(module: Module) -> _Numbers:
    return _numbered(block.parent for block in module.blocks)


def _numbered(blocks: Iterable[int]) -> _Numbers:
    numbered: _Numbers = defaultdict(list)
    for number, block in enumerate(blocks):
        numbered[block].append(number)
    return numbered
