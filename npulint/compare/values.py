"""Compares two values: same, different or undetermined."""

from __future__ import annotations

from collections.abc import Hashable

import msgspec

from npulint.assemble.module import Module
from npulint.data.recipe import converted, recipe_call
from npulint.facts.code import CallResult, Const, Function, Op, Ref, SequenceDisplay, Value
from npulint.facts.model import Span
from npulint.facts.recipe import ProvenanceStep, Traced
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


class ComparedValue(msgspec.Struct, frozen=True, eq=False):
    """A value of one side: the `argument` as written, or the plain `value` (a default) if none is written. `how`
    converts it for the comparison, `span` is the place of the step."""

    module: Module
    argument: Argument | None
    span: Span
    value: object = None
    how: str = ""


class ValueAnswer(msgspec.Struct, frozen=True):
    """The result of comparing two values, their texts for display, and their provenance. `shaped`: undetermined, but
    only one side is calculated or constant, or they are calculated differently."""

    answer: str
    reference: str = ""
    migrated: str = ""
    reference_provenance: tuple[ProvenanceStep, ...] = ()
    migrated_provenance: tuple[ProvenanceStep, ...] = ()
    shaped: bool = False


class Comparer:
    """Compares values as written, and evaluates them only where these differ."""

    def __init__(self, reference: Tracer, migrated: Tracer) -> None:
        self._reference = reference
        self._migrated = migrated

    def compare(self, left: ComparedValue, right: ComparedValue, closely: bool = False) -> ValueAnswer:
        """Compare two values. Values written alike are the same unless compared `closely`: then they are evaluated, as
        their names may be bound elsewhere."""
        written = UNKNOWN
        if left.argument is not None and right.argument is not None and left.how == right.how:
            written = self._written(left, left.argument.value, right, right.argument.value, 0)
            if written == SAME and not closely:
                return ValueAnswer(SAME)
            if written == DIFFERS:  # this is the place to change
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
            answer = _answer(UNKNOWN, left, first, right, second)
            return msgspec.structs.replace(answer, shaped=_is_shaped(left, right) or _is_shaped(right, left))
        return _answer(written, left, first, right, second)

    def _written(self, left: ComparedValue, a: Value, right: ComparedValue, b: Value, depth: int) -> str:
        """Compare two expressions as written; equal names count as equal, because their values are compared where they
        are assigned."""
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

    def _are_one_rank(self, left: ComparedValue, a: CallResult, right: ComparedValue, b: CallResult) -> bool:
        """Whether two calls ask for the same rank or world size, each in its own library."""
        names = (self._reference.names.of_call(left.module, a.call), self._migrated.names.of_call(right.module, b.call))
        first, second = (recipe_call(name) for name in names)
        if first is None or second is None:
            return False
        return first.part == second.part == "ranks" and first.same_as == second.same_as

    def _parts(
        self, left: ComparedValue, first: tuple[Value, ...], right: ComparedValue, second: tuple[Value, ...], depth: int
    ) -> str:
        if len(first) != len(second):
            return UNKNOWN
        answers = (self._part(left, a, right, b, depth) for a, b in zip(first, second, strict=True))
        return max(answers, key=lambda answer: _RANK[answer], default=SAME)

    def _part(self, left: ComparedValue, a: Value, right: ComparedValue, b: Value, depth: int) -> str:
        """Compare a subexpression: evaluated where the written form does not decide."""
        written = self._written(left, a, right, b, depth + 1)
        if written != UNKNOWN or left.argument is None or right.argument is None:
            return written
        first = self._reference.trace(left.module, a, left.argument.block, left.argument.line)
        second = self._migrated.trace(right.module, b, right.argument.block, right.argument.line)
        if first.known and second.known:
            return SAME if canonical(first.value) == canonical(second.value) else DIFFERS
        return UNKNOWN


def _is_shaped(one: ComparedValue, other: ComparedValue) -> bool:
    """Whether a value is calculated or a constant (not a mere name or call result), or the only one. Two values
    calculated alike from names do not count."""
    if one.argument is None:
        return False
    value, instead = one.argument.value, other.argument.value if other.argument is not None else None
    alike = isinstance(value, Op) and isinstance(instead, Op) and _frame(value) == _frame(instead)
    return instead is None or (isinstance(value, Op | Const) and not alike)


def _frame(value: Value, depth: int = 0) -> Hashable:
    """The structure of an expression: constants and accessed members, without variable names."""
    if isinstance(value, Ref):
        return value.name.partition(".")[2]
    if isinstance(value, SequenceDisplay | Op) and depth < _DEEP:
        parts = value.items if isinstance(value, SequenceDisplay) else value.operands
        return (getattr(value, "op", ""), *(_frame(part, depth + 1) for part in parts))
    return skeleton(value)


def _called(left: Module, a: CallResult, right: Module, b: CallResult) -> str:
    """Compare calls by name only: significant calls are steps and compared as such."""
    if left.callee_name(a.call) != right.callee_name(b.call):
        return UNKNOWN
    return DIFFERS if left.callee_name(a.call) in _JOINING and _other_split(left, a, right, b) else SAME


def _other_split(left: Module, a: CallResult, right: Module, b: CallResult) -> bool:
    """Whether the last path component names another split of a data set."""
    ends = [module.code.calls[one.call].args[-1:] for module, one in ((left, a), (right, b))]
    texts = [end[0].value for end in ends if end and isinstance(end[0], Const)]
    named = [text for text in texts if isinstance(text, str) and SPLIT.search(text)]
    return len(named) == len(ends) and named[0] != named[1]


def _traced(tracer: Tracer, one: ComparedValue) -> Traced:
    if one.argument is None:
        return Traced(True, one.value, shown_plain(one.value))
    argument = one.argument
    return tracer.trace(one.module, argument.value, argument.block, argument.line, argument.span or one.span)


def shown_plain(value: object) -> str:
    """A plain value as Python source."""
    return repr(value) if isinstance(value, str) else str(value)


def _answer(answer: str, left: ComparedValue, first: Traced, right: ComparedValue, second: Traced) -> ValueAnswer:
    return ValueAnswer(answer, _text(left, first), _text(right, second), first.provenance, second.provenance)


def _text(one: ComparedValue, traced: Traced) -> str:
    if traced.known or one.argument is None:
        return traced.text
    return shown(one.module, one.argument.value)
