"""What launchers, options and configuration files set, on both sides."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from npulint.compare.difference import Difference, Mark
from npulint.facts.recipe import Ingredient
from npulint.recipe.naming import told_part
from npulint.recipe.plain import canonical


def of_settings(reference: Sequence[Ingredient], migrated: Sequence[Ingredient]) -> Iterator[Difference]:
    """The settings of one name: where both values are known they differ or not. What only one side has says nothing by
    itself: what it is used for does."""
    theirs = {one.what: one for one in migrated}
    for one in {one.what: one for one in reference}.values():
        other = theirs.get(one.what)
        if other is None or not (one.traced.known and other.traced.known):
            continue
        same = canonical(one.traced.value) == canonical(other.traced.value)
        yield Difference(
            part=told_part(other.part if one.part == "setting" else one.part, one.what),
            change="none" if same else "changed",
            what=one.what,
            reference=_mark(one),
            migrated=_mark(other),
            named=True,
        )


def _mark(one: Ingredient) -> Mark:
    way = one.traced.stations
    if way:
        return Mark(one.traced.text, way[0].path, way[0].span, way)
    return Mark(one.traced.text, one.path, one.span)
