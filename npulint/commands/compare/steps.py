"""Differences between paired steps, and of unmatched steps."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import msgspec

from npulint.commands.compare.insignificant_differences import is_of_metric
from npulint.commands.compare.shown_values import is_only_shown
from npulint.commands.compare.step_pairs import Pairing
from npulint.commands.compare.values import DIFFERS, SAME, UNKNOWN, ComparedValue, Comparer, ValueAnswer
from npulint.commands.training_config.setting_parts import setting_part
from npulint.commands.training_config.steps.formatting import shown_apart
from npulint.commands.training_config.steps.model import Argument, CodeStep
from npulint.commands.training_config.steps.unresolved import SPLIT, STRONG
from npulint.data.recipe import is_half, is_whole, neutral_parameters
from npulint.facts.comparison.difference import Difference, SideValue
from npulint.facts.model import Span
from npulint.model.values.cursors import Expr

# Whether reordered steps compute something else.

_ORDERED = frozenset(("transform", "shuffle", "repeat", "batch_size", "dataset", "schedule"))
_MADE = frozenset(("dataset", "schedule"))

Around = tuple[str, Span]
"""The call or assignment that contains steps, by path and place."""


def matters(left: CodeStep, right: CodeStep, pairing: Pairing, function: str) -> bool:
    """Whether it matters that a step of `function` is now at another position."""
    counts = left.counts or right.counts
    return counts and _has_place(left, function) and _among(left, right, pairing)


def _has_place(step: CodeStep, function: str) -> bool:
    """Whether the position of a step is significant: for layers it is where they are applied, not created."""
    if step.kind not in ("call", "own"):
        return False
    applied = step.is_applied
    if step.part in _MADE and not applied and step.shown[:1].isupper():
        return False  # a data set that is created, not transformed
    return step.part in _ORDERED or applied or (step.part in ("layer", "dropout") and not function.endswith("__init__"))


def _among(left: CodeStep, right: CodeStep, pairing: Pairing) -> bool:
    """Whether steps inside the same call (``Compose([Flip(), Crop()])``) have changed their order there."""
    first, second = _around(left), _around(right)
    if first is None or second is None:
        return True
    for step, other in (*pairing.pairs, *pairing.swapped):
        together = step is not left and _around(step) == first and _around(other) == second
        if together and (step.order < left.order) != (other.order < right.order):
            return True
    return False


def _around(step: CodeStep) -> Around | None:
    """The innermost call, else the assignment, that contains a step; None if there is none."""
    place = step.span
    best: Span | None = None
    binds = (bind for bind in step.module.code.assignments if bind.block == step.scope.block)
    for span in (*map(Span.of, step.module.code.calls), *map(Span.of, binds)):
        if span != place and _contains(span, place) and (best is None or _contains(best, span)):
            best = span
    return None if best is None else (step.module.path, best)


def _contains(outer: Span, inner: Span) -> bool:
    first, last = (outer.line, outer.column), (outer.end_line, outer.end_column)
    return first <= (inner.line, inner.column) and (inner.end_line, inner.end_column) <= last


# By what programs divide a setting among processes: the devices of one machine, or all processes.

_DIVIDED = frozenset(("update", "batch_size", "learning_rate", "steps", "epochs"))
_OF_MACHINE = frozenset(("device_count", "LOCAL_WORLD_SIZE", "local_size"))
_OF_ALL = frozenset(("get_world_size", "WORLD_SIZE", "RANK_SIZE", "world_size", "get_rank_size"))


def count_otherwise(step: CodeStep, other: CodeStep) -> bool:
    """Whether two formulas of a setting count processes differently, which shows on several machines."""
    if setting_part(step.shown) not in _DIVIDED or step.formula is None or other.formula is None:
        return False
    return {_counted(step.formula.expr), _counted(other.formula.expr)} == {"machine", "all"}


def _counted(formula: Expr) -> str:
    """What a formula counts: ``machine``, ``all``, or nothing (empty), also if that is not clear."""
    names = set(_sources(formula))
    words = {word for word, of in (("machine", _OF_MACHINE), ("all", _OF_ALL)) if names & of}
    return words.pop() if len(words) == 1 else ""


def _sources(formula: Expr) -> Iterator[str]:
    """What a formula, and what its names are assigned, calls and reads from the environment."""
    for part in formula.nested:
        assigned = [bind.value for bind in part.assignments] if part.written else []
        for value in (part, *(inner for expr in assigned for inner in expr.nested)):
            yield from _named(value)


def _named(value: Expr) -> Iterator[str]:
    """The function that a value calls, and functions and texts in its arguments: ``int(os.environ["SIZE"])``."""
    call = value.call
    for part in (value, *(inner for expr in (call.args if call is not None else ()) for inner in expr.nested)):
        if part.call is not None:
            yield part.call.last
        elif part.is_literal:
            yield str(part.literal)


_LITERAL = frozenset(("switch", "bind", "fill", "counter", "default", "entry", "expression", "loop", "named", "slice"))
_TYPES = {
    **{"long": "int64", "int": "int32", "short": "int16", "float": "float32", "half": "float16", "double": "float64"},
    "bool": "bool",
}
"""Casting methods, and other names of the types that they cast to."""
_CROSSED = frozenset(("clipping", "schedule", "average"))


def of_pairs(pairing: Pairing, comparer: Comparer) -> Iterator[Difference]:
    """The differences between paired steps, and the values on which they agree."""
    for left, right in (*pairing.pairs, *pairing.swapped):
        yield from _pair(left, right, comparer)
    for left, right in pairing.replaced:
        sure = {left.part, right.part} != {"operation"}  # an operation may be written in another way
        yield msgspec.structs.replace(_whole("changed", left, right), certain=sure)
    for left, right in pairing.swapped:
        if matters(left, right, pairing, left.function):
            yield _whole("reordered", left, right)
        elif over := _overtaken(left, right, pairing):
            yield _whole("reordered", *over)


def _overtaken(left: CodeStep, right: CodeStep, pairing: Pairing) -> tuple[CodeStep, CodeStep] | None:
    """The first pair of the same function that a moved step has overtaken and whose order matters."""
    for step, other in pairing.pairs:
        here = step.home == left.home and other.home == right.home
        made = step.shown[:1].isupper() and not step.is_applied  # a scheduler that is created changes nothing yet
        ordered = step.kind not in _LITERAL and step.part in _CROSSED and not made
        if here and ordered and (left.order < step.order) != (right.order < other.order):
            return step, other
    return None


def _pair(left: CodeStep, right: CodeStep, comparer: Comparer) -> Iterator[Difference]:
    if left.kind == "expression" and left.name != right.name:
        yield _formula(left, right, comparer)
    elif left.kind == "expression" and count_otherwise(left, right):
        yield msgspec.structs.replace(_whole("changed", left, right), certain=False)
    elif left.kind == "call" and left.name != right.name and left.part == "dropout" and _are_neutral(left, right):
        yield from _same(_neutral(left), _neutral(right), comparer)
    elif left.kind == "call" and left.name != right.name:
        # Objects are compared where they are created, not where they are used.
        if not left.is_applied and (left.counts or right.counts):
            yield _whole("changed", left, right)
    else:
        yield from _same(left, right, comparer)


def _same(left: CodeStep, right: CodeStep, comparer: Comparer) -> Iterator[Difference]:
    """The differences between the arguments of two steps that do the same."""
    reported = False
    for name, first, second in _arguments(left, right):
        compared = _Compared(left, right, name, first, second)
        role, answer = compared.role, compared.answer(comparer)
        if answer is None or (role == "shuffle" and _is_sampled(left, right)):
            continue
        if role == "half_cast" and not (is_half(answer.reference) or is_half(answer.migrated)):
            role = left.part or right.part
        if role == "half_cast" and answer.answer != SAME and is_of_metric(left) and is_of_metric(right):
            continue
        if answer.answer != SAME:
            reported = True
            yield compared.difference(role, answer, "changed")
        elif role != left.part:
            yield compared.difference(role, answer, "none")
    if not reported and (left.counts or right.counts):
        yield _whole("none", left, right)


def _is_sampled(left: CodeStep, right: CodeStep) -> bool:
    """Whether only one side has a sampler, which decides the order of its samples; the sampler is compared itself."""
    given = [[argument.expr for argument in step.arguments if argument.name == "sampler"] for step in (left, right)]
    has = [any(not (expr.is_literal and expr.literal is None) for expr in exprs) for exprs in given]
    return has[0] != has[1]


def _are_neutral(left: CodeStep, right: CodeStep) -> bool:
    """Whether two calls have the same framework-neutral name."""
    recipe_call, other = left.recipe, right.recipe
    return (
        recipe_call is not None
        and other is not None
        and bool(recipe_call.neutral)
        and recipe_call.neutral == other.neutral
    )


def _neutral(step: CodeStep) -> CodeStep:
    """A step with its arguments under framework-neutral names, without the others."""
    assert step.recipe is not None
    names, wanted = step.recipe.neutral_names, neutral_parameters()[step.recipe.neutral]
    renamed = (
        msgspec.structs.replace(argument, name=names.get(argument.name, argument.name)) for argument in step.arguments
    )
    return msgspec.structs.replace(
        step, name=step.recipe.neutral, arguments=tuple(argument for argument in renamed if argument.name in wanted)
    )


def _arguments(left: CodeStep, right: CodeStep) -> Iterator[tuple[str, Argument | None, Argument | None]]:
    """The corresponding arguments of two steps: by name; for project functions with renamed parameters, by position."""
    first = {argument.name: argument for argument in left.arguments}
    second = {argument.name: argument for argument in right.arguments}
    if left.kind == "own":
        gone = [name for name in first if name not in second]
        new = [name for name in second if name not in first]
        if len(gone) == len(new):
            for old, now in zip(gone, new, strict=True):
                yield now, first.pop(old), second.pop(now)
    for name in dict.fromkeys((*first, *second)):
        yield name, first.get(name), second.get(name)


class _Compared(msgspec.Struct, frozen=True, eq=False, dict=True):
    """An argument of two paired steps; None where a step does not pass it."""

    left: CodeStep
    right: CodeStep
    name: str
    first: Argument | None
    second: Argument | None

    @cached_property
    def _given(self) -> list[Argument]:
        """What is passed, on the migrated side first."""
        return [argument for argument in (self.second, self.first) if argument is not None]

    @cached_property
    def role(self) -> str:
        """The part of the training config that the argument belongs to."""
        texts = [argument.expr.text for argument in self._given]
        if len(set(texts)) > 1 and all(map(SPLIT.search, texts)):
            return "split"  # texts that name different splits of a data set
        return (
            next((argument.role for argument in self._given if argument.role), "") or self.left.part or self.right.part
        )

    def answer(self, comparer: Comparer) -> ValueAnswer | None:
        """The comparison, if it is worth reporting: an undetermined one only where something is calculated or passed on
        one side alone, and then only for important parts or if its default is different."""
        if not (self.left.counts or self.right.counts or self.role in STRONG):
            return None
        compared_value, other = _value(self.left, self.first, self.second), _value(self.right, self.second, self.first)
        if compared_value is None or other is None:
            return None
        answer = comparer.compare(compared_value, other, self._given[0].role not in ("", self.left.part))
        if self.name == "dtype" and _result_type(self.left, self.first) == _result_type(self.right, self.second) != "":
            return ValueAnswer(SAME)
        if answer.answer != UNKNOWN:
            return ValueAnswer(SAME) if self._are_whole(answer) else answer
        if self.role == "evaluation" and _is_cut(self.first) != _is_cut(self.second):
            return answer  # a slice limits the samples
        weighty = self.role in STRONG or len(self._given) == 1
        return answer if weighty and answer.shaped else None

    def _are_whole(self, answer: ValueAnswer) -> bool:
        """Whether an operation only produces integers of another width: adapters lack operators for some."""
        typed = self._given[0].name == "dtype" and self.left.part == "operation"
        return typed and is_whole(answer.reference) and is_whole(answer.migrated)

    def difference(self, role: str, answer: ValueAnswer, change: str) -> Difference:
        """The compared argument as a difference."""
        literal = self.left.kind in _LITERAL
        sure = answer.answer != UNKNOWN  # else it is uncertain which of the places makes the difference
        ways = answer.reference_provenance, answer.migrated_provenance
        return Difference(
            role,
            change,
            self.left.shown,
            "" if literal and self.left.kind != "named" else self.name,
            _side(self.left, self.first, answer.reference).defined_by(ways[0] if sure else ()),
            _side(self.right, self.second, answer.migrated).defined_by(ways[1] if sure else ()),
            function=self.right.function,
            certain=sure,
            named=literal or any(len(way) > 1 for way in ways),
            evaluates=self.left.evaluates and self.right.evaluates,
        )


def _result_type(step: CodeStep, given: Argument | None) -> str:
    """The element type of what a call returns: the given one, or that of a cast of its result (``zeros(3).long()``)."""
    if given is not None:
        name = given.expr.written.rpartition(".")[2]
        return _TYPES.get(name, name)
    casts = (
        call
        for call in step.scope.calls_named(*_TYPES)
        if call.receiver is not None and call.receiver.call == step.site
    )
    return next((_TYPES[cast.last] for cast in casts if step.site is not None), "")


def _value(step: CodeStep, argument: Argument | None, instead: Argument | None) -> ComparedValue | None:
    """An argument or its default; None where that is not known."""
    if argument is not None:
        return ComparedValue(argument, step.span)
    defaults = {} if step.is_open or step.recipe is None else step.recipe.effective({})
    name = instead.name if instead is not None else ""
    return ComparedValue(None, step.span, defaults[name]) if name in defaults else None


def _is_cut(argument: Argument | None) -> bool:
    """Whether an argument is a slice: ``images[:20]``."""
    subscript = None if argument is None else argument.expr.subscript
    return subscript is not None and subscript[1].is_unknown


def _side(step: CodeStep, argument: Argument | None, text: str) -> SideValue:
    return SideValue(text, step.scope.path, (argument.span if argument is not None else None) or step.span)


def _formula(left: CodeStep, right: CodeStep, comparer: Comparer) -> Difference:
    """Two formulas of different shapes: compares their values, if determined."""
    answer = comparer.compare(ComparedValue(left.formula, left.span), ComparedValue(right.formula, right.span)).answer
    if answer == SAME:
        return _whole("none", left, right)
    shown = is_only_shown(left) and is_only_shown(right)
    changed = _whole("changed", left, right)
    return msgspec.structs.replace(changed, certain=answer == DIFFERS and not shown, effect="shown" if shown else "")


def _whole(change: str, left: CodeStep, right: CodeStep) -> Difference:
    texts = left.text or left.shown, right.text or right.shown
    if left.formula is not None and right.formula is not None:
        texts = shown_apart(left.formula.expr, right.formula.expr)
    return Difference(
        part=left.part or right.part,
        change=change,
        what=left.shown,
        reference=_side(left, None, texts[0]),
        migrated=_side(right, None, texts[1]),
        function=right.function,
        evaluates=left.evaluates and right.evaluates,
    )
