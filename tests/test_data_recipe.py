"""The tables of the vocabulary of recipes hold together, and asking them never fails."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from npulint.data.names import canonical
from npulint.data.recipe import RecipeCall, converted, is_half, neutral_parameters, recipe_call
from npulint.data.recipe_tables import NOTHING, SPELLING, RecipeRow, sheet, signature, spelled_out
from npulint.facts.recipe import ITEM_OF

SOURCES = ("tensorflow", "torch", "host")
HOWS = {"", *"complement negated reciprocal caseless named equal sequence flag averaged reduced".split()}
FLAGS = {"host", "adapter", "through"}


def rows(source: str) -> list[RecipeRow]:
    return sheet(source).rows


def exact(source: str) -> list[tuple[RecipeRow, str]]:
    """The names without wildcards, each with its row."""
    return [(row, name) for row in rows(source) for name, _ in spelled_out(row.pattern) if "*" not in name]


@pytest.mark.parametrize("source", SOURCES)
def test_parts_roles_conversions_and_flags_are_words_that_exist(source: str) -> None:
    wrong: list[tuple[str, str]] = []
    for row in rows(source):
        if row.part not in (NOTHING, SPELLING, *ITEM_OF):
            wrong.append((row.pattern, row.part))
        wrong += [(row.pattern, one) for one in row.roles.split() if one.partition("=")[2] not in ITEM_OF]
        wrong += [
            (row.pattern, one) for one in row.renamed.split() if one.partition("=")[2].partition(":")[2] not in HOWS
        ]
        wrong += [(row.pattern, one) for one in row.flags.split() if one.partition("=")[0] not in FLAGS]
    assert wrong == []


@pytest.mark.parametrize("source", SOURCES)
def test_every_name_stands_once(source: str) -> None:
    names = [name for _, name in exact(source)]
    assert sorted({name for name in names if names.count(name) > 1}) == []


@pytest.mark.parametrize("source", SOURCES)
def test_names_are_canonical(source: str) -> None:
    plain = [name for _, name in exact(source) if not name.startswith("?") and "(" not in name]
    assert [(name, canonical(name)) for name in plain if canonical(name) != name] == []


@pytest.mark.parametrize("source", SOURCES)
def test_signatures_are_python(source: str) -> None:
    for row in rows(source):
        if not row.signature.startswith("="):
            signature(row.signature)


@pytest.mark.parametrize("source", SOURCES)
def test_every_name_is_found_by_its_row(source: str) -> None:
    for row, name in exact(source):
        known = recipe_call(name, source)
        if row.part == NOTHING and "through=" not in row.flags:
            assert known is None, name
        else:
            assert known is not None, name


@pytest.mark.parametrize("source", SOURCES)
def test_a_name_that_stands_for_others_stands_for_itself(source: str) -> None:
    """`same_as` may be a name that is only used for comparing; else that name is compared under itself, and as the
    same kind of thing."""
    wrong = []
    for row, name in exact(source):
        known = recipe_call(name, source) if row.part not in (NOTHING, SPELLING) else None
        base = recipe_call(known.same_as, source) if known is not None else None
        if known is not None and base is not None and (base.same_as, base.part) != (known.same_as, known.part):
            wrong.append((name, known.same_as, base.same_as, known.part, base.part))
    assert wrong == []


@pytest.mark.parametrize("source", SOURCES)
def test_neutral_names_and_their_parameters_exist(source: str) -> None:
    wrong = []
    for _, name in exact(source):
        known = recipe_call(name, source)
        if known is None or not known.neutral:
            continue
        allowed = neutral_parameters().get(known.neutral)
        if allowed is None or not set(known.neutral_names.values()) <= set(allowed):
            wrong.append((name, known.neutral, known.neutral_names))
        compared = {known.compared(parameter) for parameter in known.parameters}
        if known.parameters and not {own.partition("[")[0] for own in known.neutral_names} <= compared:
            wrong.append((name, known.neutral, known.neutral_names))
    assert wrong == []


@pytest.mark.parametrize("source", SOURCES)
def test_what_is_given_on_is_a_parameter(source: str) -> None:
    for _, name in exact(source):
        known = recipe_call(name, source)
        if known is not None and known.through and known.parameters:
            assert known.through in (*known.parameters, known.rest, "self"), name


def test_both_frameworks_share_most_neutral_names() -> None:
    used = {
        source: {row.neutral.split()[0] for row in rows(source) if row.neutral and "*" not in row.neutral}
        for source in SOURCES
    }
    assert len(used["tensorflow"] & used["torch"]) > 60


def test_the_row_with_the_longest_plain_beginning_wins() -> None:
    assert recipe_call("tensorflow.image.encode_jpeg") is None
    known = recipe_call("tensorflow.image.some_new_transform")
    assert known is not None
    assert known.part == "transform"


@given(st.text(alphabet="?tensorflow.chkyump()[]:*{}_ nd", max_size=60), st.sampled_from(["", "tensorflow", "torch"]))
def test_asking_never_fails(name: str, framework: str) -> None:
    known = recipe_call(name, framework)
    assert known is None or known.name


@given(
    st.sampled_from(sorted(HOWS)), st.one_of(st.integers(), st.floats(), st.text(), st.none(), st.tuples(st.integers()))
)
def test_converting_never_fails_and_twice_the_complement_is_the_value(how: str, value: object) -> None:
    changed = converted(how, value)
    if how == "complement" and isinstance(value, int):
        assert converted(how, changed) == value


def test_elements_of_sequences_have_neutral_names() -> None:
    call = RecipeCall("x", "optimizer", "x", neutral="adam", neutral_names={"betas[0]": "beta1", "betas[1]": "beta2"})
    assert call.neutral_values({"betas": (0.8, 0.99), "epsilon": 1e-8}) == {
        "beta1": 0.8,
        "beta2": 0.99,
        "epsilon": 1e-8,
    }
    assert call.neutral_values({"betas": (0.8,)}) == {"beta1": 0.8}


def test_signatures_tell_what_is_given_by_place() -> None:
    told = signature("a, b=1, *rest, c=(1, [2]), d=..., **more")
    assert (told.parameters, told.positional, told.rest) == (("a", "b", "c", "d"), 2, "rest")
    assert told.defaults == {"b": 1, "c": (1, (2,))}
    with pytest.raises(SyntaxError):
        signature("a, a b")


@pytest.mark.parametrize(
    ("value", "half"),
    [
        ("tensorflow.float16", True),
        ("torch.half", True),
        ("bfloat16", True),
        ("float32", False),
        (16, False),
        ("", False),
    ],
)
def test_types_of_16_bits_are_known(value: object, half: bool) -> None:
    assert is_half(value) == half
