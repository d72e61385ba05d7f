"""Steps that only one of two programs has."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

import msgspec

from npulint.compare.difference import Difference, Mark
from npulint.compare.step_pairs import Pairing
from npulint.compare.steps import function_of
from npulint.recipe.program import Home
from npulint.recipe.steps import Step

_SPEAKING = ("call", "own")  # a literal without counterpart says nothing by itself: what it is used for does
_MANY = 4  # steps of one part and function; so many are told together
_INNER = frozenset(("operation",))


def of_removed(pairing: Pairing, matched: set[Home]) -> Iterator[Difference]:
    """What the migrated program lacks. `matched` are the functions of the reference that have a counterpart."""
    for group in _grouped(pairing.removed):
        certain = _home(group[0]) in matched
        for step, count, names in _told(group, certain):
            near = pairing.neighbours.get(id(step))
            yield Difference(
                part=step.part,
                change="removed",
                what=names,
                reference=Mark(names, step.module.path, step.span),
                near=None if near is None else Mark("", near.module.path, near.span),
                certain=certain,
                count=count,
                function=function_of(step),
                evaluates=step.evaluates,
            )


def of_added(pairing: Pairing, matched: set[Home]) -> Iterator[Difference]:
    """What only the migrated program has. `matched` are its functions that have a counterpart."""
    for group in _grouped(pairing.added):
        certain = _home(group[0]) in matched
        for step, count, names in _told(group, certain):
            yield Difference(
                part=step.part,
                change="added",
                what=names,
                migrated=Mark(names, step.module.path, step.span),
                certain=certain,
                adapter=step.known is not None and step.known.adapter,
                count=count,
                function=function_of(step),
                evaluates=step.evaluates,
            )


def _home(step: Step) -> Home:
    return step.module.path, step.home


def _grouped(steps: Sequence[Step]) -> list[list[Step]]:
    """The steps that speak, by function and part."""
    groups: dict[tuple[Home, str], list[Step]] = defaultdict(list)
    for step in steps:
        if step.kind in _SPEAKING and step.counts:
            groups[_home(step), step.part].append(step)
    return list(groups.values())


def _told(group: list[Step], certain: bool) -> list[tuple[Step, int, str]]:
    """The steps of a group one by one, or together where they are many or their function has no counterpart."""
    if certain and len(group) < _MANY and group[0].part not in _INNER:
        return [(step, 1, step.shown) for step in group]
    names = list(dict.fromkeys(step.shown for step in group))
    shown = ", ".join(names[:_MANY]) + (", …" if len(names) > _MANY else "")
    return [(group[0], len(group), shown)]


class Leftovers(msgspec.Struct, frozen=True):
    """How much of two programs has no counterpart: steps that speak, of all."""

    left: int
    all: int
