"""A statement that a file has many times: what is asked of one of them is not asked of all others again."""

from __future__ import annotations

from pathlib import Path

import pytest

from npulint.cli.main import main
from tests.growth import within

pytestmark = pytest.mark.slow

CASES = {
    "optimizers in one expression with others": (
        "import tensorflow.compat.v1 as tf\nfrom npu_bridge.npu_init import *\n"
        "config = NPURunConfig(precision_mode='allow_mix_precision')\n",
        "step = tf.train.MomentumOptimizer(0.1, 0.9).minimize(dice(labels(), logits()))\n",
        1000,
        ("check", "--no-cache"),
        2.0,
    ),
    "backward calls of a script": (
        "import torch\n",
        "for x in loader:\n    model(x).mean().backward()\n",
        2000,
        ("check", "--no-cache"),
        2.0,
    ),
    "environment variables with those beside them": (
        "import os\nimport torch\n",
        "os.environ['ASCEND_{number}'] = value()\n",
        1500,
        ("facts", "--format=text"),
        3.0,
    ),
    "moves that become moves to a device helper": (
        "import torch\n",
        "m = torch.nn.Linear(1, 1).cuda()\n",
        250,
        ("check", "--no-cache", "--diff", "--unsafe-fixes", "--torch-port=agnostic"),
        4.0,
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_a_repeated_statement(case: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    head, statement, times, words, seconds = CASES[case]
    script = tmp_path / "train.py"
    text = head + "".join(statement.replace("{number}", str(number)) for number in range(times))
    script.write_text(text, encoding="utf-8")
    with within(seconds):
        assert main([*words, str(script)]) in (0, 1)
    assert capsys.readouterr().out
