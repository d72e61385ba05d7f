"""Starts programs with the fakes: the environment of a process, and what it recorded."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping, Sequence
from typing import Any, Literal

Framework = Literal["torch", "tensorflow1"]
FRAMEWORKS: tuple[Framework, ...] = ("torch", "tensorflow1")
RECORD = "NPULINT_FAKE_RECORD"
_HERE = os.path.dirname(os.path.abspath(__file__))
_JOB = {"JOB_ID": "10001", "RANK_ID": "0", "RANK_SIZE": "1", "ASCEND_DEVICE_ID": "0"}


def environment(framework: Framework, record: str = "", base: Mapping[str, str] | None = None) -> dict[str, str]:
    """The variables of a process whose programs find the fakes of a framework and no GPU. `record` is the file to
    which each process appends a line of JSON about what it configured; `base` are the variables to start from, those
    of this process unless given. Raises `ValueError` for an unknown framework."""
    if framework not in FRAMEWORKS:
        raise ValueError(f"framework: {framework!r} is not one of {', '.join(FRAMEWORKS)}")
    variables = dict(os.environ if base is None else base)
    paths = [os.path.join(_HERE, "on_path", name) for name in (framework, "shared")]
    if framework == "torch":
        paths.append(os.path.dirname(os.path.dirname(_HERE)))  # npulint itself, which the fake torch_npu uses
    else:
        variables = {**_JOB, **variables}
    paths += [variables["PYTHONPATH"]] if variables.get("PYTHONPATH") else []
    variables |= {"PYTHONPATH": os.pathsep.join(paths), "CUDA_VISIBLE_DEVICES": ""}
    variables.pop(RECORD, None)
    return {**variables, RECORD: os.path.abspath(record)} if record else variables


def run(
    framework: Framework, command: Sequence[str], record: str = "", **options: Any
) -> subprocess.CompletedProcess[str]:
    """Run a command (an interpreter with a script and its arguments) with the fakes; `options` are those of
    `subprocess.run`."""
    return subprocess.run(command, env=environment(framework, record), text=True, check=False, **options)


def read_record(path: str) -> list[dict[str, Any]]:
    """What the processes of a program configured, in the order of their ends; nothing where none did."""
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file]
