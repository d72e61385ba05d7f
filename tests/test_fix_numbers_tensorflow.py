"""Fixes that claim to keep the numbers do: examples and what is made of them run against TensorFlow, and come to the
same."""

from __future__ import annotations

import importlib.util
import json
import math
import os
import subprocess
import sys
from typing import Any

import pytest

from npulint.commands.check.fix_command import fixed_example
from npulint.judge.catalogue.check import Catalogue
from npulint.judge.catalogue.load import load_catalogue
from tests.tools import missing

pytestmark = pytest.mark.slow

_RUNNER = os.path.join(os.path.dirname(__file__), "tensorflow_numbers.py")
_SCRIPT = "train.py"

# By what they are about: check, number of its example, the setting in which the texts run, how far numbers may differ.
_EQUAL = {
    "sum over axes": ("half-precision-sum", 0, "half_sum", 0.0),
    "mean of a name": ("half-precision-sum", 1, "half_sum", 1e-3),
    "two sums in a line": ("half-precision-sum", 4, "half_sum", 1e-3),
    "length of vectors": ("square-root-of-zero-sum", 0, "root", 1e-6),
    "largest losses, summed by name": ("dynamic-top-k", 4, "hardest", 1e-5),
    "largest losses, summed at once": ("dynamic-top-k", 5, "hardest", 1e-5),
    "loop that swaps": ("swap-memory-without-effect", 1, "swapped_loop", 0.0),
    "data that are prefetched": ("dataset-without-prefetch", 0, "batches", 0.0),
    "softmax in float32": ("keras-softmax-without-float32", 0, "probabilities", 1e-6),
    "dropout by rate": ("native-dropout", 2, "dropped", 1e-6),
}
_TEXTS = {
    **{name: case[:3] for name, case in _EQUAL.items()},
    "more ones than float16 counts": ("half-precision-sum", 0, "many_ones"),
    "root of zero": ("square-root-of-zero-sum", 0, "root_of_zero"),
    "softmax under a policy": ("keras-softmax-without-float32", 0, "half_probabilities"),
    "callback at the end": ("last-hook-after-append", 1, "last_callback"),
}

Answers = dict[str, tuple[dict[str, Any], dict[str, Any]]]


@pytest.fixture(scope="module")
def catalogue() -> Catalogue:
    return load_catalogue()


@pytest.fixture(scope="module")
def answers(catalogue: Catalogue, tmp_path_factory: pytest.TempPathFactory) -> Answers:
    """What every text comes to, as it is and mended."""
    if importlib.util.find_spec("tensorflow") is None:
        missing("tensorflow")
    checks = {check.name: check for check in catalogue.checks}
    asked: list[tuple[str, str]] = []
    for check, number, setting in _TEXTS.values():
        example = checks[check].examples[number]
        fixed, refused = fixed_example(example.files, example.target, checks[check].code, catalogue)
        assert list(fixed) == [_SCRIPT], f"{check} {number} {refused}"
        asked += [(setting, example.files[_SCRIPT]), (setting, fixed[_SCRIPT])]
    folder = tmp_path_factory.mktemp("numbers")
    done = subprocess.run(
        [sys.executable, _RUNNER],
        input=json.dumps(asked),
        capture_output=True,
        text=True,
        env={**os.environ, "NUMBERS_FOLDER": str(folder)},
        timeout=600,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    found = json.loads(done.stdout)
    return {name: (found[2 * place], found[2 * place + 1]) for place, name in enumerate(_TEXTS)}


@pytest.mark.parametrize("name", _EQUAL)
def test_the_numbers_stay(name: str, answers: Answers) -> None:
    before, after = answers[name]
    tolerance = _EQUAL[name][3]
    assert "error" not in before, before
    assert before.keys() == after.keys(), after
    for key, value in before.items():
        assert _alike(value, after[key], tolerance), f"{key}: {value} became {after[key]}"


def test_a_sum_in_float32_counts_what_float16_cannot(answers: Answers) -> None:
    _, after = answers["more ones than float16 counts"]
    assert after == {"value": [9000.0], "type": "float16"}


def test_the_root_of_zero_gets_a_gradient(answers: Answers) -> None:
    before, after = answers["root of zero"]
    assert not all(map(math.isfinite, _flat(before["gradient"])))
    assert all(map(math.isfinite, _flat(after["gradient"])))
    assert _alike(before["value"], after["value"], 2e-3)


def test_probabilities_leave_a_float16_policy_in_float32(answers: Answers) -> None:
    before, after = answers["softmax under a policy"]
    assert (before, after) == ({"type": "float16"}, {"type": "float32"})


def test_the_own_callback_stays_at_the_end_of_the_list(answers: Answers) -> None:
    before, after = answers["callback at the end"]
    assert before["error"] == "AttributeError"
    assert after == {"given": 2, "losses": [1.0, 0.5]}


def _flat(value: Any) -> list[float]:
    return [number for part in value for number in _flat(part)] if isinstance(value, list) else [value]


def _alike(one: Any, other: Any, tolerance: float) -> bool:
    """Whether two answers have one shape, and numbers that differ by no more than `tolerance`, relative or absolute."""
    if isinstance(one, list):
        return (
            isinstance(other, list)
            and len(one) == len(other)
            and all(_alike(first, second, tolerance) for first, second in zip(one, other, strict=True))
        )
    if isinstance(one, str):
        return bool(one == other)
    return math.isclose(one, other, rel_tol=tolerance, abs_tol=tolerance)
