"""Comparison of programs of two different frameworks, whose code cannot be aligned: by framework-neutral names such as
learning rate, batch size, ``adam.beta1`` and the kind of loss."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence

import msgspec

from npulint.commands.compare.values import shown_plain
from npulint.commands.training_config.program import TrainingConfig
from npulint.commands.training_config.provenance.plain import canonical
from npulint.commands.training_config.steps.model import CodeStep, Home
from npulint.commands.training_config.tracer import Tracer
from npulint.data.recipe import RecipeCall, neutral_parameters
from npulint.facts.comparison.difference import Difference, SideValue, of_both, of_one
from npulint.facts.recipe import TrainingSetting

# Compares layers, dropout, preprocessing and schedules of programs of two frameworks by kind: how many there are and
# with which values. Their positions in the code are not comparable.

_WEIGHTED = frozenset(("filters", "units", "epsilon", "output_dim", "num_heads"))
"""Parameters of layers that have trainable weights."""
_SIZES = ("filters", "units", "output_dim")
_UNSCALED = frozenset(("normalize",))  # may be done by arithmetic; pixel ranges 0…1 and 0…255 differ in their values


class PlacedValue(msgspec.Struct, frozen=True, eq=False):
    """A known value with its place."""

    value: object
    mark: SideValue


class KindSummary(msgspec.Struct, frozen=True, eq=False):
    """An operation and its arguments by framework-neutral names. `once`: the code creates exactly one."""

    name: str
    part: str
    mark: SideValue
    values: dict[str, PlacedValue]
    roles: dict[str, str]
    once: bool = True


_Comparing = Callable[[str, list[KindSummary], list[KindSummary]], Iterator[Difference]]


def of_kinds(reference: Sequence[KindSummary], migrated: Sequence[KindSummary]) -> Iterator[Difference]:
    """The differences by kind. A kind that only one side has is reported as uncertain: the other may implement it
    differently."""
    yield from _of_part(reference, migrated, "layer", _of_layers)
    yield from _of_part(reference, migrated, "dropout", _of_rates)
    yield from _of_part(reference, migrated, "transform", _of_transforms)


def _of_part(
    reference: Sequence[KindSummary], migrated: Sequence[KindSummary], part: str, compare: _Comparing
) -> Iterator[Difference]:
    left, right = (_by_name(side, part) for side in (reference, migrated))
    layers = [
        next((kind_summary.mark for kind_summary in side if kind_summary.part in ("layer", part)), None)
        for side in (reference, migrated)
    ]
    for name in dict.fromkeys((*left, *right)):
        kind_summaries, other = left.get(name, []), right.get(name, [])
        if kind_summaries and other:
            yield from compare(name, kind_summaries, other)
        elif name in _UNSCALED:
            continue
        elif kind_summaries and layers[1] is not None:
            yield of_one(
                part,
                "removed",
                name,
                "",
                kind_summaries[0].mark,
                near=layers[1],
                certain=False,
                count=len(kind_summaries),
            )
        elif other and layers[0] is not None:
            yield of_one(part, "added", name, "", other[0].mark, certain=False, count=len(other))


def _by_name(side: Sequence[KindSummary], part: str) -> dict[str, list[KindSummary]]:
    name: dict[str, list[KindSummary]] = {}
    for kind_summary in side:
        if kind_summary.part == part and (
            part != "layer" or _WEIGHTED & set(neutral_parameters().get(kind_summary.name, ()))
        ):
            name.setdefault(kind_summary.name, []).append(kind_summary)
    return name


def _of_layers(name: str, kind_summaries: list[KindSummary], other: list[KindSummary]) -> Iterator[Difference]:
    """Compares the number of layers, if the code determines it, and their sizes in any order."""
    if not all(layer.once for layer in (*kind_summaries, *other)):
        return
    marks = [side[0].mark.shown_as(str(len(side))) for side in (kind_summaries, other)]
    if len(kind_summaries) != len(other):
        yield Difference("layer", "changed", name, "number", marks[0], marks[1], certain=False)
        return
    yield Difference("layer", "none", name, "number", marks[0], marks[1])
    for size in _SIZES:
        sizes = [[layer.values[size] for layer in side if size in layer.values] for side in (kind_summaries, other)]
        if len(sizes[0]) == len(kind_summaries) == len(sizes[1]):
            yield from _listed("layer", name, size, sizes[0], sizes[1])


def _of_rates(name: str, kind_summaries: list[KindSummary], other: list[KindSummary]) -> Iterator[Difference]:
    """Compares the sets of rates, ignoring how often each occurs."""
    rates = [
        _different([summary.values["rate"] for summary in side if "rate" in summary.values])
        for side in (kind_summaries, other)
    ]
    if rates[0] and rates[1]:
        yield from _listed("dropout", name, "rate", rates[0], rates[1])


def _of_transforms(name: str, kind_summaries: list[KindSummary], other: list[KindSummary]) -> Iterator[Difference]:
    """Compares the values of transforms that each side has exactly once."""
    yield Difference("transform", "none", name, "", kind_summaries[0].mark, other[0].mark)
    if len(kind_summaries) == len(other) == 1 and name not in _UNSCALED:
        for value in sorted(kind_summaries[0].values.keys() & other[0].values.keys()):
            first, second = kind_summaries[0].values[value], other[0].values[value]
            if first.value is not None and second.value is not None:
                yield from _listed("transform", name, value, [first], [second])


def _listed(
    part: str, name: str, argument: str, placed_values: list[PlacedValue], other: list[PlacedValue]
) -> Iterator[Difference]:
    """Compares values of both sides as multisets; if there are several, the place of the difference is uncertain."""
    if sorted(map(_key, placed_values)) == sorted(map(_key, other)):
        yield Difference(part, "none", name, argument, placed_values[0].mark, other[0].mark)
        return
    marks = [
        side[0].mark.shown_as(", ".join(shown_plain(value.value) for value in side)) for side in (placed_values, other)
    ]
    certain = len(placed_values) == len(other) == 1
    yield Difference(part, "changed", name, argument, marks[0], marks[1], certain=certain)


def _different(values: Sequence[PlacedValue]) -> list[PlacedValue]:
    return list({_key(value): value for value in reversed(values)}.values())[::-1]


def _key(placed_value: PlacedValue) -> str:
    return repr(canonical(placed_value.value))


_KINDS = ("optimizer", "schedule", "loss", "clipping", "average", "loss_scale")
"""Parts of which most programs have exactly one operation."""
_NUMBERS = ("learning_rate", "batch_size", "epochs", "steps", "weight_decay", "momentum", "seed")
"""Parts that are a single number in most programs."""
_DECAYING = {"adam", "adamw"}
_COUNTS = frozenset(("batch_size", "epochs", "steps"))  # zero or less has a special meaning in these
_NONE_IS_ZERO = frozenset(("weight_decay", "momentum"))


def of_frameworks(
    reference: Sequence[KindSummary],
    migrated: Sequence[KindSummary],
    first: Sequence[TrainingSetting],
    second: Sequence[TrainingSetting],
    scheduled: tuple[bool, bool] = (True, True),
) -> Iterator[Difference]:
    """The differences between programs of two frameworks. `first` and `second` are the settings of the two sides,
    `scheduled` says of each whether it changes the learning rate at all."""
    for part in _KINDS:
        left, right = (_single(side, part) for side in (reference, migrated))
        if left is None or right is None:
            continue
        if left.name != right.name and not _are_one_without_decay(left, right):
            yield Difference(part, "changed", left.name, "", left.mark, right.mark)
            continue
        yield Difference(part, "none", left.name, "", left.mark, right.mark)
        for name in left.values.keys() & right.values.keys():
            role = right.roles.get(name, part)
            if role not in _NUMBERS:
                yield _compared(role, left.name, name, left.values[name], right.values[name])
    yield from _of_schedules(reference, migrated, scheduled)
    yield from of_kinds(reference, migrated)
    for part in _NUMBERS:
        placed_value, other = _number(reference, first, part), _number(migrated, second, part)
        if placed_value is not None and other is not None:
            yield _compared(part, part, "", placed_value, other)


def _are_one_without_decay(left: KindSummary, right: KindSummary) -> bool:
    """Whether two optimizers differ only in the form of weight decay, and neither of them decays weights."""
    decays = [side.values.get("weight_decay") for side in (left, right)]
    none = all(decay is None or decay.value in (None, 0) for decay in decays)
    return none and {left.name, right.name} == _DECAYING


def _of_schedules(
    reference: Sequence[KindSummary], migrated: Sequence[KindSummary], scheduled: tuple[bool, bool]
) -> Iterator[Difference]:
    """A difference for a schedule that only one side has, shown next to the other side's optimizer."""
    left, right = (_single(side, "schedule") for side in (reference, migrated))
    other = _single(reference if right else migrated, "optimizer")
    if scheduled[0] == scheduled[1] or other is None:
        return
    if left is not None:
        yield Difference("schedule", "removed", left.name, "", left.mark, near=other.mark, certain=False)
    elif right is not None:
        yield Difference("schedule", "added", right.name, "", None, right.mark, certain=False)


