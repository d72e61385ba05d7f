"""Two values held against each other: the same, different, or not to be told."""

from __future__ import annotations

from collections.abc import Hashable

import msgspec

from npulint.assemble.module import Module
from npulint.data.recipe import converted, recipe_call
from npulint.facts.code import CallResult, Const, Function, Op, Ref, SequenceDisplay, Value
from npulint.facts.model import Span
from npulint.facts.recipe import Station, Traced
from npulint.training_config.provenance.plain import ValuePairs, canonical
from npulint.training_config.provenance.tracer import Tracer
from npulint.training_config.steps.expressions import ordered
from npulint.training_config.steps.formatting import shown
from npulint.training_config.steps.literals import skeleton
from npulint.training_config.steps.model import Argument
from npulint.training_config.steps.naming import SPLIT

SAME, DIFFERS, UNKNOWN = "same", "differs", "unknown"
_RANK = {SAME: 0, UNKNOWN: 1, DIFFERS: 2}
_DEEP = 8
_JOINING = frozenset(("join", "glob", "Path", "format"))


class Given(msgspec.Struct, frozen=True, eq=False):
    """A value of one side: what is written, or (without `argument`) the plain `value` that holds if nothing is. `how`
    converts it for the comparison, `span` is the place of the step."""

    module: Module
    argument: Argument | None
    span: Span
    value: object = None
    how: str = ""


class ValueAnswer(msgspec.Struct, frozen=True):
    """How two values stand to each other, what to show of them, and how each came to where it is used. `shaped`: it
    cannot be told, but one is calculated or a constant where the other is not, or they are calculated otherwise."""

    answer: str
    reference: str = ""
    migrated: str = ""
    reference_stations: tuple[Station, ...] = ()
    migrated_stations: tuple[Station, ...] = ()
    shaped: bool = False


class Comparer:
    """Compares what is written, and only where that differs the values that it comes to."""

    def __init__(self, reference: Tracer, migrated: Tracer) -> None:
        self._reference = reference
        self._migrated = migrated

    def compare(self, left: Given, right: Given, closely: bool = False) -> ValueAnswer:
        """The answer about two values. What is written alike is the same, unless they are to be compared `closely`:
        then what it comes to counts, as it may be written elsewhere."""
        written = UNKNOWN
        if left.argument is not None and right.argument is not None and left.how == right.how:
            written = self._written(left, left.argument.value, right, right.argument.value, 0)
            if written == SAME and not closely:
                return ValueAnswer(SAME)
            if written == DIFFERS:  # it is this place that has to be changed
                first, second = _traced(self._reference, left), _traced(self._migrated, right)
                calculated = isinstance(left.argument.value, Op) and isinstance(right.argument.value, Op)
                if calculated and first.known and second.known and canonical(first.value) == canonical(second.value):
                    return ValueAnswer(SAME)
                return ValueAnswer(DIFFERS, _text(left, first), _text(right, second))
        first, second = _traced(self._reference, left), _traced(self._migrated, right)
        if first.known and second.known and isinstance(first.value, ValuePairs) == isinstance(second.value, ValuePairs):
            same = canonical(converted(left.how, first.value)) == canonical(converted(right.how, second.value))
            written = SAME if same else DIFFERS
        if written == UNKNOWN:
            answer = _told(UNKNOWN, left, first, right, second)
            return msgspec.structs.replace(answer, shaped=_is_shaped(left, right) or _is_shaped(right, left))
        return _told(written, left, first, right, second)

    def _written(self, left: Given, a: Value, right: Given, b: Value, depth: int) -> str:
        """How two expressions stand to each other as they are written; names that are equal mean the same here, for
        what they stand for is compared where it is written."""
        if isinstance(a, Const) and isinstance(b, Const):
            return SAME if canonical(a.value) == canonical(b.value) else DIFFERS
        if isinstance(a, Ref) and isinstance(b, Ref):
            return SAME if a.name == b.name else UNKNOWN
        if depth >= _DEEP or type(a) is not type(b):
            return UNKNOWN
        if isinstance(a, CallResult) and isinstance(b, CallResult):
            return SAME if self._are_one_rank(left, a, right, b) else _called(left.module, a, right.module, b)
        if isinstance(a, Function):
            return SAME
        if isinstance(a, SequenceDisplay) and isinstance(b, SequenceDisplay):
            return self._parts(left, a.items, right, b.items, depth)
        if isinstance(a, Op) and isinstance(b, Op) and a.op == b.op:
            as_written = self._parts(left, a.operands, right, b.operands, depth)
            return as_written if as_written == SAME else self._parts(left, ordered(a), right, ordered(b), depth)
        return UNKNOWN

    def _are_one_rank(self, left: Given, a: CallResult, right: Given, b: CallResult) -> bool:
        """Whether two calls ask for the same rank or number of devices, each of its own library."""
        names = (self._reference.names.of_call(left.module, a.call), self._migrated.names.of_call(right.module, b.call))
        first, second = (recipe_call(name) for name in names)
        if first is None or second is None:
            return False
        return first.part == second.part == "ranks" and first.same_as == second.same_as

    def _parts(self, left: Given, first: tuple[Value, ...], right: Given, second: tuple[Value, ...], depth: int) -> str:
        if len(first) != len(second):
            return UNKNOWN
        answers = (self._part(left, a, right, b, depth) for a, b in zip(first, second, strict=True))
        return max(answers, key=lambda answer: _RANK[answer], default=SAME)

    def _part(self, left: Given, a: Value, right: Given, b: Value, depth: int) -> str:
        """A part of an expression: where what is written does not tell, what it comes to."""
        written = self._written(left, a, right, b, depth + 1)
        if written != UNKNOWN or left.argument is None or right.argument is None:
            return written
        first = self._reference.trace(left.module, a, left.argument.block, left.argument.line)
        second = self._migrated.trace(right.module, b, right.argument.block, right.argument.line)
        if first.known and second.known:
            return SAME if canonical(first.value) == canonical(second.value) else DIFFERS
        return UNKNOWN


