"""What is taken out of files when all fixes are made, and the blank lines around it."""

from __future__ import annotations

import pytest

from npulint.commands.check.fix_command import fix_texts
from npulint.facts.model import Span
from npulint.fix.edits import closed_up
from npulint.fix.model import Text
from npulint.fix.python.device_checks import without_unread
from npulint.fix.python.tree import Tree
from npulint.fix.python.unused import without_unused
from npulint.fix.source import edited_text
from npulint.judge.catalogue.load import load_catalogue
from npulint.judge.findings import Edit
from tests.test_fix_command import catalogue, check


def cleaned(before: str, after: str, path: str = "a.py", exported: bool = False) -> str:
    trees = Tree(Text(path, "python", before)), Tree(Text(path, "python", after))
    kinds = (without_unused, without_unread)
    return edited_text(after, [edit for kind in kinds for edit in kind(*trees, lambda name: exported)])


ASKED = "import tensorflow as tf\n\n\ndef f():\n    gpus = tf.config.list_physical_devices('GPU')\n"
NPU = "from npu_bridge.npu_init import a, b\n"


@pytest.mark.parametrize(
    ("before", "after", "result"),
    [
        (ASKED + "    g(gpus)\n    h()\n", ASKED + "    h()\n", "import tensorflow as tf\n\n\ndef f():\n    h()\n"),
        (ASKED + "    h()\n", ASKED + "    h()\n", ASKED + "    h()\n"),
        (ASKED + "    g(gpus)\n    h(gpus)\n", ASKED + "    h(gpus)\n", ASKED + "    h(gpus)\n"),
        (ASKED + "    g(gpus)\n", ASKED, ASKED),
        ("g(x)\n", NPU + "a()\n", "from npu_bridge.npu_init import a\na()\n"),
        ("g(x)\n", NPU + "h()\n", "h()\n"),
        (NPU + "a()\n", NPU + "h()\n", NPU + "h()\n"),
        ("g(x)\n", NPU + "eval('a()')\n", NPU + "eval('a()')\n"),
        ("g(x)\n", "from npu_bridge.npu_init import *\n", "from npu_bridge.npu_init import *\n"),
        (
            "g(x)\n",
            "from npu_bridge.estimator.npu import npu_convert_dropout\n",
            "from npu_bridge.estimator.npu import npu_convert_dropout\n",
        ),
        ("import os\nos.x()\n", "import os\n", "import os\n"),
    ],
)
def test_left_over(before: str, after: str, result: str) -> None:
    assert cleaned(before, after) == result


def test_what_others_look_up_stays() -> None:
    asked = "gpus = tf.config.list_physical_devices('GPU')\n"
    assert cleaned(asked + "f(gpus)\nh()\n", asked + "h()\n") == "h()\n"
    assert cleaned(asked + "f(gpus)\nh()\n", asked + "h()\n", exported=True) == asked + "h()\n"
    assert cleaned(asked + "f(gpus)\nh()\n", asked + "h()\n", path="b/__init__.py") == asked + "h()\n"


def lines(first: int, last: int) -> Edit:
    """The deletion of some lines."""
    return Edit("a.py", Span(first, 1, last + 1, 1), "")


@pytest.mark.parametrize(
    ("text", "edits", "result"),
    [
        ("a\n\nb\nc\n\nd\n", (lines(3, 3), lines(4, 4)), "a\n\nd\n"),
        ("a\n\n\nb\nc\n\nd\n", (lines(4, 4), lines(5, 5)), "a\n\n\nd\n"),
        ("a\nb\nc\n\nd\n", (lines(2, 2), lines(3, 3)), "a\n\nd\n"),
        ("a\n\nb\nx\nc\n\nd\n", (lines(3, 3), lines(5, 5)), "a\n\nx\n\nd\n"),
        ("a\n\nb\nc\n\nd\n", (lines(3, 3), lines(4, 4), Edit("a.py", Span(5, 1, 5, 1), "x\n")), "a\n\nx\n\nd\n"),
    ],
)
def test_closed_up(text: str, edits: tuple[Edit, ...], result: str) -> None:
    assert edited_text(text, closed_up(text, edits)) == result


def test_a_name_that_two_fixes_need_by_turns() -> None:
    source = (
        "import horovod.tensorflow as hvd\nimport tensorflow as tf\n\nhvd.init()\nconfig = tf.ConfigProto()\n"
        "config.gpu_options.visible_device_list = str(hvd.local_rank())\n"
        "opt = hvd.DistributedOptimizer(tf.train.AdamOptimizer(1e-3))\n"
        "with tf.Session(config=config) as sess:\n    sess.run(opt.minimize(loss))\n"
    )
    mended = fix_texts({"train.py": source}, {}, load_catalogue())
    (after,) = [one.after.decode() for one in mended.files]
    assert "local_rank" not in after
    assert "config = tf.ConfigProto()" in after
    assert "npu_distributed_optimizer_wrapper(" in after


@pytest.mark.parametrize(("adapter", "mended"), [("npu_device", False), ("npu_bridge.npu_init", True), ("numpy", True)])
def test_the_adapter_of_the_other_tensorflow_is_not_imported(adapter: str, mended: bool) -> None:
    edits = "[rename: torch.new, import: from npu_bridge.npu_init import npu_ops]"
    one = check("NPU5104", "old", "{call: torch.old}", f"{{applicability: safe, edits: {edits}}}")
    files = {"main.py": f"import {adapter}\n", "tool.py": "import torch\n\ntorch.old(1)\n"}
    result = fix_texts(files, {}, catalogue(one))
    assert bool(result.files) == mended
    assert [one.reason for one in result.refused] == [] if mended else ["adapter"]
