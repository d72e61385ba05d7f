"""Programs whose code serves evaluation, prediction or a machine without an NPU as well as training: with the safe
fixes they run as before, and give the same predictions, as many of them."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from functools import cache
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from npulint.commands.check.fix_command import fix_texts
from npulint.judge.catalogue.check import Catalogue
from npulint.judge.catalogue.load import load_catalogue
from tests.tools import missing

pytestmark = pytest.mark.slow

_RUNNER = Path(__file__).parent / "runs_elsewhere.py"

_INPUTS = """
import tensorflow as tf
from npu_bridge.npu_init import *


def make_input_fn(rows, batch, training):
    def input_fn():
        dataset = tf.data.Dataset.range(rows)
{stages}
    return input_fn


estimator = NPUEstimator(model_fn=None, config=NPURunConfig())
estimator.train(make_input_fn(10, 4, True), max_steps=6)
answers = {{
    "sizes": estimator.sizes,
    "evaluated": estimator.evaluate(make_input_fn(11, 4, False), steps=50),
    "predicted": list(estimator.predict(make_input_fn(7, 4, False))){only},
}}
"""
# Stages -> what the safe fixes write in the call of batch; nothing where they leave it.
_STAGES = {
    "repeated while training": (
        "if training:\n    dataset = dataset.repeat()\nreturn dataset.batch(batch).prefetch(1)",
        "batch, drop_remainder=training",
    ),
    "repeated and then mapped": (
        "if training:\n    dataset = dataset.shuffle(20, seed=3).repeat()\n"
        "dataset = dataset.map(lambda one: one + 1)\nreturn dataset.batch(batch)",
        "batch, drop_remainder=training",
    ),
    "made in both branches": (
        "if training:\n    dataset = tf.data.Dataset.range(rows).repeat()\n"
        "else:\n    dataset = tf.data.Dataset.range(rows)\nreturn dataset.batch(batch)",
        "batch, drop_remainder=training",
    ),
    "not a boolean": (
        "mode = 'train' if training else ''\nif mode:\n    dataset = dataset.repeat()\nreturn dataset.batch(batch)",
        "batch, drop_remainder=bool(mode)",
    ),
    "a comparison": (
        "mode = 'train' if training else 'eval'\nif mode == 'train':\n    dataset = dataset.repeat()\n"
        "return dataset.batch(batch)",
        "batch, drop_remainder=mode == 'train'",
    ),
    "a batch for each job": (
        "if training:\n    dataset = dataset.repeat()\n    dataset = dataset.batch(batch)\n"
        "else:\n    dataset = dataset.batch(batch)\nreturn dataset",
        "batch, drop_remainder=True",
    ),
    "the name has changed": (
        "endless = training\nif endless:\n    dataset = dataset.repeat()\nendless = True\nreturn dataset.batch(batch)",
        "",
    ),
    "an end behind the repetition": (
        "if training:\n    dataset = dataset.repeat()\ndataset = dataset.take(5)\nreturn dataset.batch(batch)",
        "",
    ),
    "another end in the branch": (
        "if training:\n    dataset = dataset.repeat()\n    dataset = dataset.take(9)\nreturn dataset.batch(batch)",
        "",
    ),
    "a number of epochs": ("dataset = dataset.repeat(None if training else 1)\nreturn dataset.batch(batch)", ""),
    "repeated by a conditional expression": (
        "dataset = dataset.repeat() if training else dataset\nreturn dataset.batch(batch)",
        "",
    ),
    "one of two conditions": (
        "if training:\n    dataset = dataset.repeat()\nif rows > 8:\n    dataset = dataset.take(9)\n"
        "return dataset.batch(batch)",
        "",
    ),
    "both of two conditions": (
        "if training:\n    if rows > 8:\n        dataset = dataset.repeat()\nreturn dataset.batch(batch)",
        "",
    ),
    "repeated in a loop": (
        "for _ in range(int(training)):\n    dataset = dataset.repeat()\nreturn dataset.batch(batch)",
        "",
    ),
    "several together": (
        "dataset = tf.data.Dataset.zip((dataset.repeat(), dataset)).map(lambda one, _: one)\n"
        "return dataset.batch(batch)",
        "",
    ),
}

_TRAINING = """
model = torch.nn.Linear(2, 1).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(2):
    optimizer.zero_grad()
    loss = activation(model(torch.ones(3, 2, device=device))).sum()
    loss.backward()
    optimizer.step()
answers = {"loss": loss.item(), "more": []}
"""
_SEEDED = "import torch\n\ntorch.manual_seed(1)\n"
# Programs that also run on a machine without an NPU, and use code for the NPU where there is one.
_ELSEWHERE = {
    "torch_npu is imported where it is needed": {
        "train.py": _SEEDED
        + """
