"""Whether a data set is repeated without end before a stage, so that no batch is ever incomplete: on every way to the
stage, or on those of one condition."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from npulint.facts.code import Const, Op, Ref, Value
from npulint.model.values.cursors import AssignmentSite, CallSite, Expr, Scope
from npulint.model.values.walker import walker

_KEEPING = frozenset(
    """map filter shuffle prefetch cache interleave flat_map parallel_interleave shard skip batch padded_batch unbatch
    enumerate window with_options concatenate map_and_batch map_with_legacy_function ignore_errors
    batch_and_drop_remainder prefetch_to_device copy_to_device assert_cardinality""".split()
)
"""The stages that give a data set without end if they get one."""
_COUNTS = {"repeat": 0, "shuffle_and_repeat": 1}
_COMPARING = frozenset(("==", "!=", "is", "is not", "in", "not in"))
_JOINING = frozenset(("and", "or"))

Endless = Expr | Literal["yes", "no"]
"""Whether a data set is endless; a condition: it is so where this holds, and the same otherwise but for that."""


def endless(stage: CallSite) -> Endless:
    """Whether the data set that a stage gets is surely repeated without end, or on which condition."""
    receiver = stage.receiver
    return "no" if receiver is None else _of_value(receiver)


def condition_at(stage: CallSite, condition: Expr) -> str:
    """The code that says at the place of a stage what a condition said before it, as a boolean; empty if the names in
    it may have other values there."""
    here = stage.scope
    if here.function is not condition.scope.function or not _is_code(condition.value):
        return ""
    for name in _names(condition.value):
        before, now = condition.scope.named(name, condition.line), here.named(name, stage.line)
        if [assignment.record for assignment in before.assignments] != [
            assignment.record for assignment in now.assignments
        ]:
            return ""
    code = _code(condition.value)
    return code if _is_boolean(condition) else f"bool({code})"


@walker(depth=24, otherwise=lambda: "no")
def _of_value(data: Expr) -> Endless:
    if data.call is not None:
        return _of_call(data.call)
    ways = _ways(data) if data.written and data.passed_to is None else []
    if len(ways) == 1:
        return _of_value(ways[0].value)
    if ways and all(_of_value(way.value) == "yes" for way in ways):
        return "yes"
    return _of_two(*ways) if len(ways) == 2 else "no"


def _of_call(made: CallSite) -> Endless:
    """Whether what a stage gives is endless."""
    last = made.name.rpartition(".")[2]
    applied = made.args[0].call if last == "apply" and made.record.args else None
    if applied is not None:
        made, last, before = applied, applied.name.rpartition(".")[2], made.receiver
    else:
        before = made.receiver
    if last in _COUNTS and made.argument("count", _COUNTS[last]) is None and not made.has_unknown_options:
        return "yes"
    return _of_value(before) if before is not None and last in (_KEEPING | _COUNTS.keys()) else "no"


def _ways(data: Expr) -> list[AssignmentSite]:
    """The assignments that may give a name its value, without those that a later one of the same block replaces, or
    both of an ``if`` and its ``else``."""
    ways = data.assignments
    last: dict[Scope, int] = {}
    for way in ways:
        if way.line < data.line:
            last[way.scope] = max(way.line, last.get(way.scope, 0))
    kept = [
        assignment for assignment in ways if assignment.line >= data.line or assignment.line == last[assignment.scope]
    ]
    pairs = [assignment for assignment in kept for other in kept if _is_else_of(other.scope, assignment.scope)]
    return [
        assignment
        for assignment in kept
        if all(assignment.scope != pair.scope.parent or assignment.line > pair.line for pair in pairs)
    ]


def _of_two(*ways: AssignmentSite) -> Endless:
    """Whether a data set that is assigned twice is endless: once below an ``if``, and once before it or below its
    ``else``."""
    chosen = next((way for way in ways if way.scope.kind == "if"), None)
    other = next(way for way in ways if way is not chosen)
    if chosen is None:
        return "no"
    before = other.line < chosen.line and other.scope == chosen.scope.parent
    if not before and not _is_else_of(other.scope, chosen.scope):
        return "no"
    if _of_value(chosen.value) == "yes" and _of_value(other.value) == "no":
        return chosen.scope.test
    return "no"


def _is_else_of(branch: Scope, other: Scope) -> bool:
    """Whether a block is the ``else`` of an ``if``."""
    return branch.kind == "else" and branch.parent == other.parent and branch.record.test == other.record.test


def _is_code(value: Value) -> bool:
    """Whether a condition consists of names, constants and comparisons."""
    if isinstance(value, Op):
        return value.op in (*_COMPARING, *_JOINING, "not") and all(map(_is_code, value.operands))
    return isinstance(value, Ref) or (isinstance(value, Const) and not value.binary)


def _code(value: Value) -> str:
    if isinstance(value, Ref):
        return value.name
    if isinstance(value, Const):
        return repr(value.value)
    assert isinstance(value, Op)  # see `_is_code`
    inner = [f"({_code(operand)})" if isinstance(operand, Op) else _code(operand) for operand in value.operands]
    return f"not {inner[0]}" if value.op == "not" else f" {value.op} ".join(inner)


def _is_boolean(condition: Expr) -> bool:
    """Whether a condition surely is True or False, and not just taken for that."""
    value = condition.value
    if isinstance(value, Op):
        if value.op in _JOINING:
            return all(_is_boolean(condition.scope.expr(operand, condition.line)) for operand in value.operands)
        return True
    values = condition.known
    return values.exact and bool(values.values) and all(isinstance(answer, bool) for answer in values.values)


def _names(value: Value) -> Iterator[str]:
    """The names that a condition reads, with their first segments."""
    if isinstance(value, Ref):
        yield value.name
        yield value.name.partition(".")[0]
    for operand in value.operands if isinstance(value, Op) else ():
        yield from _names(operand)
