"""Whether the values of top_k are only summed, so that padding with zeros does not change the result."""

from __future__ import annotations

from bisect import bisect_right
from typing import Literal, NamedTuple

import msgspec

from npulint.core.lazy_regex import lazy_compile
from npulint.facts.code import Assignment, CallResult, Const, Op, Ref, Value
from npulint.facts.walk import names_in, nested, written_values
from npulint.model.code.module import Module
from npulint.model.values.cursors import AssignmentSite, CallSite, Expr, assignment_at

_SUM = "tensorflow.reduce_sum"
_NAME = lazy_compile(r"[A-Za-z_]\w*\Z")
_PLAIN = lazy_compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*\Z")
_AXES = ("axis", "reduction_indices")
_ARGUMENTS = frozenset(("input_tensor", "name", *_AXES))
Summed = Literal["named", "direct", "no", "unknown"]


class Summation(msgspec.Struct, frozen=True):
    """How the values of a call of top_k are summed. `into` is the name that they are assigned to, `over` and `count`
    are the arguments of top_k, if they are names."""

    summed: Summed = "unknown"
    into: str | None = None
    over: str | None = None
    count: str | None = None


def summation(top_k: CallSite) -> Summation:
    """How the result of a call of top_k is `summed`: named (assigned to a name that is summed once and used nowhere
    else), direct (summed where it is computed), or no."""
    into = _summed_name(top_k)
    over, count = _plain_name(top_k.argument("input", 0)), _plain_name(top_k.argument("k", 1))
    if into and (count or into).partition(".")[0] == into:
        return Summation("no", "unknown", over, count)  # the name has another value when the number is read
    if into:
        return Summation("named", into, over, count)
    return Summation("no" if sum_of(top_k) is None else "direct", "unknown", over, count)


def sum_of(top_k: CallSite) -> CallSite | None:
    """The call that directly sums the values of a call of top_k."""
    values = _values(top_k)
    calls = top_k.scope.calls_named("reduce_sum")
    found = [call for call in calls if (tensor := call.argument("input_tensor", 0)) and tensor.value in values]
    return found[0] if len(found) == 1 and _sums_last_axis(found[0]) else None


def _plain_name(argument: Expr | None) -> str | None:
    return argument.written if argument is not None and _PLAIN.match(argument.written) else None


def _values(top_k: CallSite) -> tuple[Value, Value]:
    """The two expressions for the values of a result."""
    result = CallResult(top_k.index)
    return Op("[]", (result, Const(0))), Op(".", (result, Const("values")))


def _sums_last_axis(call: CallSite) -> bool:
    """Whether a call sums everything, or along the last axis, which top_k sorts."""
    if call.name != _SUM or len(call.args) > 2 or not _ARGUMENTS.issuperset(call.keywords):
        return False
    axis = next((expr for key in _AXES if (expr := call.argument(key, 1)) is not None), None)
    return axis is None or (axis.is_literal and axis.literal in (-1, None))


def _summed_name(top_k: CallSite) -> str:
    """The name of values that are only summed; empty if there is none."""
    result = CallResult(top_k.index)
    records = top_k.module.code.assignments  # creating a cursor for each use would cost more than this search
    parts = [
        assignment_at(top_k.context, top_k.module, record)
        for record in records
        if isinstance(record.value, Op) and record.value.op in ("[]", ".") and record.value.operands[0] == result
    ]
    kept = [part for part in parts if part.value.value in _values(top_k)]
    if len(kept) != 1 or not _NAME.match(kept[0].target) or any(_reads(part) for part in parts if part is not kept[0]):
        return ""
    reads = _reads(kept[0])
    sums = [call for call in top_k.scope.calls_named("reduce_sum") if [call.argument("input_tensor", 0)] == reads]
    is_plain = len(sums) == 1 and reads[0].written == kept[0].target
    same = is_plain and sums[0].scope.function is kept[0].scope.function
    return kept[0].target if same and _sums_last_axis(sums[0]) else ""


def _reads(kept: AssignmentSite) -> list[Expr]:
    """The expressions that read a name after an assignment, with repetition: before the next assignment of the same
    block, and earlier in the same loop."""
    name, function = kept.target, kept.scope.function
    module, home = kept.scope.module, kept.scope.block
    binds = module.derive(_binds).get(name, ())
    later = [bind.line for bind in binds if bind.block == home and bind.line > kept.line]
    first, last = 0 if kept.scope.loop is not None else kept.line, min(later, default=1 << 62)
    if function is not None and function.record.end_line:  # a cheap filter: lines instead of blocks
        first, last = max(first, function.record.line - 1), min(last, function.record.end_line)
    exprs = []
    mentions = module.derive(_mentions).get(_root(name), [])
    for mention in mentions[bisect_right(mentions, first, key=_line) : bisect_right(mentions, last, key=_line)]:
        if mention.line != kept.line and (count := _count(mention.value, name)):
            scope = kept.scope.at(mention.block)
            if function is None or scope.is_inside(function):
                exprs += [scope.expr(mention.value, mention.line)] * count
    return exprs


class _Mention(NamedTuple):
    value: Value
    block: int
    line: int


def _line(mention: _Mention) -> int:
    return mention.line


def _mentions(module: Module) -> dict[str, list[_Mention]]:
    """The expressions of a module by the objects that they read, by line; to assign an attribute or an element of an
    object is to read it."""
    found: dict[str, list[_Mention]] = {}
    for value, block, line in written_values(module.code):
        for root in {_root(name.name) for name in names_in((value,))}:
            found.setdefault(root, []).append(_Mention(value, block, line))
    for assignment in module.code.assignments:
        root = _root(assignment.target)
        if root != assignment.target:
            found.setdefault(root, []).append(_Mention(Ref(root), assignment.block, assignment.line))
    for mentions in found.values():
        mentions.sort(key=_line)
    return found


def _binds(module: Module) -> dict[str, list[Assignment]]:
    """The assignments of a module by what they assign."""
    binds: dict[str, list[Assignment]] = {}
    for assignment in module.code.assignments:
        binds.setdefault(assignment.target, []).append(assignment)
    return binds


def _root(target: str) -> str:
    """The object whose attribute or element is assigned; a plain name itself."""
    return target.partition(".")[0].partition("[")[0]


def _count(value: Value, name: str) -> int:
    """How often an expression reads a name, not counting the calls in it."""
    if isinstance(value, Const | CallResult):
        return 0
    names = [part.name for part in nested(value) if isinstance(part, Ref)]
    return sum(one == name or one.startswith((f"{name}.", f"{name}[")) for one in names)
