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

from npulint.catalogue.check import Catalogue, Example
from npulint.catalogue.load import load_catalogue
from tests.tools import missing

_STAND_IN = os.path.join(os.path.dirname(__file__), "torch_stand_in.py")
_FAMILIES = ("pytorch",)
# What these examples show stops a program, or is another calculation.
_OTHER_NUMBERS: frozenset[str] = frozenset()
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
        if check.family in _FAMILIES:
            found += [(f"{check.name}-{number}", one) for number, one in enumerate(mended)]
    return found


@pytest.fixture(scope="module")
def answers() -> dict[str, tuple[dict[str, Any], dict[str, Any]]]:
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


@pytest.mark.parametrize("name", [name for name, _ in _examples()])
def test_a_fixed_example_computes_what_the_bad_one_does(name: str, answers: dict[str, Any]) -> None:
    bad, fixed = answers[name]
    if bad["error"]:
        pytest.skip(bad["error"])  # the example names what it does not define
    assert fixed["error"] == ""
    if name.rpartition("-")[0] in _OTHER_NUMBERS:
        return
    assert fixed["numbers"].keys() == bad["numbers"].keys()
    for key, numbers in bad["numbers"].items():
        assert len(numbers) == len(fixed["numbers"][key])
        assert all(math.isclose(a, b, rel_tol=1e-6, abs_tol=1e-9) for a, b in zip(numbers, fixed["numbers"][key], strict=True))


@pytest.mark.parametrize("check", _MOVES)
def test_a_port_is_tried_on_a_program_that_runs(check: str, answers: dict[str, Any]) -> None:
    tried = [bad for name, (bad, _) in answers.items() if name.rpartition("-")[0] == check]
    assert any(not one["error"] for one in tried)