def scheduled(config: TrainingConfig) -> bool:
    """Whether anything in a program changes the learning rate during training."""
    return any(step.part == "schedule" for step in config.all_steps())


def _compared(part: str, what: str, argument: str, placed_value: PlacedValue, other: PlacedValue) -> Difference:
    values = [0 if value is None and part in _NONE_IS_ZERO else value for value in (placed_value.value, other.value)]
    return of_both(part, canonical(values[0]) == canonical(values[1]), what, argument, placed_value.mark, other.mark)


def _single(side: Sequence[KindSummary], part: str) -> KindSummary | None:
    """The operation of a part, if the side has exactly one kind of it."""
    kind_summaries = [operation for operation in side if operation.part == part]
    return kind_summaries[0] if kind_summaries and len({operation.name for operation in kind_summaries}) == 1 else None


def _number(side: Sequence[KindSummary], settings: Sequence[TrainingSetting], part: str) -> PlacedValue | None:
    """The number that a program uses for a part, if there is exactly one."""
    used = [
        value for operation in side for name, value in operation.values.items() if operation.roles.get(name) == part
    ]
    if not used:
        used = [
            PlacedValue(
                setting.traced.value,
                SideValue(setting.traced.text, setting.path, setting.span, setting.traced.provenance),
            )
            for setting in settings
            if setting.part == part and setting.traced.known
        ]
    if part in _COUNTS:
        used = [
            placed_value
            for placed_value in used
            if not isinstance(placed_value.value, int | float) or placed_value.value > 0
        ]
    return used[0] if used and len({canonical(placed_value.value) for placed_value in used}) == 1 else None


