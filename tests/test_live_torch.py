"""What a recorded step of PyTorch says: verdicts, lines and numbers, for models of many kinds."""

from __future__ import annotations

import ast
import json
import re
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.live_support import framework
from tests.measured import python

pytestmark = pytest.mark.slow

MODELS = Path(__file__).parent / "live_torch_models.py"
FALLS = ("cpu", "cpu_out", "error")
READS = ("_local_scalar_dense", "nonzero", "masked_select", "_unique2")
BOUGHT = ("encoder_layer", "gru", "half_precision", "evaluation")
"""Models without a line of the user's own."""
PARTLY = ("own_function", "custom_loss")
"""Models with lines elsewhere: of a function before them, or of the caller."""
ROUNDED = {"half_precision": 1e-2}
"""How far numbers may be off: the two devices do not fold the same casts."""


def cases() -> dict[str, tuple[int, int]]:
    """The first and the last line of each model."""
    tree = ast.parse(MODELS.read_text(encoding="utf-8"))
    return {
        one.name: (one.lineno, one.end_lineno or 0)
        for one in tree.body
        if isinstance(one, ast.FunctionDef) and one.decorator_list
    }


CASES = cases()


def told(word: str, release: str = "") -> set[tuple[int, str]]:
    """Line and operator of each mark ``# word: names``."""
    found = set()
    for number, line in enumerate(MODELS.read_text(encoding="utf-8").split("\n"), 1):
        for label, names in re.findall(r"# ([a-z]+(?: [\d.]+)?): ([\w. ]+)", line):
            if label == word or (release and label == f"{word} {release}"):
                found |= {(number, name) for name in names.split()}
    return found


@cache
def recorded(release: str, method: str) -> dict[str, Any]:
    framework("torch")
    command = python("-m", "tests.live_torch_runs", release, method)
    ran = subprocess.run(command, cwd=MODELS.parent.parent, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    found: dict[str, Any] = json.loads(ran.stdout)
    return found


def run(name: str, release: str, method: str) -> dict[str, Any]:
    found: dict[str, Any] = recorded(release, method)[name]
    assert "error" not in found, found
    assert found["method"] == method
    return found


def bare(op: str) -> str:
    return op.removeprefix("aten.").removesuffix(".default")


def within(name: str, marks: set[tuple[int, str]]) -> set[tuple[int, str]]:
    first, last = CASES["cnn" if name == "" else name]
    if name == "own_function":
        first -= 20  # the function stands before its model
    return {mark for mark in marks if first <= mark[0] <= last}


@pytest.mark.parametrize("release", ["2.1", "2.13"])
@pytest.mark.parametrize("name", CASES)
def test_what_the_npu_does_not_compute_is_told_at_the_line_that_makes_it(name: str, release: str) -> None:
    nodes = run(name, release, "imaginary")["nodes"]
    assert {(line, bare(op)) for op, word, _, line, _ in nodes if word in FALLS} == within(name, told("cpu", release))


@pytest.mark.parametrize("release", ["2.1", "2.13"])
@pytest.mark.parametrize("name", CASES)
def test_every_operator_has_a_verdict_and_a_line(name: str, release: str) -> None:
    first, last = CASES[name]
    for op, word, _, line, _ in run(name, release, "imaginary")["nodes"]:
        assert word not in ("unknown", "custom", "decomposes"), op
        assert line > 0, op
    lines = {line for _, _, phase, line, _ in run(name, release, "imaginary")["nodes"] if phase == "forward"}
    if name in BOUGHT:
        assert len(lines) == 1, "the line that asked"
    else:
        outside = {line for line in lines if not first <= line <= last}
        assert lines - outside
        assert not outside or name in PARTLY


@pytest.mark.parametrize("name", CASES)
def test_each_reading_of_a_value_is_told(name: str) -> None:
    nodes = run(name, "2.13", "imaginary")["nodes"]
    masks = {mark for mark in within(name, told("sync")) if mark[1] == "index"}
    seen = {(line, bare(op)) for op, _, _, line, _ in nodes if bare(op) in READS}
    assert seen == within(name, told("sync")) - masks
    assert masks <= {(line, "index") for op, _, _, line, _ in nodes if op == "aten.index.Tensor"}


@pytest.mark.parametrize("method", ["imaginary", "dispatch"])
@pytest.mark.parametrize("name", CASES)
def test_the_numbers_are_those_of_the_cpu_and_everything_is_put_back(name: str, method: str) -> None:
    found = run(name, "2.13", method)
    assert found["worst"] <= ROUNDED.get(name, 1e-5)
    assert found["unchanged"]


@pytest.mark.parametrize("name", CASES)
def test_the_dispatcher_alone_agrees_on_what_falls_to_the_cpu(name: str) -> None:
    """It sees what a backend gets from above, so that out variants have the name of the operator itself."""
    nodes = run(name, "2.1", "dispatch")["nodes"]
    seen = {(line, op.split(".")[1]) for op, word, _, line, _ in nodes if word in FALLS}
    exact = {(line, name.split(".")[0]) for line, name in within(name, told("cpu", "2.1"))}
    assert seen <= exact
    inner = {(line, word) for line, word in exact if word.endswith("_backward") or word.startswith("_logcum")}
    assert exact - seen <= inner, "only what a generic kernel calls is out of sight"


def test_composite_operators_are_seen_as_the_npu_has_them() -> None:
    ops = {(bare(op), phase) for op, _, phase, _, _ in run("transformer", "2.13", "imaginary")["nodes"]}
    assert {("scaled_dot_product_attention", "forward"), ("scaled_dot_product_attention", "backward")} <= ops
    assert ("linear", "forward") not in ops
    also = {(bare(op), phase) for op, _, phase, _, _ in run("transformer", "2.13", "dispatch")["nodes"]}
    assert {("scaled_dot_product_attention", "forward"), ("scaled_dot_product_attention", "backward")} <= also
    rnn = {(bare(op), phase) for op, _, phase, _, _ in run("gru", "2.13", "dispatch")["nodes"]}
    assert {("gru.input", "forward"), ("gru.input", "backward")} <= rnn


def test_the_optimizer_has_a_phase_of_its_own() -> None:
    phases = {phase for _, _, phase, _, _ in run("gan", "2.13", "imaginary")["nodes"]}
    assert phases == {"forward", "backward", "optimizer"}
    steps = {bare(op) for op, _, phase, _, _ in run("gan", "2.13", "imaginary")["nodes"] if phase == "optimizer"}
    assert "_foreach_addcdiv_.ScalarList" in steps
