"""What a comparison finds in small projects of ten styles that were changed at one place: options of launchers and
frameworks, configuration files, data classes, variables of the environment, the order of a training step."""

from __future__ import annotations

import functools

import pytest

from npulint.commands.compare.compare_command import compare_sources
from npulint.facts.recipe import ITEM_OF
from npulint.judge.catalogue.check import Catalogue
from npulint.judge.catalogue.load import load_catalogue
from npulint.judge.findings import ComparedItem, ComparedRow
from tests.mutations.small_table import SmallCase, small_mutations, small_programs, small_sources
from tests.mutations.table import Files, Place, changed_places, mutations, programs

pytestmark = pytest.mark.slow

# What a comparison does not tell, and why. A case that is found one day fails here, and is then taken out.
_MISSED = {
    "hf_code: shuffling removed": "a method of a data set on itself, which the trainer shuffles anyway",
    "tf_graph_rewrite: schedule removed": "a callback that is made and no longer passed",
}
_SURPLUS = 0.02


def named(case: SmallCase) -> str:
    return f"{case.program}: {case.name}"


@functools.cache
def catalogue() -> Catalogue:
    return load_catalogue((), whole=False)


@functools.cache
def compared(case: SmallCase) -> tuple[ComparedItem, ...]:
    """The items of the only pair of programs."""
    before, after = case.sides()
    return _items(before, after)


def _items(before: Files, after: Files) -> tuple[ComparedItem, ...]:
    sides = (("reference", before), ("migrated", after))
    files = {f"{side}/{path}": text for side, own in sides for path, text in own.items()}
    comparison = compare_sources(files, {}, catalogue()).comparison
    assert comparison is not None
    (pair,) = comparison.pairs
    return pair.items


def told(items: tuple[ComparedItem, ...]) -> list[ComparedRow]:
    return [row for item in items for row in item.rows if row.answer in ("differs", "note")]


def is_at(row: ComparedRow, places: tuple[list[Place], list[Place]]) -> bool:
    """Whether a row, or the way of its value, speaks of one of the changed places."""
    for side, changed in zip((row.reference, row.migrated), places, strict=True):
        ways = [(side.path, side.span.line), *((way.path, way.span.line) for way in side.stations)] if side else []
        if any(place.near(*way) for way in ways for place in changed):
            return True
    return False


def _cases() -> list[object]:
    missed = {name: pytest.mark.xfail(reason=why, strict=True) for name, why in _MISSED.items()}
    return [
        pytest.param(case, apart, id=named(case), marks=missed.get(named(case), ()))
        for case, apart in small_mutations()
    ]


def test_there_are_enough_of_them() -> None:
    names = {named(case) for case, _ in small_mutations()}
    assert len(names) == len(small_mutations()) >= 200
    assert len(names) + len(mutations()) >= 500
    assert len(small_programs()) + len(programs()) >= 18
    assert set(_MISSED) <= names
    assert len(_MISSED) <= 0.02 * len(names)


@pytest.mark.daily
@pytest.mark.parametrize(("case", "apart"), _cases())
def test_what_was_changed_is_told_and_its_item_is_not_consistent(case: SmallCase, apart: bool) -> None:
    items, places = compared(case), changed_places(*case.sides())
    wanted = {ITEM_OF[part] for part in case.parts}
    found = [row for row in told(items) if (apart or is_at(row, places)) and ITEM_OF[row.part] in wanted]
    assert found, f"{places[0]} is not reported, but: {told(items)}"
    noted = {ITEM_OF[row.part] for row in found if row.answer == "note"}
    assert noted or any(item.status == "differs" for item in items if item.item in wanted)


def test_little_else_is_told() -> None:
    cases = [case for case, apart in small_mutations() if not apart]
    surplus = [
        (named(case), row)
        for case in cases
        for row in told(compared(case))
        if not is_at(row, changed_places(*case.sides()))
    ]
    assert len({name for name, _ in surplus}) <= _SURPLUS * len(cases), surplus


@pytest.mark.parametrize("program", small_programs())
def test_a_small_project_is_the_same_as_itself(program: str) -> None:
    files = small_sources(program)
    items = _items(files, files)
    assert told(items) == []
    assert [part for item in items for part in item.parts if part.answer in ("differs", "unknown")] == []
