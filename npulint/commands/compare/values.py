"""Compares two values: same, different or undetermined."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence

import msgspec

from npulint.commands.training_config.provenance.plain import Found, ValuePairs, canonical
from npulint.commands.training_config.steps.expressions import ordered, skeleton
from npulint.commands.training_config.steps.formatting import shown, shown_apart
from npulint.commands.training_config.steps.model import Argument
from npulint.commands.training_config.steps.unresolved import SPLIT
from npulint.commands.training_config.tracer import Tracer
from npulint.data.recipe import converted, recipe_call
from npulint.facts.code import Op, Ref, SequenceDisplay, Value
from npulint.facts.model import Span
from npulint.facts.recipe import ProvenanceStep, Traced
from npulint.model.values.cursors import CallSite, Expr
from npulint.model.values.walker import walker

SAME, DIFFERS, UNKNOWN = "same", "differs", "unknown"
_RANK = {SAME: 0, UNKNOWN: 1, DIFFERS: 2}
_DEEP = 9
_JOINING = frozenset(("join", "glob", "Path", "format"))


class ComparedValue(msgspec.Struct, frozen=True, eq=False):
    """A value of one side: the `argument` as written, or the plain `value` (a default) if none is written. `span` is
    the place of the step."""

    argument: Argument | None
    span: Span
    value: object = None

    @property
    def how(self) -> str:
        """How the value is converted for the comparison."""
        return self.argument.how if self.argument is not None else ""

    def traced(self, tracer: Tracer) -> Traced:
        """The value in the start that the tracer follows."""
        if self.argument is None:
            return Traced(True, self.value, shown_plain(self.value))
        return tracer.trace(self.argument.expr, self.argument.span or self.span)

    def text(self, traced: Traced) -> str:
        """The value if it is known, else as it is written."""
        return traced.text if traced.known or self.argument is None else shown(self.argument.expr)


class ValueAnswer(msgspec.Struct, frozen=True):
    """The result of comparing two values, their texts for display, and their provenance. `shaped`: undetermined, but
    only one side is known, calculated or constant, or they are calculated differently."""

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
        written, calculated = UNKNOWN, False
        if self._is_overwritten(left, self._reference) or self._is_overwritten(right, self._migrated):
            return ValueAnswer(SAME)  # what replaces it is compared where it stands
        if left.argument is not None and right.argument is not None and left.how == right.how:
            expr, other = left.argument.expr, right.argument.expr
            written = _written(expr, other, self)
            calculated = bool(expr.operator and other.operator)
            if written == SAME and (expr.is_literal or not (closely or self._may_differ(expr, other))):
                return ValueAnswer(SAME)
        first, second = left.traced(self._reference), right.traced(self._migrated)
        is_known_once = written == SAME and self._is_known_once(left, right)
        written = UNKNOWN if is_known_once else written
        texts = left.text(first), right.text(second)
        if texts[0] == texts[1] and left.argument is not None and right.argument is not None:
            texts = shown_apart(left.argument.expr, right.argument.expr)
        if written == DIFFERS:  # this is the place to change
            same = calculated and first.known and second.known and canonical(first.value) == canonical(second.value)
            return ValueAnswer(SAME) if same else ValueAnswer(DIFFERS, *texts)
        if first.known and second.known and isinstance(first.value, ValuePairs) == isinstance(second.value, ValuePairs):
            same = canonical(converted(left.how, first.value)) == canonical(converted(right.how, second.value))
            written = SAME if same else DIFFERS
        if written == DIFFERS and texts[0] == texts[1]:  # the same legacy value of parameters with different meanings
            texts = shown_plain(converted(left.how, first.value)), shown_plain(converted(right.how, second.value))
        shaped = is_known_once or (written == UNKNOWN and (_is_shaped(left, right) or _is_shaped(right, left)))
        return ValueAnswer(written, *texts, first.provenance, second.provenance, shaped)

    @staticmethod
    def _is_overwritten(value: ComparedValue, tracer: Tracer) -> bool:
        return value.argument is not None and tracer.is_unread(value.argument.expr)

    def _may_differ(self, expr: Expr, other: Expr) -> bool:
        """Whether two expressions that are written alike may have different values where they are executed. What is
        calculated differs with what it is calculated from, which is compared by itself."""
        if expr.operator not in ("", "[]", "."):
            return False
        both = self._executed(expr, other)
        if both is None:
            return False
        first, second = both
        if first.known and second.known:
            return canonical(first.single) != canonical(second.single)
        return first.known != second.known

    def _executed(self, expr: Expr, other: Expr) -> tuple[Found, Found] | None:
        """What two expressions are worth where they are executed; None unless both are."""
        first, second = self._reference.executed(expr), self._migrated.executed(other)
        return None if first is None or second is None else (first, second)

    def _is_known_once(self, left: ComparedValue, right: ComparedValue) -> bool:
        """Whether the executions know the value of one side, and that of the other depends on something open."""
        if left.argument is None or right.argument is None:
            return False
        expr, other = left.argument.expr, right.argument.expr
        both = self._executed(expr, other)
        if both is None or both[0].known == both[1].known:
            return False
        return self._migrated.is_left_open(other) if both[0].known else self._reference.is_left_open(expr)

    def evaluated(self, a: Expr, b: Expr) -> str:
        """Compare two expressions by their values."""
        first, second = self._reference.trace(a), self._migrated.trace(b)
        if first.known and second.known:
            return SAME if canonical(first.value) == canonical(second.value) else DIFFERS
        return UNKNOWN


@walker(_DEEP, lambda: UNKNOWN)
def _written(a: Expr, b: Expr, comparer: Comparer) -> str:
    """Compare two expressions as written; equal names count as equal, because their values are compared where they are
    assigned. Subexpressions are evaluated where the written form does not decide."""
    if a.is_literal and b.is_literal:
        return SAME if canonical(a.literal) == canonical(b.literal) else DIFFERS
    if type(a.value) is not type(b.value):
        return UNKNOWN
    if a.written:
        return SAME if a.written == b.written else UNKNOWN
    if a.call is not None and b.call is not None:
        return SAME if _are_one_rank(a.call, b.call) else _called(a.call, b.call)
    if a.function is not None:
        return SAME
    if a.is_display:
        return _parts(a.items, b.items, comparer)
    if isinstance(a.value, Op) and isinstance(b.value, Op) and a.operator == b.operator:
        if _operands(a.operands(), b.operands(), comparer) == SAME:
            return SAME
        return _operands(list(map(a.sibling, ordered(a.value))), list(map(b.sibling, ordered(b.value))), comparer)
    return UNKNOWN


def _parts(first: Sequence[Expr], second: Sequence[Expr], comparer: Comparer) -> str:
    """Compare the items of two displays: they differ where one item does."""
    if len(first) != len(second):
        return UNKNOWN
    return max(_answers(first, second, comparer), key=lambda answer: _RANK[answer], default=SAME)


def _operands(first: Sequence[Expr], second: Sequence[Expr], comparer: Comparer) -> str:
    """Compare the operands of two calculations: they surely differ where one operand does and all others are the same;
    several differences may cancel out."""
    if len(first) != len(second):
        return UNKNOWN
    others = [answer for answer in _answers(first, second, comparer) if answer != SAME]
    return SAME if not others else others[0] if len(others) == 1 else UNKNOWN


def _answers(first: Sequence[Expr], second: Sequence[Expr], comparer: Comparer) -> Iterator[str]:
    for a, b in zip(first, second, strict=True):
        answer = _written(a, b, comparer)
        yield comparer.evaluated(a, b) if answer == UNKNOWN else answer


def _are_one_rank(a: CallSite, b: CallSite) -> bool:
    """Whether two calls ask for the same rank or world size, each in its own library."""
    first, second = recipe_call(a.name), recipe_call(b.name)
    if first is None or second is None:
        return False
    return first.part == second.part == "ranks" and first.same_as == second.same_as


def _is_shaped(compared_value: ComparedValue, other: ComparedValue) -> bool:
    """Whether a value is calculated or a constant (not a mere name or call result), or the only one. Two values
    calculated alike from names do not count."""
    if compared_value.argument is None or other.argument is None:
        return compared_value.argument is not None
    expr, instead = compared_value.argument.expr, other.argument.expr
    alike = bool(expr.operator and instead.operator) and _frame(expr.value) == _frame(instead.value)
    return (bool(expr.operator) or expr.is_literal) and not alike


def _frame(value: Value) -> Hashable:
    """The structure of an expression: constants and accessed members, without variable names."""
    if isinstance(value, Ref):
        return value.name.partition(".")[2]
    if isinstance(value, SequenceDisplay | Op):
        parts = value.items if isinstance(value, SequenceDisplay) else value.operands
        return (getattr(value, "op", ""), *map(_frame, parts))
    return skeleton(value)


def _called(a: CallSite, b: CallSite) -> str:
    """Compare calls by name only: significant calls are steps and compared as such."""
    if a.last != b.last:
        return UNKNOWN
    return DIFFERS if a.last in _JOINING and _name_other_splits(a, b) else SAME


def _name_other_splits(a: CallSite, b: CallSite) -> bool:
    """Whether the last path component names another split of a data set."""
    ends = [site.args[-1].text if site.record.args else "" for site in (a, b)]
    return all(map(SPLIT.search, ends)) and ends[0] != ends[1]


def shown_plain(value: object) -> str:
    """A plain value as Python source."""
    return repr(value) if isinstance(value, str) else str(value)
