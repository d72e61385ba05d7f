"""Every row of the option table, in every way of setting it: right, misspelt, of a wrong type, out of the list, out of
use, too new, and for another chip."""

from __future__ import annotations

import csv
from functools import cache
from pathlib import Path

import pytest

from npulint.commands.examples import check_sources
from npulint.data.options import MECHANISMS, AdapterOption, OptionUse, legal_keys, option, options
from npulint.judge.catalogue.check import Catalogue
from npulint.judge.catalogue.load import load_files
from npulint.judge.catalogue.sources import builtin_directory
from npulint.judge.findings import Finding
from scripts.source_tables import listed
from tests.option_support import right_value, script

_CHECKS = (
    "unknown-adapter-option option-of-another-mechanism adapter-option-wrong-field adapter-option-text-not-bytes "
    "adapter-option-bad-value adapter-option-wrong-type deprecated-adapter-option removed-run-config-argument "
    "jit-compile-as-bool option-not-in-release session-key-not-in-release option-for-another-chip"
).split()
_TOO_NEW = {"session_key": "session-key-not-in-release"}

Row = tuple[AdapterOption, str, OptionUse]
ROWS: list[Row] = [(o, m, o.uses[m]) for o in options() for m in o.mechanisms]
IDS = [f"{mechanism}-{use.name}" for _, mechanism, use in ROWS]


def _declared(release: str) -> str:
    """An adapter release of the tables as people declare it."""
    short = "9.0" if release == "2026" else release.removeprefix("r").removesuffix(".0")
    return "1.14.0" if short == "1.14" else short  # 1.14 may be 1.14.1 as well


_RELEASES = [_declared(release) for release in listed("tensorflow_adapter")]


@cache
def _catalogue() -> Catalogue:
    return load_files([str(Path(builtin_directory()) / "tensorflow" / f"{name}.yaml") for name in _CHECKS])


def _findings(row: Row, value: object, field: str = "", name: str = "", **target: str) -> list[Finding]:
    known, mechanism, use = row
    text = script(mechanism, (name or use.name, field or known.field, value))
    return check_sources({"train.py": text}, target, _catalogue()).findings


def _names(row: Row, value: object, field: str = "", name: str = "", **target: str) -> set[str]:
    return {finding.name for finding in _findings(row, value, field, name, **target)}


def _out_of_use(row: Row) -> set[str]:
    known, mechanism, _ = row
    if known.status == "active":
        return set()
    if known.status == "removed" and mechanism == "run_config":
        return {"removed-run-config-argument"} if known.key != "es_cluster_config" else set()
    return {"deprecated-adapter-option"}


def _field(row: Row) -> str:
    return row[0].field if row[1] == "session_key" else ""


@pytest.mark.parametrize("row", ROWS, ids=IDS)
def test_an_option_that_is_set_rightly_is_only_told_to_be_out_of_use(row: Row) -> None:
    assert _names(row, right_value(row[2], _field(row))) == _out_of_use(row)


@pytest.mark.parametrize("row", ROWS, ids=IDS)
def test_a_misspelt_option_is_unknown(row: Row) -> None:
    known, _, use = row
    found = _findings(row, right_value(use, _field(row)), name=f"{use.name}x")
    assert [f.name for f in found] == ["unknown-adapter-option"]
    if known.status == "active":
        assert f"closest match: `{use.name}`" in found[0].message


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_a_name_of_another_mechanism_is_told_to_be_one(mechanism: str) -> None:
    foreign = sorted({u.name for o in options() for m, u in o.uses.items() if m != mechanism and o.status == "active"})
    foreign = [name for name in foreign if name not in legal_keys(mechanism) and "." not in name]
    assert len(foreign) > 5
    for name in foreign:
        text = script(mechanism, (name, "s", "text"))
        found = {f.name for f in check_sources({"train.py": text}, {}, _catalogue()).findings}
        assert (name, found) == (name, {"option-of-another-mechanism"})


_KEYS = [(row, name) for row, name in zip(ROWS, IDS, strict=True) if row[1] == "session_key" and row[0].field]


@pytest.mark.parametrize("row", [row for row, _ in _KEYS], ids=[name for _, name in _KEYS])
def test_a_session_key_in_a_wrong_field_is_reported(row: Row) -> None:
    wrong, value = ("i", 1) if row[0].field == "b" else ("b", True)
    expected = "jit-compile-as-bool" if row[0].key == "jit_compile" else "adapter-option-wrong-field"
    assert _names(row, value, wrong) == {expected} | _out_of_use(row)


def _wrong_type(row: Row) -> object:
    known, mechanism, use = row
    kind = {"s": "str", "b": "bool", "i": "int"}[known.field] if mechanism == "session_key" else use.type
    return 977 if kind in ("str", "object") else "seven"


_TYPED = [
    (row, name)
    for row, name in zip(ROWS, IDS, strict=True)
    if (row[0].field if row[1] == "session_key" else row[2].type not in ("any", "object") or row[2].values)
    and (row[2].listed or row[1] != "npu_options")
]


