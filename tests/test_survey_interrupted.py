"""Surveys whose processes end: by limits, by kill, on clusters; what goes on has the same result."""

from __future__ import annotations

import importlib
import importlib.util
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from npulint import __version__
from npulint.survey.execution import CHILDREN, VersionError, checked
from npulint.survey.model import Job, Plan
from npulint.survey.parts import prepare, read_part
from tests.project_support import ROOT, Project
from tests.survey_support import QUIET, by_name, compared, fleet, survey
from tests.tools import missing

pytestmark = pytest.mark.slow


def large_program(calls: int) -> str:
    """A program that keeps npulint busy for seconds."""
    return "import torch\n" + "\n".join(f"x{i} = torch.ones({i}).cuda() + torch.zeros(3)" for i in range(calls)) + "\n"


@pytest.fixture
def plan(project: Project) -> Iterator[Plan]:
    """A plan with room for anything."""
    out = str(project.folder / "out")
    prepare(out, False)
    yield Plan(out, {"cache": False}, __version__, "x", "en", False, 100, 4 << 30)
    CHILDREN.close()


def _busy(project: Project, name: str = "busy", calls: int = 20_000) -> Job:
    project.write({f"{name}/train.py": large_program(calls).encode()})
    return Job(name, name, name, str(project.folder / name))


def _limited(plan: Plan, **limits: int) -> Plan:
    fields = {name: getattr(plan, name) for name in plan.__struct_fields__}
    return Plan(**{**fields, **limits})


def test_time_and_memory_are_limited(project: Project, plan: Plan) -> None:
    busy = _busy(project)
    for limits, failure in (({"seconds": 1}, "time"), ({"memory": 40 << 20}, "memory")):
        assert checked(_limited(plan, **limits), busy) is False
        part = read_part(plan.out, "busy")
        assert part is not None and part.project.failure == failure
    small = Job("small", "small", "small", str(fleet(project.folder / "fleet", 1) / "project00"))
    checked(plan, small)
    part = read_part(plan.out, "small")
    assert part is not None and part.project.verdict == "blocked"


def test_a_process_that_is_killed_fails_its_project_alone(project: Project, plan: Plan) -> None:
    busy = _busy(project)

    def kill() -> None:
        while not CHILDREN.started:
            time.sleep(0.01)
        time.sleep(0.3)
        os.kill(next(iter(CHILDREN.started)).pid, signal.SIGKILL)

    killer = threading.Thread(target=kill)
    killer.start()
    checked(plan, busy)
    killer.join()
    part = read_part(plan.out, "busy")
    assert part is not None and part.project.failure == "ended"


def test_a_project_is_tried_again_when_a_used_process_ends(project: Project, plan: Plan) -> None:
    jobs = [_busy(project, name, 5) for name in ("one", "two")]
    checked(plan, jobs[0])
    os.kill(next(iter(CHILDREN.started)).pid, signal.SIGKILL)
    checked(plan, jobs[1])
    part = read_part(plan.out, "two")
    assert part is not None and part.project.status == "checked"


def test_another_version_is_refused(project: Project, plan: Plan) -> None:
    fields = {name: getattr(plan, name) for name in plan.__struct_fields__}
    with pytest.raises(VersionError, match=r"!= 0\.0\.0"):
        checked(Plan(**{**fields, "version": "0.0.0"}), Job("a", "a", "a", "."))


def test_a_survey_that_is_killed_goes_on_with_the_same_result(project: Project) -> None:
    fleet(project.folder / "fleet", 14)
    parts = project.folder / "out" / "parts"
    process = subprocess.Popen(
        [sys.executable, "-m", "npulint", "survey", "fleet", "--out", "out", *QUIET],
        cwd=project.folder,
        env={**os.environ, "LC_ALL": "C", "PYTHONPATH": str(ROOT)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    while not parts.is_dir() or len(list(parts.glob("*.json"))) < 3:
        assert process.poll() is None
        time.sleep(0.01)
    process.kill()
    process.wait()
    (parts / ".left.json.0123456789abcdef.npulint").write_bytes(b"half")
    assert len(list(parts.glob("*.json"))) < 14 and not (project.folder / "out" / "index.html").exists()
    again = survey(project, *QUIET)
    assert "unchanged project" in again.err
    assert survey(project, *QUIET, out="whole").code == 0
    assert compared(project.folder / "out") == compared(project.folder / "whole")
    assert len(by_name(project.folder / "out")) == 14 and not list(parts.glob(".left*"))


@contextmanager
def cluster(workers: int) -> Iterator[object]:
    """A dask cluster on this machine."""
    if importlib.util.find_spec("distributed") is None:
        missing("distributed")
    distributed = importlib.import_module("distributed")
    options = {"n_workers": workers, "threads_per_worker": 1, "processes": True, "dashboard_address": None}
    with distributed.LocalCluster(**options) as one:
        yield one


def test_a_cluster_of_which_a_worker_is_killed_gives_the_same(project: Project) -> None:
    fleet(project.folder / "fleet", 14)
    parts = project.folder / "out" / "parts"
    with cluster(2) as one:
        workers = one.workers  # type: ignore[attr-defined]

        def kill() -> None:
            while not parts.is_dir() or len(list(parts.glob("*.json"))) < 3:
                time.sleep(0.01)
            os.kill(next(iter(workers.values())).pid, signal.SIGKILL)

        killer = threading.Thread(target=kill)
        killer.start()
        answer = survey(project, "--no-reports", "--scheduler", one.scheduler_address)  # type: ignore[attr-defined]
        killer.join()
    assert answer.code == 0, answer.err
    assert survey(project, *QUIET, out="alone").code == 0
    assert compared(project.folder / "out") == compared(project.folder / "alone")
