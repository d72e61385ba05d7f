"""Skeletons of new checks."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from npulint.commands.examples import judge
from npulint.judge.catalogue import scaffold
from npulint.judge.catalogue.codes import LAST, code_of
from npulint.judge.catalogue.examples import run_examples
from npulint.judge.catalogue.load import load_catalogue, load_files
from npulint.judge.catalogue.scaffold import create
from npulint.judge.catalogue.schema import WRITABLE
from tests.catalogue_samples import sample, write


@pytest.fixture
def builtin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An own catalogue in the place of the built-in one."""
    root = tmp_path / "checks"
    write(root, "retired.txt", "NPU1103 merged\n")
    write(root, "tensorflow/first.yaml", sample())
    monkeypatch.setattr(scaffold, "builtin_directory", lambda: str(root))
    return root


@pytest.mark.parametrize("family", WRITABLE)
def test_a_skeleton_is_valid_and_its_example_fails(builtin: Path, tmp_path: Path, family: str) -> None:
    path = create(str(tmp_path / "own"), family, "new-check")
    assert path == str(tmp_path / "own" / family / "new-check.yaml")
    (check,) = load_files([path]).checks
    assert (check.family, check.name, check.status) == (family, "new-check", "preview")
    assert "TODO" in check.text["en"].message
    assert "待写" in check.text["zh"].message
    words = [outcome.word for outcome in run_examples([check], [check], lambda files, target: [])]
    assert words == ["missing", "validated"]


@pytest.mark.parametrize(
    ("family", "category", "code"),
    [
        pytest.param("tensorflow", "functional", "NPU1104", id="after the last one, also a retired one"),
        pytest.param("tensorflow", "precision", "NPU1201", id="the first of a category"),
        pytest.param("pytorch", "hygiene", "NPU2401", id="the first of a family"),
    ],
)
def test_the_code_is_free(builtin: Path, family: str, category: str, code: str) -> None:
    (check,) = load_files([create(str(builtin), family, "new-check", category)]).checks
    assert (check.code, check.category) == (code, category)


def test_codes_of_broken_and_foreign_files_count(builtin: Path, tmp_path: Path) -> None:
    write(builtin, "tensorflow/broken.yaml", "x: [\ncode: 'NPU1107'\n")
    write(tmp_path, "own/tensorflow/mine.yaml", "code: NPU1109\n")
    (check,) = load_files([create(str(tmp_path / "own"), "tensorflow", "new-check")]).checks
    assert check.code == "NPU1110"


def test_a_gap_is_filled_when_the_last_code_is_taken_and_then_letters_follow(builtin: Path) -> None:
    write(builtin, "retired.txt", "".join(f"NPU11{n:02}\n" for n in range(1, 100) if n != 42))
    codes = []
    for name in ("new-check", "another-check", "third-check"):
        (check,) = load_files([create(str(builtin), "tensorflow", name)]).checks
        codes.append(check.code)
    assert codes == ["NPU1142", "NPU11A0", "NPU11A1"]


def test_codes_end_at_last(builtin: Path) -> None:
    write(builtin, "retired.txt", "".join(f"{code_of('NPU11', n)}\n" for n in range(1, LAST)))
    (check,) = load_files([create(str(builtin), "tensorflow", "new-check")]).checks
    assert check.code == "NPU11Z9"
    with pytest.raises(ValueError, match="all codes NPU1101 to NPU11Z9 are taken"):
        create(str(builtin), "tensorflow", "another-check")


def test_the_names_and_codes_of_tables_count(builtin: Path) -> None:
    write(builtin, "messages/logs.yaml", "new-check:\n  code: NPU1107\n  messages: {}\n")
    with pytest.raises(FileExistsError, match=r"'new-check' already exists: .*logs\.yaml"):
        create(str(builtin), "run", "new-check")
    write(builtin, "tensorflow/a-table.yaml", "shared:\n  code: x\na-row:\n  code: NPU1108\n")
    with pytest.raises(FileExistsError, match=r"'a-row' already exists: .*a-table\.yaml"):
        create(str(builtin), "run", "a-row")
    (check,) = load_files([create(str(builtin), "tensorflow", "other-check")]).checks
    assert check.code == "NPU1109"


# family: what a person writes in place of the question of the skeleton
FILLED = {
    "tensorflow": ("todo.name_of_the_call", "tensorflow.constant"),
    "pytorch": ("todo.name_of_the_call", "torch.zeros"),
    "launch": ("TODO_NAME_OF_THE_VARIABLE", "ANOTHER_VARIABLE"),
    "configuration": ("TODO_CAUSE_IN_THE_TABLE", "gpu-kernel-library"),
    "graph": ("TodoOperatorType", "PyFunc"),
    "run": ("TodoOperatorType", "Cast"),
    "compare": ('"TODO: operation or setting"', "SGD"),
    "machine": ("TodoHealth", "Offline"),
}


@pytest.mark.parametrize("family", WRITABLE)
def test_a_skeleton_holds_when_its_question_is_filled_in(tmp_path: Path, family: str) -> None:
    path = Path(create(str(tmp_path), family, "new-check"))
    text, (todo, wanted) = path.read_text(encoding="utf-8"), FILLED[family]
    assert text.count(todo) == 1
    framework = {"tensorflow": "tensorflow", "pytorch": "torch"}.get(family, "")
    assert all((f"import {one}" in text) == (one == framework) for one in ("tensorflow", "torch") if framework)
    path.write_text(text.replace(todo, wanted), encoding="utf-8")
    catalogue = load_catalogue((str(tmp_path),), use_cache=False)
    (check,) = [one for one in catalogue.checks if one.name == "new-check"]
    outcomes = run_examples([check], catalogue.checks, partial(judge, catalogue=catalogue))
    assert [outcome.word for outcome in outcomes] == ["reported", "validated"], [str(one) for one in outcomes]


def test_nothing_is_overwritten(builtin: Path) -> None:
    path = create(str(builtin), "tensorflow", "new-check")
    before = Path(path).read_bytes()
    for family in ("tensorflow", "pytorch"):
        with pytest.raises(FileExistsError, match="'new-check' already exists"):
            create(str(builtin), family, "new-check")
    assert Path(path).read_bytes() == before


@pytest.mark.parametrize(
    ("family", "name", "category", "message"),
    [
        pytest.param("jax", "new-check", "functional", "no family 'jax'", id="an unknown family"),
        pytest.param("engine", "new-check", "functional", "no family 'engine'", id="the engine itself"),
        pytest.param("../x", "new-check", "functional", "no family", id="a way out by the family"),
        pytest.param("tensorflow", "../x", "functional", "kebab case", id="a way out by the name"),
        pytest.param("tensorflow", "New", "functional", "kebab case", id="a capital"),
        pytest.param("tensorflow", "", "functional", "kebab case", id="no name"),
        pytest.param("tensorflow", "new-check", "speed", "no category 'speed'", id="an unknown category"),
    ],
)
def test_names_are_validated(builtin: Path, family: str, name: str, category: str, message: str) -> None:
    before = sorted(builtin.rglob("*"))
    with pytest.raises(ValueError, match=message):
        create(str(builtin), family, name, category)
    assert sorted(builtin.rglob("*")) == before
