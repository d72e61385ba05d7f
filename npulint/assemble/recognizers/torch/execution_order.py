"""Whether code runs whenever its module is loaded, and whether two places can run in one pass."""

from __future__ import annotations

from typing import Literal

from npulint.assemble.guards import is_main
from npulint.assemble.module import Module
from npulint.facts.code import Block, CallResult, Const, Op, Value

Placed = Literal["top", "try", "condition", "function"]
_KINDS: dict[str, Placed] = {"try": "try", "except": "try", "function": "function", "lambda": "function"}


def placed(module: Module, block: int) -> Placed:
    """``top`` when it does; else what may keep it from running or from doing harm: ``try``, ``function``,
    ``condition``."""
    around = [module.blocks[b] for b in module.ancestors(block)] if block > 0 else []
    for record in around:
        if record.kind in _KINDS:
            return _KINDS[record.kind]
    return "condition" if any(r.kind in ("if", "else") and not is_main(r.test) for r in around) else "top"


def exclusive(module: Module, one: int, other: int) -> bool:
    """Whether at most one of two blocks runs: branches of one ``if``, or conditions that contradict each other."""
    here, there = _conditions(module, one), _conditions(module, other)
    return any(_contradict(a, b) for a in here for b in there)


def _conditions(module: Module, block: int) -> list[Block]:
    around = [module.blocks[b] for b in module.ancestors(block)] if block > 0 else []
    return [record for record in around if record.kind in ("if", "else")]


def _contradict(one: Block, other: Block) -> bool:
    if one.test == other.test:
        same = (one.line, one.parent) == (other.line, other.parent)
        return one.kind != other.kind and (same or not _calls(one.test))
    if one.kind != "if" or other.kind != "if":
        return False
    first, second = _equals(one.test), _equals(other.test)
    return first is not None and second is not None and first[0] == second[0] and first[1] != second[1]


def _equals(test: Value) -> tuple[Value, object] | None:
    """What a condition compares with which constant, as in ``args.amp == "apex"``."""
    if isinstance(test, Op) and test.op == "==" and isinstance(test.operands[1], Const) and not _calls(test):
        return test.operands[0], test.operands[1].value
    return None


def _calls(value: Value) -> bool:
    """Whether something is called, which may answer otherwise the next time."""
    return isinstance(value, CallResult) or (isinstance(value, Op) and any(_calls(part) for part in value.operands))
