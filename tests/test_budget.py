"""Limits on time and memory: what takes more is stopped and named, and the rest goes on."""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from npulint.commands.check.pipeline import run
from npulint.core import budget
from npulint.core.budget import Budget, BudgetError, Limit, within
from npulint.judge.settings import Settings
from npulint.read.files import LoadedFile
from tests.project_support import Project
from tests.test_robustness import SIBLING, assert_sibling_is_judged

_MUCH = 1 << 40


def _forever() -> None:
    number = 0
    while True:
        number += 1


def _growing() -> None:
    kept = []
    while True:
        kept.append(bytearray(1 << 20))


def _protected() -> None:
    while True:
        try:
            _forever()
        except Exception:
            continue


@pytest.mark.parametrize(
    ("work", "limit", "reason", "detail"),
    [
        pytest.param(_forever, Limit(0.3, _MUCH), "out-of-time", "> 0 s", id="time"),
        pytest.param(_protected, Limit(0.3, _MUCH), "out-of-time", "> 0 s", id="time, where errors are handled"),
        pytest.param(_growing, Limit(60, 100 << 20), "out-of-memory", "> 100 MB", id="memory"),
    ],
)
def test_work_is_stopped(work: Callable[[], None], limit: Limit, reason: str, detail: str) -> None:
    with pytest.raises(BudgetError) as caught:
        within(limit, work)
    assert (caught.value.reason, caught.value.detail) == (reason, detail)


def test_work_is_stopped_in_any_thread() -> None:
    reasons: list[str] = []

    def work() -> None:
        try:
            within(Limit(0.3, _MUCH), _forever)
        except BudgetError as error:
            reasons.append(error.reason)

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    assert within(Limit(60, _MUCH), lambda: 7) == 7
    for thread in threads:
        thread.join(60)
    assert reasons == ["out-of-time", "out-of-time"]


def test_the_limit_around_another_one_holds() -> None:
    def inner() -> None:
        within(Limit(60, _MUCH), _forever)

    with pytest.raises(BudgetError, match="> 0 s"):
        within(Limit(0.3, _MUCH), inner)


def test_nothing_is_stopped_afterwards() -> None:
    for _ in range(5):
        with pytest.raises(BudgetError):
            within(Limit(0.01, _MUCH), _forever)
    until = time.monotonic() + 0.6
    while time.monotonic() < until:
        pass


def test_waiting_takes_no_time_of_the_processor() -> None:
    if not hasattr(time, "pthread_getcpuclockid"):
        pytest.skip("this system does not tell the time of a thread")
    within(Limit(0.2, _MUCH), lambda: time.sleep(0.7))


def test_errors_and_results_pass() -> None:
    with pytest.raises(ZeroDivisionError):
        within(Limit(60, _MUCH), lambda: 1 // 0)
    assert within(Limit(60, _MUCH), lambda: "result") == "result"


def test_the_thread_ends_at_rest_and_begins_again(monkeypatch: pytest.MonkeyPatch) -> None:
    within(Limit(60, _MUCH), lambda: None)
    watching = [thread for thread in threading.enumerate() if thread.name == "npulint budget"]
    assert watching
    monkeypatch.setattr(budget, "_IDLE", 0)
    watching[0].join(10)
    assert not watching[0].is_alive()
    with pytest.raises(BudgetError):
        within(Limit(0.01, _MUCH), _forever)


def test_limits_grow_with_the_size_unless_given() -> None:
    usual = Budget()
    assert usual.of_file(0).seconds < 10 and usual.of_project(1, 1000).seconds < 10
    assert usual.of_project(1, 1000).memory < 1 << 30
    assert usual.of_project(5000, 50 << 20).seconds > 1000
    assert Budget(time=3, memory=100).of_project(5000, 50 << 20) == Limit(3.0, 100 << 20)


def _slow(path: str) -> Callable[[LoadedFile, bool], Any]:
    from npulint.read import files

    actual = files._read

    def read(loaded: LoadedFile, whole: bool) -> Any:
        if loaded.file.path == path:
            _forever()
        return actual(loaded, whole)

    return read


def test_a_file_that_takes_long_is_named_and_the_others_are_checked(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("npulint.read.files._read", _slow("bad.py"))
    answer = project.write({"bad.py": "x = 1\n", "good.py": SIBLING}).check("--budget", "time=1")
    assert_sibling_is_judged(answer)
    assert answer.document["unread"] == [{"path": "bad.py", "reason": "out-of-time"}]
    assert "this took longer than allowed: > 1 s" in str(answer.findings)


def test_a_project_that_takes_long_is_named_and_the_others_are_checked(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    from npulint.commands.check import project_runner

    actual = project_runner._judged

    def judged(root: str, *given: Any) -> Any:
        return _forever() if root == "slow" else actual(root, *given)

    monkeypatch.setattr(project_runner, "_judged", judged)
    files = {"slow/train.py": SIBLING, "slow/setup.py": "", "fine/setup.py": "", "fine/good.py": SIBLING}
    answer = project.write(files).check("--budget=time=1")
    assert "fine/good.py:4" in answer.places("session-without-npu-config")
    assert answer.document["unread"] == [
        {"path": "slow/setup.py", "reason": "out-of-time"},
        {"path": "slow/train.py", "reason": "out-of-time"},
    ]
    assert answer.code == 1


def test_what_ran_out_is_read_again_by_the_next_run(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NPULINT_CACHE_DIR", str(tmp_path / "cache"))
    project.write({"good.py": SIBLING, **{f"m{number}.py": "" for number in range(50)}})
    with monkeypatch.context() as patched:
        patched.setattr("npulint.read.files._read", _slow("good.py"))
        first = project.run("check", "--format=json", "--budget=time=1")
    assert json.loads(first.out)["unread"] == [{"path": "good.py", "reason": "out-of-time"}]
    assert_sibling_is_judged(project.run("check", "--format=json"))


def test_the_budget_of_a_configuration_file(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("npulint.read.files._read", _slow("bad.py"))
    project.write({"bad.py": "x = 1\n", "good.py": SIBLING, "npulint.toml": "budget = {time = 1}\n"})
    assert project.check().document["unread"] == [{"path": "bad.py", "reason": "out-of-time"}]


def ended(request: Any) -> Any:
    """Instead of `workers.answer`: a process that the system ends when it comes to one project."""
    from npulint.commands.check import workers

    if "p3" in request[0]:
        os._exit(9)
    return workers.answer(request)


@pytest.mark.slow
def test_a_process_that_is_ended_costs_its_project_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(6):
        folder = tmp_path / f"p{number}"
        folder.mkdir()
        (folder / "setup.py").write_text("")
        (folder / "train.py").write_text(SIBLING)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("npulint.commands.check.workers._ANSWER", "tests.test_budget:ended")
    monkeypatch.setattr("npulint.commands.check.workers._CHUNKS", 1)
    result = run(Settings(paths=(".",), jobs=2, cache=False))
    assert [(one.path, one.reason) for one in result.unreadable] == [
        ("p3/setup.py", "process-ended"),
        ("p3/train.py", "process-ended"),
    ]
    sessions = [one.path for one in result.findings if one.name == "session-without-npu-config"]
    assert sessions == [f"p{number}/train.py" for number in (0, 1, 2, 4, 5)]