def _is_shaped(given: Given, other: Given) -> bool:
    """Whether a value is calculated or a constant (not just a name, or what something gives), or the only one. Two that
    are calculated alike from names are not."""
    if given.argument is None:
        return False
    value, instead = given.argument.value, other.argument.value if other.argument is not None else None
    alike = isinstance(value, Op) and isinstance(instead, Op) and _frame(value) == _frame(instead)
    return instead is None or (isinstance(value, Op | Const) and not alike)


def _frame(value: Value, depth: int = 0) -> Hashable:
    """An expression with constants and the members that it reads, but without the names of variables."""
    if isinstance(value, Ref):
        return value.name.partition(".")[2]
    if isinstance(value, SequenceDisplay | Op) and depth < _DEEP:
        parts = value.items if isinstance(value, SequenceDisplay) else value.operands
        return (getattr(value, "op", ""), *(_frame(part, depth + 1) for part in parts))
    return skeleton(value)


def _called(left: Module, a: CallResult, right: Module, b: CallResult) -> str:
    """Calls are steps themselves where they count; those of equal names are taken for the same."""
    if left.callee_name(a.call) != right.callee_name(b.call):
        return UNKNOWN
    return DIFFERS if left.callee_name(a.call) in _JOINING and _other_split(left, a, right, b) else SAME


def _other_split(left: Module, a: CallResult, right: Module, b: CallResult) -> bool:
    """Whether the end of a path names another part of a data set."""
    ends = [module.code.calls[one.call].args[-1:] for module, one in ((left, a), (right, b))]
    texts = [end[0].value for end in ends if end and isinstance(end[0], Const)]
    named = [text for text in texts if isinstance(text, str) and SPLIT.search(text)]
    return len(named) == len(ends) and named[0] != named[1]


def _traced(tracer: Tracer, given: Given) -> Traced:
    if given.argument is None:
        return Traced(True, given.value, shown_plain(given.value))
    argument = given.argument
    return tracer.trace(given.module, argument.value, argument.block, argument.line, argument.span or given.span)


def shown_plain(value: object) -> str:
    """A plain value as people write it."""
    return repr(value) if isinstance(value, str) else str(value)


def _told(answer: str, left: Given, first: Traced, right: Given, second: Traced) -> ValueAnswer:
    return ValueAnswer(answer, _text(left, first), _text(right, second), first.stations, second.stations)


def _text(given: Given, traced: Traced) -> str:
    if traced.known or given.argument is None:
        return traced.text
    return shown(given.module, given.argument.value)
