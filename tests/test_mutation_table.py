"""The tables of mutations and the rewrites themselves: what they make are programs, and they leave nothing out."""

from __future__ import annotations

import ast

import pytest
import yaml

from npulint.facts.recipe import ITEM_OF
from tests.mutations.naming import definitions, locals_of
from tests.mutations.rewrites import REWRITES
from tests.mutations.table import Case, changed_places, entry, equalities, mutations, programs, sources

MUTATIONS = mutations()
EQUALITIES = equalities()


def named(case: Case) -> str:
    return f"{case.program}: {case.name}"


def valid(files: dict[str, str]) -> None:
    """Every file can be read by the language that it is written in."""
    for path, text in files.items():
        if path.endswith(".py"):
            compile(text, path, "exec", dont_inherit=True)
        elif path.endswith((".yaml", ".json")):
            yaml.safe_load(text)


def test_there_are_enough_of_them() -> None:
    assert len(programs()) >= 6 and len(MUTATIONS) >= 80 and len(EQUALITIES) >= 25
    assert all(len(list(filter(None, "\n".join(sources(p).values()).split("\n")))) >= 150 for p in programs())


def test_no_name_is_there_twice() -> None:
    names = [named(case) for case in (*MUTATIONS, *EQUALITIES)]
    assert sorted(set(names)) == sorted(names)


def test_every_part_of_a_recipe_is_changed_somewhere() -> None:
    parts = {part for case in MUTATIONS for part in case.parts}
    assert parts == set(ITEM_OF)


@pytest.mark.parametrize("case", [*MUTATIONS, *EQUALITIES], ids=named)
def test_what_is_done_fits_and_leaves_a_program(case: Case) -> None:
    before, after = case.sides()
    assert before != after
    valid(before)
    valid(after)
    assert entry(case.program) in before


@pytest.mark.parametrize("case", MUTATIONS, ids=named)
def test_a_mutation_changes_one_place_of_what_exists(case: Case) -> None:
    before, after = case.sides()
    assert before.keys() == after.keys()
    left, right = changed_places(before, after)
    assert left and right and case.parts


@pytest.mark.parametrize("name", REWRITES)
@pytest.mark.parametrize("program", programs())
def test_a_rewrite_leaves_a_program(program: str, name: str) -> None:
    before = sources(program)
    after = REWRITES[name](before, entry(program))
    valid(after)
    assert (after == before) == (name == "copied") or name == "split_off"


@pytest.mark.parametrize("name", ["exploded", "commented", "requoted"])
@pytest.mark.parametrize("program", programs())
def test_another_layout_is_the_same_code(program: str, name: str) -> None:
    before = sources(program)
    after = REWRITES[name](before, entry(program))
    for path in before:
        if path.endswith(".py"):
            assert ast.dump(ast.parse(before[path])) == ast.dump(ast.parse(after[path]))


@pytest.mark.parametrize("program", programs())
def test_names_are_changed_that_may_be(program: str) -> None:
    files = sources(program)
    changed = {name for path in files for name in locals_of(path, files)}
    assert len(definitions(files)) >= 4 and len(changed) >= 15
    for path, text in REWRITES["renamed_locals"](files, entry(program)).items():
        if path.endswith(".py"):
            loaded = {node.id for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name)}
            assert not loaded & set(locals_of(path, files))
