"""Several runs at once share one cache: none fails, and all say the same."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.project_support import ROOT, SECONDS

pytestmark = pytest.mark.slow

PROCESSES = 6


def runs(folder: Path, cache: Path) -> list[tuple[int, bytes, bytes]]:
    """What as many processes answer that are started together."""
    environ = {**os.environ, "NPULINT_CACHE_DIR": str(cache), "LC_ALL": "C", "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "npulint", "check", "--isolated", "--format=json", "."]
    started = [
        subprocess.Popen(command, cwd=folder, env=environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for _ in range(PROCESSES)
    ]
    answers = [process.communicate(timeout=SECONDS) for process in started]
    return [(process.returncode, *answer) for process, answer in zip(started, answers, strict=True)]


@pytest.mark.parametrize("project", ["denoiser", "classifier"])
def test_runs_at_once_say_the_same(new_cache: Path, project: str) -> None:
    folder = ROOT / "examples" / project
    cold = runs(folder, new_cache)
    warm = runs(folder, new_cache)
    assert len({*cold, *warm}) == 1
    code, report, complaints = cold[0]
    assert (code, complaints) == (1, b"")
    assert b'"findings": [' in report
    assert list(new_cache.glob("cache-*.sqlite"))
