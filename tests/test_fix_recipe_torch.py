"""GPU trainings, fixed, train on the NPU as the originals do on the CPU: the fakes refuse CUDA calls."""

from __future__ import annotations

import importlib.util
import json
import math
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from npulint.commands.check.fix_command import fix_texts
from npulint.fakes.launch import environment
from tests.test_fix_runs_programs import _catalogue as catalogue
from tests.tools import missing

pytestmark = pytest.mark.slow

_HERE = Path(__file__).parent
_RUNNER = _HERE / "forked_programs.py"
_ON_HOST = _HERE / "cuda_on_host.py"
_TARGET = {"torch": "2.1"}
_JOB = {"MASTER_ADDR": "127.0.0.1", "WORLD_SIZE": "1", "RANK": "0", "LOCAL_RANK": "0", "OMP_NUM_THREADS": "1"}
_TOLERANCE = 2e-2  # of losses in float16, whose products have 11 bits

Row = dict[str, Any]
ROWS: list[Row] = yaml.safe_load((_HERE / "data" / "gpu_recipes_torch.yaml").read_text(encoding="utf-8"))


class Tried:
    """What became of a program: its fixed files, those of a second run, and what both versions raised and printed."""

    def __init__(self, row: Row) -> None:
        self.files = _fixed(row["files"])
        self.again = _fixed(self.files)
        self.raised: list[str] = []
        self.losses: list[list[float]] = []


def _fixed(files: dict[str, str]) -> dict[str, str]:
    done = fix_texts(files, _TARGET, catalogue())
    return {**files, **{one.path: one.after.decode() for one in done.files}}


def _run(programs: list[dict[str, Any]], folder: Path, variables: dict[str, str]) -> list[tuple[str, list[float]]]:
    jobs = []
    for number, program in enumerate(programs):
        home = folder / str(number)
        for name, text in program["files"].items():
            (home / name).parent.mkdir(parents=True, exist_ok=True)
            (home / name).write_text(text, encoding="utf-8")
        jobs.append({**program, "folder": str(home)})
    done = subprocess.run(
        [sys.executable, str(_RUNNER), "torch"],
        input=json.dumps(jobs),
        env={**variables, **_JOB, "MASTER_PORT": str(29600 + os.getpid() % 300)},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    answers = json.loads(done.stdout)
    return [(text, _losses(folder / str(number) / "output.txt")) for number, text in enumerate(answers)]


def _losses(path: Path) -> list[float]:
    lines = re.findall(r"^loss (.+)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    return [float(number) for line in lines for number in line.split()]


@pytest.fixture(scope="module")
def tried(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Tried]:
    """All programs, fixed and run."""
    if importlib.util.find_spec("torch") is None:
        missing("torch")
    found = {row["name"]: Tried(row) for row in ROWS}
    folder = tmp_path_factory.mktemp("recipes")
    before = [{"files": row["files"], "script": row["script"], "given": str(_ON_HOST)} for row in ROWS]
    after = [{"files": found[row["name"]].files, "script": row["script"]} for row in ROWS]
    plain = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    runs = zip(_run(before, folder / "cpu", plain), _run(after, folder / "npu", environment("torch")), strict=True)
    for one, pair in zip(found.values(), runs, strict=True):
        one.raised = [raised for raised, _ in pair]
        one.losses = [losses for _, losses in pair]
    return found


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["name"])
def test_a_fixed_training_has_the_losses_of_the_original(row: Row, tried: dict[str, Tried]) -> None:
    one = tried[row["name"]]
    assert one.raised == ["", ""]
    original, ported = one.losses
    assert original and len(ported) == len(original)
    pairs = zip(original, ported, strict=True)
    assert all(math.isclose(here, there, rel_tol=_TOLERANCE, abs_tol=_TOLERANCE) for here, there in pairs)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["name"])
def test_a_fixed_training_has_what_experts_add(row: Row, tried: dict[str, Tried]) -> None:
    texts = "\n".join(tried[row["name"]].files.values())
    assert [text for text in row.get("adds", []) if text not in texts] == []


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["name"])
def test_a_second_run_changes_nothing(row: Row, tried: dict[str, Tried]) -> None:
    assert tried[row["name"]].again == tried[row["name"]].files
