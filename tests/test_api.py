"""npulint from Python: one project, many, and workers that end in the middle."""

from __future__ import annotations

import importlib
import importlib.util
import os
import signal
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path

import pytest

from npulint.api import ProjectResult, check, check_many
from npulint.core.errors import ConfigError
from npulint.judge.findings import Finding
from tests.survey_support import TRAIN
from tests.tools import missing


@pytest.fixture
def projects(tmp_path: Path) -> list[Path]:
    """Projects that differ in one number."""
    folders = [tmp_path / f"project{number}" for number in range(6)]
    for number, folder in enumerate(folders):
        folder.mkdir()
        (folder / "train.py").write_text(TRAIN.format(size=number + 1))
    return folders


def _findings(results: Iterator[ProjectResult]) -> list[list[Finding]]:
    return [[] if one.result is None else one.result.findings for one in results]


@pytest.fixture
def expected(projects: list[Path]) -> list[list[Finding]]:
    found = [check(folder, isolated=True, cache=False).findings for folder in projects]
    assert all(found)
    return found


def test_options_are_those_of_the_command_line(projects: list[Path]) -> None:
    errors = check(projects[0], isolated=True, min_severity="error", cache=False).findings
    assert {one.severity for one in errors} == {"error"}
    assert len(errors) < len(check(projects[0], isolated=True, min_severity="note", cache=False).findings)
    chips = [
        check(projects[0], isolated=True, cache=False, target=[f"soc={name}"]).target["soc"]
        for name in ("Ascend910A", "Ascend910B")
    ]
    assert chips == ["910A (specified)", "910B (specified)"]


def test_what_is_wrong_with_options_is_said(projects: list[Path]) -> None:
    with pytest.raises(TypeError, match="unknown option 'targets'"):
        check(projects[0], targets=["soc=Ascend910B"])
    with pytest.raises(TypeError, match="unknown option 'targets'"):
        check_many(projects, targets=["soc=Ascend910B"])
    with pytest.raises(ConfigError):
        check(projects[0], min_severity="loud")


def test_the_processes_of_this_machine_give_the_same(projects: list[Path], expected: list[list[Finding]]) -> None:
    assert _findings(check_many(projects, isolated=True, cache=False)) == expected


def test_any_executor_does(projects: list[Path], expected: list[list[Finding]]) -> None:
    with ThreadPoolExecutor(1) as executor:
        assert _findings(check_many(projects, executor, isolated=True, cache=False)) == expected


def test_workers_that_end_lose_nothing(projects: list[Path], expected: list[list[Finding]]) -> None:
    with ProcessPoolExecutor(1) as executor:
        results = check_many(projects, executor, isolated=True, cache=False)
        first = next(results)
        executor.submit(os._exit, 1)
        found = _findings(iter([first, *results]))
    assert found == expected
    with ProcessPoolExecutor(1) as executor:  # which is broken before it has seen any
        assert executor.submit(os._exit, 1).exception()
        assert _findings(check_many(projects, executor, isolated=True, cache=False)) == expected


def test_one_project_with_a_broken_configuration_ends_nothing(
    projects: list[Path], expected: list[list[Finding]]
) -> None:
    (projects[2] / "npulint.toml").write_text("min-severity = 'loud'\n")
    results = list(check_many(projects, cache=False))
    assert [bool(one.error) for one in results] == [number == 2 for number in range(6)]
    assert "npulint.toml" in results[2].error
    assert [one.path for one in results] == [str(folder) for folder in projects]


def test_a_project_that_ends_its_processes_is_named(projects: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("npulint.api._ANSWER", "tests.test_api:killed")
    results = list(check_many(projects[:3], isolated=True, cache=False))
    assert [bool(one.error) for one in results] == [True] * 3
    assert results[0].error == "the system ended the process that checked it"


def killed(request: object) -> None:
    """Instead of `npulint.api.answer`: a process that the system ends."""
    os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.slow
def test_a_cluster_of_which_a_worker_is_killed_gives_the_same(
    projects: list[Path], expected: list[list[Finding]]
) -> None:
    if importlib.util.find_spec("distributed") is None:
        missing("distributed")
    distributed = importlib.import_module("distributed")

    options = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "dashboard_address": None}
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster) as client:
        results = check_many(projects * 10, client.get_executor(), isolated=True, cache=False)
        first = next(results)
        os.kill(next(iter(cluster.workers.values())).pid, signal.SIGKILL)
        found = _findings(iter([first, *results]))
    assert found == expected * 10
