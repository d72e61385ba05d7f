"""GPU programs, fixed, run with the fakes, and configure what a migrated program does."""

from __future__ import annotations

import functools
import importlib.util
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml

from npulint.commands.check.fix_command import fix_texts
from npulint.fakes.launch import Framework, environment, read_record
from npulint.judge.catalogue.check import Catalogue
from npulint.judge.catalogue.load import load_catalogue
from tests.tools import missing

pytestmark = pytest.mark.slow

_HERE = Path(__file__).parent
_RUNNER = _HERE / "forked_programs.py"
_PYTHON = "NPULINT_TENSORFLOW1_PYTHON"
"""Names an interpreter that has TensorFlow 1.15; without it one of the path is taken."""
_HAS = "import tensorflow, sys; sys.exit(not tensorflow.__version__.startswith('1.15'))"
_TARGETS = {"tensorflow": {"tensorflow": "1.15"}, "torch": {}}

Answers = dict[str, tuple[str, dict[str, Any]]]


def _rows(framework: str) -> list[dict[str, Any]]:
    text = (_HERE / "data" / f"gpu_programs_{framework}.yaml").read_text(encoding="utf-8")
    rows: list[dict[str, Any]] = yaml.safe_load(text)
    return rows


TENSORFLOW, TORCH = _rows("tensorflow"), _rows("torch")


@functools.cache
def _catalogue() -> Catalogue:
    return load_catalogue()


def tensorflow1() -> str:
    """An interpreter with TensorFlow 1.15; the test is skipped where there is none."""
    named = os.environ.get(_PYTHON, "")
    for path in filter(None, (named, shutil.which("python3.7"))):
        if subprocess.run([path, "-c", _HAS], capture_output=True, check=False).returncode == 0:
            return path
    if named:
        pytest.fail(f"{_PYTHON} names no interpreter with TensorFlow 1.15: {named}")
    pytest.skip(f"no TensorFlow 1.15 (an interpreter with it can be named by {_PYTHON})")


def fixed(row: dict[str, Any], framework: str) -> dict[str, str]:
    """The files of a program after the fixes of all checks."""
    files = row.get("files") or {"train.py": row["program"]}
    done = fix_texts(files, _TARGETS[framework], _catalogue())
    return {**files, **{one.path: one.after.decode() for one in done.files}}


def run_jobs(
    jobs: Sequence[Mapping[str, Any]], variables: Mapping[str, str], framework: str, python: str, timeout: int = 900
) -> list[str]:
    """What each program raised (nothing: it ran), in processes with these variables; each prints to a file in its
    folder. `timeout` is in seconds."""
    done = subprocess.run(
        [python, str(_RUNNER), framework],
        input=json.dumps(jobs),
        env={**variables, "TF_CPP_MIN_LOG_LEVEL": "3", "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    answers: list[str] = json.loads(done.stdout)
    return answers


def run_all(programs: list[dict[str, Any]], folder: Path, framework: Framework, python: str) -> list[str]:
    """What each program raised; `programs` have the texts of their `files`, written below `folder`."""
    jobs = []
    for number, program in enumerate(programs):
        home = folder / str(number)
        home.mkdir()
        for name, text in program["files"].items():
            (home / name).parent.mkdir(parents=True, exist_ok=True)
            (home / name).write_text(text, encoding="utf-8")
        jobs.append({"script": "train.py", **program, "folder": str(home)})
    return run_jobs(jobs, environment(framework), "torch" if framework == "torch" else "tensorflow", python)


def _answers(rows: list[dict[str, Any]], framework: str, folder: Path, python: str) -> Answers:
    programs = [{"files": fixed(row, framework), "on": row.get("on", [])} for row in rows]
    raised = run_all(programs, folder, "torch" if framework == "torch" else "tensorflow1", python)
    records = [read_record(str(folder / str(number) / "record.jsonl")) for number in range(len(rows))]
    return {
        row["name"]: (text, record[0] if record else {})
        for row, text, record in zip(rows, raised, records, strict=True)
    }


@pytest.fixture(scope="module")
def of_tensorflow(tmp_path_factory: pytest.TempPathFactory) -> Answers:
    """What the fixed programs for TensorFlow raised and recorded."""
    return _answers(TENSORFLOW, "tensorflow", tmp_path_factory.mktemp("programs"), tensorflow1())


@pytest.fixture(scope="module")
def of_torch(tmp_path_factory: pytest.TempPathFactory) -> Answers:
    """What the fixed programs for PyTorch raised and recorded."""
    if importlib.util.find_spec("torch") is None:
        missing("torch")
    return _answers(TORCH, "torch", tmp_path_factory.mktemp("programs"), sys.executable)


def _found(record: Any, path: str) -> Any:
    for part in path.split("."):
        record = record[int(part)] if isinstance(record, list) else record.get(part)
    return record


def _differences(row: dict[str, Any], record: dict[str, Any]) -> dict[str, Any]:
    """What is expected and recorded otherwise: path to value found."""
    found = {}
    for path, wanted in row.get("expect", {}).items():
        try:
            value = _found(record, path)
        except (IndexError, AttributeError):
            value = None
        if value != wanted:
            found[path] = value
    return found


@pytest.mark.parametrize("row", TENSORFLOW, ids=lambda row: row["name"])
def test_a_fixed_tensorflow_program_runs_and_configures_the_npu(row: dict[str, Any], of_tensorflow: Answers) -> None:
    raised, record = of_tensorflow[row["name"]]
    assert raised == ""
    assert _differences(row, record) == {}
    assert all(one["npu_optimizers"] == 1 for one in record["sessions"] if one["npu"])


@pytest.mark.parametrize("row", TORCH, ids=lambda row: row["name"])
def test_a_fixed_torch_program_runs_on_the_npu(row: dict[str, Any], of_torch: Answers) -> None:
    raised, record = of_torch[row["name"]]
    assert raised == ""
    assert _differences(row, record) == {}
