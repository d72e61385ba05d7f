"""Several processes give the answer that one gives."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

from npulint.commands.check.pipeline import run
from npulint.core.errors import CatalogueError, CatalogueProblem, ConfigError
from npulint.judge.settings import Settings

_TRAIN = "import tensorflow as tf\nloss = net()\ntf.train.AdamOptimizer().minimize(loss)\nsess = tf.Session()\n"


@pytest.fixture
def shelf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with several projects, one of them with a file that cannot be read."""
    for number in range(5):
        project = tmp_path / f"p{number}"
        project.mkdir()
        (project / "requirements.txt").write_text("tensorflow==1.15\n")
        (project / "train.py").write_text(_TRAIN + f"x = {number}\n")
    (tmp_path / "p3" / "broken.py").write_text("def f(:\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.slow
@pytest.mark.parametrize("jobs", [2, 3, 16], ids=["two", "three", "more than there are projects"])
def test_processes_give_the_same_findings_in_the_same_order(shelf: Path, jobs: int) -> None:
    alone = run(Settings(paths=(".",), jobs=1, cache=False))
    together = run(Settings(paths=(".",), jobs=jobs, cache=False))
    assert alone.findings and together.findings == alone.findings
    assert together.programs == alone.programs
    assert together.unreadable == alone.unreadable


def test_processes_share_the_cache(shelf: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NPULINT_CACHE_DIR", str(tmp_path / "cache"))
    first = run(Settings(paths=(".",), jobs=2))
    assert run(Settings(paths=(".",), jobs=1)).findings == first.findings


def test_the_errors_for_the_user_travel_between_processes() -> None:
    problems = [CatalogueProblem("a.yaml", 1, 1, "no text"), CatalogueProblem("b.yaml", 3, 1, "no code")]
    for error in (CatalogueError(problems), ConfigError(["one", "two"])):
        arrived = pickle.loads(pickle.dumps(error))
        assert (type(arrived), str(arrived), arrived.problems) == (type(error), str(error), error.problems)
