"""A change of a program that means nothing changes nothing that npulint reports."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from scripts.metamorphic import BAR, checked, described, main, share_of_equal
from scripts.metamorphic_changes.judging import Answers, judge
from scripts.metamorphic_changes.projects import Project, folder_project, golden, rows
from scripts.metamorphic_changes.source import Edit, Program, Variant
from scripts.metamorphic_changes.table import CHANGES

SEED = 1
DAILY = (
    "tests/mutations/programs/tf_session",
    "tests/mutations/programs/torch_transformer",
    "tests/port_styles/projects/own_trainer",
    "examples/classifier_npu",
    "examples/migrated",
)
"""Projects of all sorts of which a variant of each change is checked each time."""
SESSION = """\
import tensorflow as tf
from npu_bridge.npu_init import *

loss = tf.reduce_mean(tf.layers.dense(tf.random.uniform([32, 784]), 10))
step = tf.train.AdamOptimizer(1e-3).minimize(loss)
config = tf.ConfigProto(allow_soft_placement=True)
with tf.Session(config=config) as sess:
    sess.run(step)
"""


@cache
def projects() -> dict[str, Project]:
    """All projects of the repository by their names."""
    return {project.name: project for project in (*rows(), *golden())}


def text_of(project: Project, changes: tuple[str, ...] = tuple(CHANGES)) -> list[str]:
    """The differences of a project."""
    outcomes = list(checked(project, changes, 1, SEED))
    assert len(outcomes) > len(changes) // 2
    return [described(outcome) for outcome in outcomes if outcome.difference]


def test_there_are_projects_of_all_sorts() -> None:
    names = list(projects())
    assert len(names) == len(set(names)) and set(DAILY) <= set(names)
    assert sum(name.startswith("row") for name in names) >= 2 * 60
    assert sum(not name.startswith("row") for name in names) == 60


@pytest.mark.daily
@pytest.mark.parametrize("name", DAILY)
def test_a_change_that_means_nothing_changes_no_finding(name: str, cache_folder: Path) -> None:
    assert text_of(projects()[name]) == []


@pytest.mark.nightly
def test_nearly_all_changes_that_mean_nothing_change_no_finding(cache_folder: Path) -> None:
    outcomes = [outcome for project in projects().values() for outcome in checked(project, tuple(CHANGES), 1, SEED)]
    differing = [described(outcome) for outcome in outcomes if outcome.difference]
    assert {outcome.change for outcome in outcomes} == set(CHANGES)
    assert share_of_equal(outcomes) >= BAR, "\n".join(differing)


def answers(changed: str, **names: str) -> tuple[Answers, Answers]:
    """The answers for a program, and for another text of it."""
    with judge({"train.py": SESSION.encode()}, {}) as folder:
        before = folder.answers()
        return before, folder.answers({"train.py": changed.encode()}, names)


def test_a_change_that_means_something_is_a_difference(cache_folder: Path) -> None:
    before, after = answers(SESSION.replace("config=config", "config=npu_config_proto(config_proto=config)"))
    assert any("relies-on-import-patch" in finding for finding in before.findings)
    assert not any("relies-on-import-patch" in finding for finding in after.findings)
    assert before.readiness != after.readiness


def test_lines_and_new_names_make_no_difference(cache_folder: Path) -> None:
    before, after = answers("\n\n" + SESSION.replace("step", "train_op"), train_op="step")
    assert before == after and before.findings and before.readiness


def test_the_unchanged_files_are_checked_again(cache_folder: Path) -> None:
    with judge({"train.py": SESSION.encode()}, {}) as folder:
        before = folder.answers()
        assert folder.answers({"train.py": b"", "lib/other.py": b"import torch\n"}) != before
        assert folder.answers() == before


@pytest.fixture
def own_project(tmp_path: Path) -> Path:
    """A folder with a project of one program."""
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "train.py").write_text(SESSION, encoding="utf-8")
    return tmp_path / "project"


def test_the_table_lists_the_variants_of_a_folder(
    own_project: Path, cache_folder: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    written = tmp_path / "differences.txt"
    words = ["--no-own", "--change", "wrapped_in_if", "--variants", "3", "--differences", str(written)]
    assert main([str(own_project), *words]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[1].split() == ["wrapped_in_if", "3", "3", "0"]
    assert lines[2].split()[:4] == ["all", "3", "3", "0"] and "100.00 % equal, 1 projects" in lines[2]
    assert written.read_text(encoding="utf-8") == ""


def test_differences_are_written_in_full_and_make_the_run_fail(
    own_project: Path,
    cache_folder: Path,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def emptied(program: Program) -> Iterator[Variant]:
        yield Variant("train.py:1", (Edit("train.py", 0, len(program.files["train.py"]), "x = 1\n"),))

    monkeypatch.setitem(CHANGES, "dead_code", emptied)
    written = tmp_path / "differences.txt"
    words = ["--no-own", "--change", "dead_code", "--differences", str(written)]
    assert main(["--within", str(own_project.parent), *words]) == 1
    text = written.read_text(encoding="utf-8")
    assert "dead_code at train.py:1\n- " in text and "    -import tensorflow as tf\n" in text
    assert "relies-on-import-patch" in text
    assert folder_project(own_project).files == {"train.py": SESSION.encode()}