device = "npu:0" if hasattr(torch, "npu") else "cpu"


def activation(x):
    if x.device.type == "npu":
        import torch_npu
        return torch.npu_fast_gelu(x)
    return torch.nn.functional.gelu(x)
"""
        + _TRAINING
    },
    "a module is shared with a script for the CPU": {
        "train.py": _SEEDED + "from ops import activation\n\ndevice = 'cpu'\n" + _TRAINING,
        "train_npu.py": "import torch\nimport torch_npu\nfrom ops import activation\n\ndevice = 'npu:0'\n" + _TRAINING,
        "ops.py": """import torch


def activation(x):
    if x.device.type == "npu":
        return torch.npu_fast_gelu(x)
    return torch.nn.functional.gelu(x)
""",
    },
    "the old import below an option": {
        "train.py": _SEEDED.replace("torch\n", "torch, sys\n", 1)
        + """
if "--npu" in sys.argv:
    import torch.npu
    device = "npu:0"
else:
    device = "cpu"
activation = torch.relu
"""
        + _TRAINING
    },
    "the device that is there": {
        "train.py": _SEEDED
        + """
device = "npu:0" if hasattr(torch, "npu") and torch.npu.is_available() else "cpu"
activation = torch.relu
"""
        + _TRAINING
    },
    "a flag of cuDNN that is asked": {
        "train.py": _SEEDED
        + """
try:
    import torch_npu
    device = "npu:0"
except ImportError:
    device = "cpu"
torch.backends.cudnn.enabled = False
activation = torch.relu
"""
        + _TRAINING
        + "answers['more'] = [torch.backends.cudnn.enabled]\n"
    },
    "a loader that shuffles without its sampler": {
        "train.py": _SEEDED
        + """
from torch.utils.data import DataLoader, SequentialSampler

data = list(range(9))


def batches(data, sampler=None):
    return DataLoader(data, batch_size=4, shuffle=sampler is None, sampler=sampler)


def shuffled(data, sampler):
    return DataLoader(data, batch_size=4, shuffle=True, sampler=sampler)


device = "cpu"
activation = torch.relu
"""
        + _TRAINING
        + """
rows = [batches(data, SequentialSampler(data)), shuffled(data, None)]
answers["more"] = [sorted(torch.cat(list(one)).tolist()) for one in rows]
"""
    },
}


def _programs() -> dict[str, dict[str, str]]:
    found = dict(_ELSEWHERE)
    for name, (stages, _) in _STAGES.items():
        endless = name == "the name has changed"
        body = "\n".join(f"        {line}" for line in stages.splitlines())
        text = _INPUTS.format(stages=body, only="[:20]" if endless else "")
        found[name] = {"train.py": dedent(text)}
    return found


@cache
def _catalogue() -> Catalogue:
    return load_catalogue()


def _mended(files: dict[str, str]) -> dict[str, str]:
    target = {"torch": "2.1.0"} if "torch" in files["train.py"] else {"tensorflow": "1.15"}
    done = fix_texts(files, target, _catalogue(), unsafe=False)
    return {**files, **{one.path: one.after.decode() for one in done.files}}


@pytest.fixture(scope="module")
def answers() -> dict[str, tuple[Any, Any]]:
    """What each program keeps, as it is and with the safe fixes."""
    for package in ("tensorflow", "torch"):
        if importlib.util.find_spec(package) is None:
            missing(package)
    programs = _programs()
    asked = [one for files in programs.values() for one in (files, _mended(files))]
    done = subprocess.run(
        [sys.executable, str(_RUNNER)],
        input=json.dumps(asked),
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    found = json.loads(done.stdout)
    return {name: (found[2 * place], found[2 * place + 1]) for place, name in enumerate(programs)}


@pytest.mark.parametrize("name", [*_ELSEWHERE, *_STAGES])
def test_the_safe_fixes_change_nothing_that_any_job_gets(name: str, answers: dict[str, tuple[Any, Any]]) -> None:
    before, after = answers[name]
    assert isinstance(before, dict), before
    assert after == before


@pytest.mark.parametrize("name", _STAGES)
def test_a_batch_drops_what_is_left_only_where_nothing_is(name: str) -> None:
    program, (_, written) = _programs()[name], _STAGES[name]
    changed = [line for line in _mended(program)["train.py"].splitlines() if "drop_remainder" in line]
    assert [written in line for line in changed] == ([True] if written else [])


def test_a_fix_that_drops_the_last_rows_is_noticed(answers: dict[str, tuple[Any, Any]]) -> None:
    before, _ = answers["repeated while training"]
    assert before["sizes"] == [4] * 6
    assert (before["evaluated"]["count"], len(before["predicted"])) == (11, 7)
