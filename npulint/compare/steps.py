"""Differences between paired steps, and of unmatched steps."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from npulint.compare.difference import Difference, SideValue
from npulint.compare.order import matters
from npulint.compare.step_pairs import Pairing
from npulint.compare.values import DIFFERS, SAME, UNKNOWN, ComparedValue, Comparer, ValueAnswer
from npulint.data.recipe import is_half, is_whole, neutral_parameters
from npulint.facts.recipe import ProvenanceStep
from npulint.training_config.steps.model import Argument, CodeStep
from npulint.training_config.steps.naming import SPLIT, STRONG

_LITERAL = frozenset(("switch", "bind", "fill", "counter", "default", "entry", "expression", "loop", "named"))
_CROSSED = frozenset(("clipping", "schedule", "average"))


def of_pairs(pairing: Pairing, comparer: Comparer) -> Iterator[Difference]:
    """The differences between paired steps, and the values on which they agree."""
    for left, right in (*pairing.pairs, *pairing.swapped):
        yield from _pair(left, right, comparer)
    for left, right in pairing.swapped:
        if matters(left, right, pairing, left.function):
            yield _whole("reordered", left, right)
        elif over := _overtaken(left, right, pairing):
            yield _whole("reordered", *over)


def _overtaken(left: CodeStep, right: CodeStep, pairing: Pairing) -> tuple[CodeStep, CodeStep] | None:
    """The first pair of the same function that a moved step has overtaken and whose order matters."""
    for one, other in pairing.pairs:
        here = one.home == left.home and other.home == right.home
        ordered = one.kind not in _LITERAL and one.part in _CROSSED
        if here and ordered and (left.order < one.order) != (right.order < other.order):
            return one, other
    return None


def _pair(left: CodeStep, right: CodeStep, comparer: Comparer) -> Iterator[Difference]:
    if left.kind == "expression" and left.name != right.name:
        yield _formula(left, right, comparer)
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
        role = _role(left, first, right, second)
        answer = _answer(left, first, right, second, role, comparer)
        if answer is None:
            continue
        if role == "half_cast" and not (is_half(answer.reference) or is_half(answer.migrated)):
            role = left.part or right.part
        if answer.answer != SAME:
            reported = True
            yield _argument(left, first, right, second, name, role, answer)
        elif role != left.part:
            yield _argument(left, first, right, second, name, role, answer, "none")
    if not reported and (left.counts or right.counts):
        yield _whole("none", left, right)


def _are_neutral(left: CodeStep, right: CodeStep) -> bool:
    """Whether two calls have the same framework-neutral name."""
    one, other = left.known, right.known
    return one is not None and other is not None and bool(one.neutral) and one.neutral == other.neutral


def _neutral(step: CodeStep) -> CodeStep:
    """A step with its arguments under framework-neutral names, without the others."""
    assert step.known is not None
    names, wanted = step.known.neutral_names, neutral_parameters()[step.known.neutral]
    renamed = (msgspec.structs.replace(one, name=names.get(one.name, one.name)) for one in step.arguments)
    return msgspec.structs.replace(
        step, name=step.known.neutral, arguments=tuple(one for one in renamed if one.name in wanted)
    )


def _role(left: CodeStep, first: Argument | None, right: CodeStep, second: Argument | None) -> str:
    """The part of the training config that an argument belongs to."""
    if _names_other_split(first, second):
        return "split"
    return next((a.role for a in (second, first) if a is not None and a.role), "") or left.part or right.part


def _answer(
    left: CodeStep, first: Argument | None, right: CodeStep, second: Argument | None, role: str, comparer: Comparer
) -> ValueAnswer | None:
    """The comparison of an argument, if it is worth reporting: an undetermined one only where something is calculated
    or passed on one side alone, and then only for important parts or if its default is different."""
    if not (left.counts or right.counts or role in STRONG):
        return None
    answer = _compared(left, first, right, second, comparer)
    if answer is None or answer.answer != UNKNOWN:
        return ValueAnswer(SAME) if answer is not None and _are_whole(left, first, second, answer) else answer
    weighty = role in STRONG or first is None or second is None
    if role == "evaluation" and _is_cut(first) != _is_cut(second):
        return answer  # a slice limits the samples
    return answer if weighty and answer.shaped else None


def _are_whole(step: CodeStep, first: Argument | None, second: Argument | None, answer: ValueAnswer) -> bool:
    """Whether an operation only produces integers of another width: adapters lack operators for some."""
    name = next((one.name for one in (second, first) if one is not None), "")
    typed = name == "dtype" and step.part == "operation"
    return typed and is_whole(answer.reference) and is_whole(answer.migrated)


def _is_cut(argument: Argument | None) -> bool:
    """Whether an argument is a slice: ``images[:20]``."""
    subscript = None if argument is None else argument.expr.subscript
    return subscript is not None and subscript[1].is_unknown


def _names_other_split(first: Argument | None, second: Argument | None) -> bool:
    """Whether the arguments are texts that name different splits of a data set."""
    texts = [argument.expr.text if argument is not None else "" for argument in (first, second)]
    return texts[0] != texts[1] and all(map(SPLIT.search, texts))


def _formula(left: CodeStep, right: CodeStep, comparer: Comparer) -> Difference:
    """Two formulas of different shapes: compares their values, if determined."""
    answer = comparer.compare(ComparedValue(left.whole, left.span), ComparedValue(right.whole, right.span)).answer
    if answer == SAME:
        return _whole("none", left, right)
    return msgspec.structs.replace(_whole("changed", left, right), certain=answer == DIFFERS)


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


def _compared(
    left: CodeStep, first: Argument | None, right: CodeStep, second: Argument | None, comparer: Comparer
) -> ValueAnswer | None:
    """The comparison of an argument; None where one side omits it and its default is not known."""
    one, other = _compared_value(left, first, second), _compared_value(right, second, first)
    role = next((argument.role for argument in (second, first) if argument is not None), "")
    return None if one is None or other is None else comparer.compare(one, other, role not in ("", left.part))


def _compared_value(step: CodeStep, argument: Argument | None, instead: Argument | None) -> ComparedValue | None:
    if argument is not None:
        return ComparedValue(argument, step.span)
    if step.is_open or instead is None or step.known is None:
        return None
    defaults = step.known.effective({})
    return ComparedValue(None, step.span, defaults[instead.name]) if instead.name in defaults else None


def _argument(
    left: CodeStep,
    first: Argument | None,
    right: CodeStep,
    second: Argument | None,
    name: str,
    role: str,
    answer: ValueAnswer,
    change: str = "changed",
) -> Difference:
    literal = left.kind in _LITERAL
    sure = answer.answer != UNKNOWN  # else it is uncertain which of the places makes the difference
    return Difference(
        part=role,
        change=change,
        what=left.shown,
        argument="" if literal and left.kind != "named" else name,
        reference=_mark(left, first, answer.reference, answer.reference_provenance if sure else ()),
        migrated=_mark(right, second, answer.migrated, answer.migrated_provenance if sure else ()),
        function=right.function,
        certain=sure,
        named=literal or any(len(way) > 1 for way in (answer.reference_provenance, answer.migrated_provenance)),
        evaluates=left.evaluates and right.evaluates,
    )


def _mark(step: CodeStep, argument: Argument | None, text: str, provenance: tuple[ProvenanceStep, ...]) -> SideValue:
    own = argument.span if argument is not None else None
    return SideValue(text, step.scope.path, own or step.span).defined_by(provenance)


def _whole(change: str, left: CodeStep, right: CodeStep) -> Difference:
    return Difference(
        part=left.part or right.part,
        change=change,
        what=left.shown,
        reference=SideValue(left.text or left.shown, left.scope.path, left.span),
        migrated=SideValue(right.text or right.shown, right.scope.path, right.span),
        function=right.function,
        evaluates=left.evaluates and right.evaluates,
    )
