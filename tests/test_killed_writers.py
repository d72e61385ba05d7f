"""Runs that are killed while they write: nothing is lost, nothing stays behind after the next run, and it says the
truth. What is tried is in `killed_writers`."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from tests.killed_writers import WRITERS, Tally
from tests.project_support import ROOT

pytestmark = [pytest.mark.slow, pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")]
SOME = 4
ALL = 250


def tallies(folder: Path, cache_folder: Path, kills: int, *writers: str) -> list[Tally]:
    """What came of so many kills of each of these writers (none: all)."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.killed_writers", str(folder), str(kills), *writers],
        cwd=ROOT, env={**os.environ, "LC_ALL": "C", "NPULINT_CACHE_DIR": str(cache_folder)},
        capture_output=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr.decode()
    return msgspec.json.decode(done.stdout, type=list[Tally])


def test_a_killed_writer_loses_nothing(tmp_path: Path, cache_folder: Path) -> None:
    found = tallies(tmp_path, cache_folder, SOME)
    assert {tally.writer: tally.faults for tally in found} == {name: [] for name in WRITERS}
    assert [tally.kills for tally in found] == [SOME] * len(WRITERS)
    assert all(tally.temporary + tally.journals for tally in found)


@pytest.mark.nightly
@pytest.mark.parametrize("writer", WRITERS)
def test_a_writer_that_is_killed_at_any_moment_loses_nothing(writer: str, tmp_path: Path, cache_folder: Path) -> None:
    (tally,) = tallies(tmp_path, cache_folder, ALL, writer)
    print(tally)
    assert (tally.faults, tally.kills) == ([], ALL)
    assert tally.temporary
    assert bool(tally.journals) == (writer == "cache") and bool(tally.torn) == (writer in ("fix", "port"))
