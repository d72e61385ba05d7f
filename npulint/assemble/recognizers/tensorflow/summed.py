"""What becomes of the values that top_k gives: are they only summed, so that zeros beside them change nothing?"""

from __future__ import annotations

from typing import Literal

import msgspec

from npulint.assemble.cursors import AssignmentSite, CallSite, Expr
from npulint.facts.code import CallResult, Const, Op, Ref, Value
from npulint.facts.walk import nested
from npulint.lazy_regex import lazy_compile

_SUM = "tensorflow.reduce_sum"
_NAME = lazy_compile(r"[A-Za-z_]\w*\Z")
_PLAIN = lazy_compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*\Z")
_AXES = ("axis", "reduction_indices")
_ARGUMENTS = frozenset(("input_tensor", "name", *_AXES))
Summed = Literal["named", "direct", "no", "unknown"]


class Summation(msgspec.Struct, frozen=True):
    """How the values of a call of top_k are summed. `into` is the name that they get, `over` and `count` what top_k is
    given, where these are names."""

    summed: Summed = "unknown"
    into: str | None = None
    over: str | None = None
    count: str | None = None


def summation(top_k: CallSite) -> Summation:
    """Of a call of top_k `summed`: named (its values get a name that is summed once and used nowhere else), direct
    (they are summed where they are computed), no."""
    into = _summed_name(top_k)
    over, count = _plain_name(top_k.argument("input", 0)), _plain_name(top_k.argument("k", 1))
    if into and (count or into).partition(".")[0] == into:
        return Summation("no", "unknown", over, count)  # the number would be read when the name holds something else
    if into:
        return Summation("named", into, over, count)
    return Summation("no" if sum_of(top_k) is None else "direct", "unknown", over, count)


def sum_of(top_k: CallSite) -> CallSite | None:
    """The call that sums the values of a call of top_k where they are computed."""
    values = _values(top_k)
    calls = top_k.scope.calls_named("reduce_sum")
    found = [call for call in calls if (tensor := call.argument("input_tensor", 0)) and tensor.value in values]
    return found[0] if len(found) == 1 and _sums_last_axis(found[0]) else None


def _plain_name(given: Expr | None) -> str | None:
    return given.written if given is not None and _PLAIN.match(given.written) else None


def _values(top_k: CallSite) -> tuple[Value, Value]:
    """The two ways to take the values out of a result."""
    result = CallResult(top_k.index)
    return Op("[]", (result, Const(0))), Op(".", (result, Const("values")))


def _sums_last_axis(call: CallSite) -> bool:
    """Whether a call sums everything, or along the last axis, which is the one that top_k sorts."""
    if call.name != _SUM or len(call.args) > 2 or not _ARGUMENTS.issuperset(call.keywords):
        return False
    axis = next((found for key in _AXES if (found := call.argument(key, 1)) is not None), None)
    return axis is None or (axis.is_literal and axis.literal in (-1, None))


def _summed_name(top_k: CallSite) -> str:
    """The name under which the values are summed, and nothing else is done with them; empty if there is none."""
    result = CallResult(top_k.index)
    parts = [one for one in top_k.scope.assignments if one.value.operands("[]", ".")[:1] == [one.value.sibling(result)]]
    kept = [one for one in parts if one.value.value in _values(top_k)]
    if len(kept) != 1 or not _NAME.match(kept[0].target) or any(_reads(one) for one in parts if one is not kept[0]):
        return ""
    reads = _reads(kept[0])
    sums = [call for call in top_k.scope.calls_named("reduce_sum") if [call.argument("input_tensor", 0)] == reads]
    is_plain = len(sums) == 1 and reads[0].written == kept[0].target
    same = is_plain and sums[0].scope.function is kept[0].scope.function
    return kept[0].target if same and _sums_last_axis(sums[0]) else ""


def _reads(kept: AssignmentSite) -> list[Expr]:
    """The expressions that read what a name holds after an assignment, as often as they do. Those below the next
    assignment of the same block do not count, those above in the same loop do."""
    name, function = kept.target, kept.scope.function
    others = [one for one in kept.scope.assignments if one.record is not kept.record]
    later = [one.line for one in others if one.target == name and one.scope is kept.scope and one.line > kept.line]
    first, last = 0 if kept.scope.loop is not None else kept.line, min(later, default=1 << 62)
    changed = [one.scope.expr(Ref(root), one.line) for one in others if (root := _root(one.target)) != one.target]
    found = []
    for read in (*kept.scope.expressions, *changed):
        inside = function is None or read.scope.is_inside(function)
        if inside and first < read.line <= last and read.line != kept.line:
            found += [read] * _count(read.value, name)
    return found


def _root(target: str) -> str:
    """The object of which an attribute or element is assigned; a plain name itself."""
    return target.partition(".")[0].partition("[")[0]


def _count(value: Value, name: str) -> int:
    """How often an expression, without the calls in it, reads a name."""
    names = [part.name for part in nested(value) if isinstance(part, Ref)]
    return sum(one == name or one.startswith((f"{name}.", f"{name}[")) for one in names)
