"""Examples of checks, with the fixes of all checks, run with the fakes, as far as they are whole programs."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

from npulint.commands.check.fix_command import fix_texts
from npulint.fakes.launch import Framework
from npulint.judge.catalogue.check import Example
from npulint.judge.catalogue.load import load_catalogue
from tests.test_fix_runs_programs import run_all, tensorflow1
from tests.tools import missing

pytestmark = pytest.mark.slow

_TOPICS = {
    "tensorflow": ("session_config", "estimator_migration", "loss_scale", "dropout"),
    "pytorch": ("fused_optimizer", "apex_amp", "loss_scale"),
}
_LEFT_OUT = (
    "NameError",
    "ModuleNotFoundError",
    "FileNotFoundError",
    "FailedPreconditionError",
    "ValueError: When using data tensors",
    "TypeError: 'Tensor' object is not callable",  # `loss()`
    "ValueError: Shapes (8, 10) and (8, 1)",
    "ValueError: Default process group has not been initialized",
    "RuntimeError: NpuFusedAdam: parameters must be on the NPU",
)
"""What fragments raise: they leave out a name, a module of the project, data, or to initialise variables, the group
or to move the model."""
_CATALOGUE = load_catalogue()


def _examples(family: str) -> dict[str, Example]:
    found: dict[str, Example] = {}
    for check in _CATALOGUE.checks:
        if check.family == family and check.topic in _TOPICS[family]:
            mended = [one for one in check.examples if one.bad and one.fixed]
            found |= {f"{check.name}-{number}": one for number, one in enumerate(mended)}
    return {name: one for name, one in found.items() if _entry(one) and "npu_device" not in "".join(one.fixed.values())}


def _entry(example: Example) -> str:
    names = [name for name in example.files if name.endswith(".py")]
    return next((name for name in names if name.endswith("train.py")), names[0] if names else "")


def _raised(family: str, framework: Framework, python: str, folder: Path) -> dict[str, str]:
    """The last line of what each example raised; those that only leave something out are not among them."""
    examples = _examples(family)
    given = Path(__file__).parent / "data" / "left_out" / f"{framework}.py"
    target = {"tensorflow": "1.15"} if framework == "tensorflow1" else {}
    programs = []
    for one in examples.values():
        done = fix_texts(one.files, {**target, **one.target}, _CATALOGUE)
        files = {**one.files, **{change.path: change.after.decode() for change in done.files}}
        programs.append({"files": files, "script": _entry(one), "given": str(given)})
    answers = run_all(programs, folder, framework, python)
    last = [(text.strip().splitlines() or [""])[-1] for text in answers]
    return {name: line for name, line in zip(examples, last, strict=True) if not line.startswith(_LEFT_OUT)}


def test_fixed_tensorflow_examples_run(tmp_path: Path) -> None:
    raised = _raised("tensorflow", "tensorflow1", tensorflow1(), tmp_path)
    assert {name: line for name, line in raised.items() if line} == {}
    assert len(raised) >= 20


def test_fixed_torch_examples_run(tmp_path: Path) -> None:
    if importlib.util.find_spec("torch") is None:
        missing("torch")
    raised = _raised("pytorch", "torch", sys.executable, tmp_path)
    assert {name: line for name, line in raised.items() if line} == {}
    assert len(raised) >= 20
