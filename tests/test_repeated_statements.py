"""A statement that a file has many times: what is asked of one of them is not asked of all others again."""

from __future__ import annotations

from pathlib import Path

import pytest

from npulint.hosts.cli.main import main
from tests.growth import assert_linear

pytestmark = pytest.mark.slow

CASES = {
    "optimizers in one expression with others": (
        "import tensorflow.compat.v1 as tf\nfrom npu_bridge.npu_init import *\n"
        "config = NPURunConfig(precision_mode='allow_mix_precision')\n",
        "step = tf.train.MomentumOptimizer(0.1, 0.9).minimize(dice(labels(), logits()))\n",
        ("check", "--no-cache"),
    ),
    "backward calls of a script": (
        "import torch\n",
        "for x in loader:\n    model(x).mean().backward()\n",
        ("check", "--no-cache"),
    ),
    "environment variables with those beside them": (
        "import os\nimport torch\n",
        "os.environ['ASCEND_{number}'] = value()\n",
        ("facts", "--format=text"),
    ),
    "moves that become moves to a device helper": (
        "import torch\n",
        "m = torch.nn.Linear(1, 1).cuda()\n",
        ("check", "--no-cache", "--diff", "--unsafe-fixes", "--torch-port=agnostic"),
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_a_repeated_statement(case: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    head, statement, words = CASES[case]

    def script(times: int) -> str:
        path = tmp_path / f"train_{times}.py"
        path.write_text(head + "".join(statement.replace("{number}", str(number)) for number in range(times)))
        return str(path)

    def run(path: str) -> None:
        assert main([*words, path]) in (0, 1)
        assert capsys.readouterr().out

    assert_linear(script, run, 120)
