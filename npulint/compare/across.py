"""Programs of two frameworks held against each other by what has a name without framework: learning rate, batch size,
``adam.beta1``, the kind of the loss. Their code cannot be aligned."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

import msgspec

from npulint.compare.difference import Difference, Mark
from npulint.compare.values import shown_plain
from npulint.facts.recipe import Ingredient
from npulint.recipe.origins import Tracer
from npulint.recipe.plain import canonical
from npulint.recipe.program import Recipe
from npulint.recipe.steps import Step

_KINDS = ("optimizer", "schedule", "loss", "clipping", "average", "loss_scale")
"""Parts of which a program mostly has one operation."""
_NUMBERS = ("learning_rate", "batch_size", "epochs", "steps", "weight_decay", "momentum", "seed")
"""Parts that are one number in most programs."""


class Known(msgspec.Struct, frozen=True, eq=False):
    """A value that is known, with its place."""

    value: object
    mark: Mark


class Told(msgspec.Struct, frozen=True, eq=False):
    """An operation by its name without framework, with its arguments by theirs."""

    name: str
    part: str
    mark: Mark
    values: dict[str, Known]
    roles: dict[str, str]


def of_frameworks(
    reference: Sequence[Told], migrated: Sequence[Told], first: Sequence[Ingredient], second: Sequence[Ingredient]
) -> Iterator[Difference]:
    """The differences between programs of two frameworks. `first` and `second` are the settings of both."""
    for part in _KINDS:
        left, right = (_single(side, part) for side in (reference, migrated))
        if left is None or right is None:
            continue
        if left.name != right.name:
            yield Difference(part, "changed", left.name, "", left.mark, right.mark)
            continue
        yield Difference(part, "none", left.name, "", left.mark, right.mark)
        for name in left.values.keys() & right.values.keys():
            role = right.roles.get(name, part)
            if role not in _NUMBERS:
                yield _compared(role, left.name, name, left.values[name], right.values[name])
    for part in _NUMBERS:
        one, other = _number(reference, first, part), _number(migrated, second, part)
        if one is not None and other is not None:
            yield _compared(part, part, "", one, other)


def _compared(part: str, what: str, argument: str, one: Known, other: Known) -> Difference:
    same = canonical(one.value) == canonical(other.value)
    return Difference(part, "none" if same else "changed", what, argument, one.mark, other.mark)


def _single(side: Sequence[Told], part: str) -> Told | None:
    """The operation of a part, if there is only one kind of it."""
    found = [told for told in side if told.part == part]
    return found[0] if found and len({told.name for told in found}) == 1 else None


def _number(side: Sequence[Told], settings: Sequence[Ingredient], part: str) -> Known | None:
    """The number that a program uses for a part, if there is only one."""
    used = [value for told in side for name, value in told.values.items() if told.roles.get(name) == part]
    if not used:
        used = [
            Known(one.traced.value, Mark(one.traced.text, one.path, one.span, one.traced.stations))
            for one in settings
            if one.part == part and one.traced.known
        ]
    return used[0] if used and len({canonical(one.value) for one in used}) == 1 else None


def operations(recipe: Recipe, tracer: Tracer) -> list[Told]:
    """The operations of a program that have a name without framework, those for evaluation alone left out."""
    return [
        _told(step, tracer)
        for home, steps in recipe.homes.items()
        if recipe.runs(home)
        for step in steps
        if step.known is not None and step.known.neutral and step.counts and not step.evaluates
    ]


def _told(step: Step, tracer: Tracer) -> Told:
    known = step.known
    assert known is not None
    given: dict[str, object] = {}
    marks: dict[str, Mark] = defaultdict(lambda: Mark("", step.module.path, step.span))
    missing = {argument.name for argument in step.arguments}
    for argument in step.arguments:
        traced = tracer.trace(step.module, argument.value, argument.block, argument.line, argument.span or step.span)
        if traced.known:
            given[argument.name] = traced.value
            place = traced.stations[0] if traced.stations else None
            marks[argument.name] = Mark(
                traced.text,
                place.path if place else step.module.path,
                place.span if place else step.span,
                traced.stations,
            )
    values = {name: value for name, value in known.effective({}).items() if name not in missing} | given
    neutral = known.neutral_values(values)
    back = {other: name for name, other in known.neutral_names.items()}
    return Told(
        known.neutral,
        step.part,
        Mark(known.neutral, step.module.path, step.span),
        {name: Known(value, _shown(marks[_origin(back, name)], value)) for name, value in neutral.items()},
        {name: known.roles[_origin(back, name)] for name in neutral if _origin(back, name) in known.roles},
    )


def _origin(back: dict[str, str], neutral: str) -> str:
    """The parameter behind a name without framework: ``betas`` behind ``beta1``."""
    return back.get(neutral, neutral).partition("[")[0]


def _shown(mark: Mark, value: object) -> Mark:
    return Mark(shown_plain(value), mark.path, mark.span, mark.stations)
