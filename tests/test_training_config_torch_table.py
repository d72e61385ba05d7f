"""The table of PyTorch calls agrees with itself, and its signatures are those of the library."""

from __future__ import annotations

import json
from functools import cache

import pytest

from npulint.data import table
from npulint.data.recipe import recipe_call
from npulint.data.recipe_tables import NOTHING, SPELLING, RecipeRow, sheet, signature, spelled_out
from tests.training_config_support import known

pytestmark = pytest.mark.slow

RELEASE = "2.13"
ROWS = sheet("torch").rows
PLAIN = [(row, name, word) for row in ROWS for name, word in spelled_out(row.pattern) if "*" not in name]


def test_names_under_which_calls_are_compared_resolve() -> None:
    names = {known(name).same_as for row, name, _ in PLAIN if row.part not in (NOTHING, SPELLING)}
    names -= {name for name in names if name.startswith("?") or name == "torch.nn.Module()"}
    assert sorted(name for name in names if (call := recipe_call(name)) is None or call.same_as != name) == []


def test_spellings_lead_to_a_row() -> None:
    targets = {name: row.same_as.replace("*", word) for row, name, word in PLAIN if row.part == SPELLING}
    assert len(targets) > 100
    assert [name for name, target in targets.items() if recipe_call(name, "torch") != known(target)] == []


def test_parameters_that_rows_name_are_those_of_a_call() -> None:
    for row in ROWS:
        if row.part == SPELLING or "*" in row.pattern:
            continue
        calls = [call for name, _ in spelled_out(row.pattern) if (call := recipe_call(name, "torch")) is not None]
        given = [call for call in calls if call.parameters and "**" not in _written(row, call.name)]
        names = {name for call in given for name in call.parameters}
        names |= {name for call in given for pair in call.renamed.items() for name in (pair[0], pair[1][0])}
        for call in given:
            assert {*call.roles, *(text.partition("[")[0] for text in call.neutral_names)} <= names, call.name


def _written(row: RecipeRow, name: str) -> str:
    return row.signature or _recorded().get(name, "")


@cache
def _recorded() -> dict[str, str]:
    signatures: dict[str, str] = json.loads(table("signatures_torch.json"))
    return signatures


def test_recorded_signatures_are_those_of_the_library() -> None:
    torch = pytest.importorskip("torch")
    from scripts.record_signatures import text_of
    from scripts.record_signatures import torch as record

    if not torch.__version__.startswith(RELEASE):
        pytest.skip(f"the signatures are those of PyTorch {RELEASE}")
    assert text_of(record()) == table("signatures_torch.json").decode()


def test_recorded_signatures_can_be_read() -> None:
    read = [signature(text) for text in _recorded().values()]
    assert sum(bool(one.parameters or one.rest) for one in read) > 900
