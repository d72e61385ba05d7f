"""A project that a run or a session has checked before is opened without evaluating it again, and says the same."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import msgspec
import pytest

import npulint.commands.session
from npulint.commands.check.pipeline import run
from npulint.commands.check.project_runner import evaluate_project
from npulint.commands.session import Checked, Session
from npulint.facts.model import FileFacts
from npulint.judge.postprocess.record import RawResults
from npulint.judge.settings import Settings
from tests.test_session import BAD, HELPER, names, write

SETTINGS = Settings(paths=(".",), cache=True)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project in the working directory, and an empty cache."""
    project = tmp_path / "project"
    write(project, {"requirements.txt": "tensorflow\n", "train.py": BAD, "helper.py": HELPER})
    monkeypatch.chdir(project)
    monkeypatch.setenv("NPULINT_CACHE_DIR", str(tmp_path / "cache"))
    return project


@pytest.fixture
def evaluations(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The number of files of each evaluated project."""
    found: list[int] = []

    def evaluate(root: str, files: list[FileFacts], *rest: object) -> RawResults:
        found.append(len(files))
        evaluated: Callable[..., RawResults] = evaluate_project
        return evaluated(root, files, *rest)

    monkeypatch.setattr(npulint.commands.session, "evaluate_project", evaluate)
    return found


def uncached(text: str = BAD) -> Checked:
    session = Session(msgspec.structs.replace(SETTINGS, cache=False))
    session.change("train.py", text.encode())
    return session.check("train.py")


def test_what_a_run_has_stored_is_not_evaluated_again(folder: Path, evaluations: list[int]) -> None:
    run(SETTINGS)
    session = Session(SETTINGS)
    session.change("train.py", BAD.encode())
    assert session.check("train.py") == session.check("helper.py") == uncached()
    assert len(evaluations) == 1  # of the one without a cache


def test_a_run_over_one_file_uses_the_results_of_the_project(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run(SETTINGS)
    alone = msgspec.structs.replace(SETTINGS, paths=("train.py",))
    expected = run(msgspec.structs.replace(alone, cache=False)).findings
    monkeypatch.setattr("npulint.commands.check.project_runner.evaluate_project", None)  # cannot be called
    assert run(alone).findings == expected != []


def test_what_a_session_has_stored_is_not_evaluated_again(folder: Path, evaluations: list[int]) -> None:
    first = Session(SETTINGS)
    checked = first.check("train.py")
    first.rest()
    first.rest()
    assert Session(SETTINGS).check("train.py") == checked
    assert len(evaluations) == 1


@pytest.mark.parametrize("rests", [False, True])
def test_an_edit_after_the_opening_says_the_same(folder: Path, rests: bool) -> None:
    run(SETTINGS)
    session = Session(SETTINGS)
    session.check("train.py")
    if rests:
        session.rest()
    for text in (BAD + "y = tf.nn.dropout(x, 0.5)\n", "# moved\n" + BAD, BAD.replace("helper", "other"), BAD):
        session.change("train.py", text.encode())
        assert session.check("train.py") == uncached(text)


@pytest.mark.parametrize("rests", [False, True])
def test_a_file_broken_by_the_first_edit_has_last_good_facts(folder: Path, rests: bool) -> None:
    run(SETTINGS)
    session = Session(SETTINGS)
    good = session.check("helper.py").findings
    if rests:
        session.rest()
    session.change("train.py", (BAD + "def half(\n").encode())
    checked = session.check("train.py")
    assert names(checked, "train.py") == ["syntax-error"]
    assert checked.findings["helper.py"] == good["helper.py"]


def test_the_first_edit_after_a_rest_evaluates_once(folder: Path, evaluations: list[int]) -> None:
    run(SETTINGS)
    session = Session(SETTINGS)
    session.check("train.py")
    session.rest()
    assert len(evaluations) == 1
    session.change("train.py", (BAD + "y = 1\n").encode())
    session.check("train.py")
    assert len(evaluations) == 2


def test_texts_that_are_not_saved_are_not_stored(folder: Path, evaluations: list[int]) -> None:
    first = Session(SETTINGS)
    first.change("train.py", (BAD + "y = 1\n").encode())
    first.check("train.py")
    first.rest()
    second = Session(SETTINGS)
    second.change("train.py", (BAD + "y = 1\n").encode())
    second.check("train.py")
    assert len(evaluations) == 2


def test_a_text_is_stored_once_it_is_saved(folder: Path, evaluations: list[int]) -> None:
    edited = BAD + "y = 1\n"
    first = Session(SETTINGS)
    first.change("train.py", edited.encode())
    first.check("train.py")
    first.rest()
    (folder / "train.py").write_text(edited)
    first.touched(["train.py"])
    first.check("train.py")
    first.rest()
    second = Session(SETTINGS)
    assert second.check("train.py") == uncached(edited)
    assert len(evaluations) == 2  # one of them without a cache


def test_results_with_last_good_facts_are_not_stored(folder: Path) -> None:
    broken = BAD + "def half(\n"
    first = Session(SETTINGS)
    first.check("train.py")
    (folder / "train.py").write_text(broken)
    first.check("train.py")
    first.rest()
    assert Session(SETTINGS).check("train.py") == uncached(broken)


def test_other_targets_have_other_results(folder: Path, evaluations: list[int]) -> None:
    run(SETTINGS)
    session = Session(msgspec.structs.replace(SETTINGS, target={"soc": "Ascend910B1"}))
    session.check("train.py")
    assert len(evaluations) == 1


@pytest.mark.parametrize(
    "value",
    [b"", b"\xc1", b"\x90" * 40, msgspec.msgpack.encode({"findings": [{"code": 1}]}), b"\x91" * 100_000],
    ids=["empty", "garbage", "lists", "types", "deep"],
)
def test_what_somebody_has_put_into_the_cache_is_made_again(folder: Path, tmp_path: Path, value: bytes) -> None:
    expected = run(SETTINGS).findings
    assert expected == run(msgspec.structs.replace(SETTINGS, cache=False)).findings
    _replace(tmp_path / "cache", value)
    assert Session(SETTINGS).check("train.py") == uncached()
    assert run(SETTINGS).findings == expected
    assert run(SETTINGS).findings == expected


def _replace(cache: Path, value: bytes) -> None:
    """Gives every entry another value, with its checksum."""
    from npulint.core.cache import _sum

    (path,) = cache.glob("*.sqlite")
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT count(*) FROM entry").fetchone()[0] > 0
        connection.execute("UPDATE entry SET value = ?, sum = ?, size = ?", (value, _sum(value), len(value)))
        connection.commit()