def operations(config: TrainingConfig, tracer: Tracer) -> list[KindSummary]:
    """The operations of a program that have a framework-neutral name, except those used only for evaluation."""
    made = Counter(step.target for steps in config.homes.values() for step in steps if step.target is not None)
    return [
        _summary(step, step.recipe, tracer, _is_made_once(step, made))
        for step in config.all_steps()
        if step.recipe is not None and step.recipe.neutral and step.counts and not step.evaluates
    ]


def _is_made_once(step: CodeStep, made: Counter[Home]) -> bool:
    """Whether the code creates the operation once, judging by the loops and calls around it."""
    path, function = step.home
    looped = any(ancestor.kind == "loop" for ancestor in step.scope.ancestors)
    return not looped and max(made[path, around] for around in (function, step.module.class_of(function))) <= 1


def _summary(step: CodeStep, recipe_call: RecipeCall, tracer: Tracer, once: bool) -> KindSummary:
    side_value = SideValue(recipe_call.neutral, step.scope.path, step.span)
    passed: dict[str, object] = {}
    marks: dict[str, SideValue] = defaultdict(lambda: side_value)
    missing = {argument.name for argument in step.arguments}
    for argument in step.arguments:
        traced = tracer.trace(argument.expr, argument.span or step.span)
        if traced.known:
            passed[argument.name] = traced.value
            marks[argument.name] = SideValue.traced(traced, step.scope.path, step.span)
    defaults = {} if step.is_open else recipe_call.effective({})
    values = {name: value for name, value in defaults.items() if name not in missing} | passed
    neutral = recipe_call.neutral_values(values)
    back = {other: name for name, other in recipe_call.neutral_names.items()}
    return KindSummary(
        recipe_call.neutral,
        step.part,
        side_value,
        {
            name: PlacedValue(value, marks[_origin(back, name)].shown_as(shown_plain(value)))
            for name, value in neutral.items()
        },
        {name: recipe_call.roles[_origin(back, name)] for name in neutral if _origin(back, name) in recipe_call.roles},
        once,
    )


def _origin(back: dict[str, str], neutral: str) -> str:
    """The framework's parameter for a neutral name: ``betas`` for ``beta1``."""
    return back.get(neutral, neutral).partition("[")[0]
