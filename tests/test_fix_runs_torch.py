"""Fixed examples run: with a torch that takes the CPU for every device they compute what the bad ones do."""

from __future__ import annotations

import functools
import importlib.util
import json
import math
import os
import subprocess
import sys
from typing import Any

import pytest

from npulint.judge.catalogue.check import Catalogue, Example
from npulint.judge.catalogue.load import load_catalogue
from tests.tools import missing

pytestmark = pytest.mark.slow

_STAND_IN = os.path.join(os.path.dirname(__file__), "torch_stand_in.py")
_TOPICS = ("device_cuda", "distribution", "mixed_precision", "loss_scale")  # their fixes leave the numbers alone
_MOVES = (
    "cuda-not-migrated cuda-in-training-step cuda-left-over cuda-left-over-unsure cuda-in-evaluation-script "
    "cuda-in-device-agnostic-code cuda-autocast cuda-grad-scaler nccl-backend trains-on-cpu-silently moved-only-to-cuda"
).split()


@functools.cache
def _catalogue() -> Catalogue:
    return load_catalogue()


def _entry(example: Example) -> str:
    names = [name for name in example.files if name.endswith(".py")]
    return next((name for name in names if name.endswith("train.py")), names[0] if names else "")


def _examples() -> list[tuple[str, Example]]:
    found = []
    for check in _catalogue().checks:
        mended = [one for one in check.examples if one.bad and one.fixed and _entry(one)]
        if check.family == "pytorch" and check.topic in _TOPICS:
            found += [(f"{check.name}-{number}", one) for number, one in enumerate(mended)]
    return found


Answers = dict[str, tuple[dict[str, Any], dict[str, Any]]]


@pytest.fixture(scope="module")
def answers() -> Answers:
    """What the bad and the fixed text of every example come to."""
    if importlib.util.find_spec("torch") is None:
        missing("torch")
    examples = _examples()
    jobs = []
    for _, one in examples:
        jobs += [{"files": files, "entry": _entry(one)} for files in (one.files, {**one.files, **one.fixed})]
    done = subprocess.run(
        [sys.executable, _STAND_IN], input=json.dumps(jobs), capture_output=True, text=True, timeout=600, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    found = json.loads(done.stdout)
    return {name: (found[2 * at], found[2 * at + 1]) for at, (name, _) in enumerate(examples)}


def _differences(bad: dict[str, Any], fixed: dict[str, Any]) -> str:
    """What a fixed example does otherwise than the bad one; empty for nothing."""
    if fixed["error"]:
        return str(fixed["error"])
    if fixed["numbers"].keys() != bad["numbers"].keys():
        return "other names"
    for key, numbers in bad["numbers"].items():
        found = fixed["numbers"][key]
        if len(found) != len(numbers) or not all(map(_close, numbers, found)):
            return f"{key}: {numbers[:3]} is {found[:3]}"
    return ""


def _close(one: float, other: float) -> bool:
    return math.isclose(one, other, rel_tol=1e-6, abs_tol=1e-9)


def test_fixed_examples_compute_what_the_bad_ones_do(answers: Answers) -> None:
    tried = {
        name: pair for name, pair in answers.items() if not pair[0]["error"]
    }  # others name what they do not define
    found = {name: _differences(*pair) for name, pair in tried.items()}
    assert {name: text for name, text in found.items() if text} == {}
    assert len(tried) >= 40


@pytest.mark.parametrize("check", _MOVES)
def test_a_port_is_tried_on_a_program_that_runs(check: str, answers: Answers) -> None:
    tried = [bad for name, (bad, _) in answers.items() if name.rpartition("-")[0] == check]
    assert "" in [one["error"] for one in tried]