@pytest.mark.parametrize("row", [row for row, _ in _TYPED], ids=[name for _, name in _TYPED])
def test_a_value_of_the_wrong_type_is_reported_once(row: Row) -> None:
    found = _names(row, _wrong_type(row)) - _out_of_use(row)
    assert found == {"adapter-option-wrong-type"} or (row[2].listed and found == {"adapter-option-bad-value"})


def _outside(use: OptionUse, field: str) -> object | None:
    """A value of the right type that is not among the legal ones."""
    if use.type in ("object", "flag", "bool", "any"):
        return None
    if use.values:
        return "no such value" if use.type == "str" else 977
    if use.pattern:
        return "?"
    return use.low - 1 if use.low is not None else use.high + 1 if use.high is not None else None


_CLOSED = [(r, n) for r, n in zip(ROWS, IDS, strict=True) if _outside(r[2], _field(r)) is not None]


@pytest.mark.parametrize("row", [row for row, _ in _CLOSED], ids=[name for _, name in _CLOSED])
def test_a_value_outside_the_list_is_reported(row: Row) -> None:
    found = _names(row, _outside(row[2], _field(row)))
    assert found - _out_of_use(row) == {"adapter-option-bad-value"}


def _before(since: str) -> str:
    place = _RELEASES.index(_declared(since))
    return _RELEASES[place - 1] if place else ""


_LATER = [(r, n) for r, n in zip(ROWS, IDS, strict=True) if r[2].since and _before(r[2].since)]


@pytest.mark.parametrize("row", [row for row, _ in _LATER], ids=[name for _, name in _LATER])
def test_an_option_is_too_new_for_the_release_before_it_and_for_no_later_one(row: Row) -> None:
    _, mechanism, use = row
    value, expected = right_value(use, _field(row)), _TOO_NEW.get(mechanism, "option-not-in-release")
    release = _before(use.since)
    assert expected in _names(row, value, adapter=release)
    for later in (_RELEASES[_RELEASES.index(release) + 1], _RELEASES[-1]):
        assert expected not in _names(row, value, adapter=later)


_GONE = [(r, n) for r, n in zip(ROWS, IDS, strict=True) if r[2].until and r[1] == "run_config"]


@pytest.mark.parametrize("row", [row for row, _ in _GONE], ids=[name for _, name in _GONE])
def test_an_argument_that_went_is_refused_by_the_newest_release(row: Row) -> None:
    assert "removed-run-config-argument" in _names(row, right_value(row[2], ""), adapter="9.0")


_CHIPS = {"910A": "A1", "910B2": "A2", "910_93": "A3"}


@pytest.mark.parametrize(
    "row", [r for r in ROWS if r[2].chips], ids=[n for r, n in zip(ROWS, IDS, strict=True) if r[2].chips]
)
@pytest.mark.parametrize("soc", _CHIPS)
def test_an_option_of_other_chips_is_reported_for_a_declared_one(row: Row, soc: str) -> None:
    found = _names(row, right_value(row[2], _field(row)), soc=soc)
    assert ("option-for-another-chip" in found) is (_CHIPS[soc] not in row[2].chips)


_VALUES = [(r, n, v) for r, n in zip(ROWS, IDS, strict=True) for v in r[2].value_chips]


@pytest.mark.parametrize(("row", "value"), [(r, v) for r, _, v in _VALUES], ids=[f"{n}-{v}" for _, n, v in _VALUES])
def test_a_value_of_other_chips_is_reported_for_a_declared_one(row: Row, value: str) -> None:
    for soc, chip in _CHIPS.items():
        found = _names(row, value, soc=soc)
        assert ("option-for-another-chip" in found) is (chip not in row[2].value_chips[value])
    assert _names(row, value) == set()


_SCOPES = {"session1x": "session_key", "estimator1x": "run_config", "tf2_global_options": "npu_options"}
_RECORDED = Path(__file__).parent.parent.parent / "shared" / "knowledge" / "data" / "tf_adapter_params.csv"
_LEFT_OUT: dict[tuple[str, str], str] = {}  # (scope, name): why the table does not have it


@pytest.mark.skipif(not _RECORDED.is_file(), reason="the recorded parameters are not beside this project")
def test_every_recorded_parameter_is_in_the_table_or_left_out_for_a_reason() -> None:
    with open(_RECORDED, encoding="utf-8", newline="") as stream:
        recorded = [(row["scope"], row["name"]) for row in csv.DictReader(stream)]
    known = {(mechanism, use.name) for _, mechanism, use in ROWS}
    missing = [one for one in recorded if (_SCOPES[one[0]], one[1]) not in known]
    assert [one for one in missing if not _LEFT_OUT.get(one)] == []
    assert set(_LEFT_OUT) <= set(missing)


def test_the_rows_are_as_many_as_the_table_has() -> None:
    assert len(ROWS) > 300
    assert all(option(use.name) is not None for _, _, use in ROWS)
