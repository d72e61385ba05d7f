"""Compares layers, dropout, preprocessing and schedules of programs of two frameworks by kind: how many there are and
with which values. Their positions in the code are not comparable."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import msgspec

from npulint.commands.compare.values import shown_plain
from npulint.commands.training_config.provenance.plain import canonical
from npulint.data.recipe import neutral_parameters
from npulint.facts.comparison.difference import Difference, SideValue, of_one

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
