"""What is tidied up when all fixes are made: imports that nothing uses any more, lines that stood below a bracket; and
who feeds an evaluation."""

from __future__ import annotations

import pytest

from npulint.commands.check.fix_command import fix_texts
from npulint.fix.model import Text
from npulint.fix.python.aligned import realigned
from npulint.fix.python.tree import Tree
from npulint.fix.python.unused import looks_up, without_unused
from npulint.fix.source import edited_text
from npulint.judge.catalogue.load import load_catalogue

CUDNN = "import torch\nimport torch.backends.cudnn as cudnn\n"
GONE = "import torch\n"
TWO = "from apex.optimizers import FusedAdam, FusedSGD\n"


def tree(text: str, path: str = "a.py") -> Tree:
    return Tree(Text(path, "python", text))


@pytest.mark.parametrize(
    ("before", "after", "result"),
    [
        (CUDNN + "cudnn.benchmark = True\nf()\n", CUDNN + "f()\n", GONE + "f()\n"),
        (CUDNN + "f()\n", CUDNN + "f()\n", CUDNN + "f()\n"),  # nobody used it before either
        (CUDNN + "cudnn.x = cudnn.y = 1\n", CUDNN + "cudnn.y = 1\n", CUDNN + "cudnn.y = 1\n"),
        (CUDNN + "cudnn.x = 1\n", CUDNN + "__all__ = ['cudnn']\n", CUDNN + "__all__ = ['cudnn']\n"),
        (CUDNN + "cudnn.x = 1\n", CUDNN + "eval('cudnn.x')\n", CUDNN + "eval('cudnn.x')\n"),
        (CUDNN + "cudnn.x = 1\n", CUDNN + "def eval(x): x.eval()\n", GONE + "def eval(x): x.eval()\n"),
        (CUDNN + "cudnn.x = 1\n", CUDNN + "f(help='the cudnn flag')\n", GONE + "f(help='the cudnn flag')\n"),
        (
            TWO + "FusedSGD()\nFusedAdam()\n",
            TWO + "FusedAdam()\n",
            "from apex.optimizers import FusedAdam\nFusedAdam()\n",
        ),
        ("from .torch import a\na()\n", "from .torch import a\nb()\n", "from .torch import a\nb()\n"),
        ("import torch\ntorch.a()\n", "import torch\nb()\n", "import torch\nb()\n"),
        (
            "import torch.optim as optim  # noqa: F401\noptim.x()\n",
            "import torch.optim as optim  # noqa: F401\n",
            "import torch.optim as optim  # noqa: F401\n",
        ),
        (
            "import torch\ntorch.cuda.synchronize()\nf(input)\n",
            "import torch\nimport torch_npu\nf(input)\n",
            "import torch\nf(input)\n",
        ),
        (
            "import torch\ntorch.cuda.x()\n",
            "import torch\nimport torch_npu\ntorch.npu.x()\n",
            "import torch\nimport torch_npu\ntorch.npu.x()\n",
        ),
        ("import torch\nf()\n", "import torch\nimport torch_npu\nf()\n", "import torch\nimport torch_npu\nf()\n"),
    ],
)
def test_imports_that_are_used_no_longer_go(before: str, after: str, result: str) -> None:
    trees = tree(before), tree(after)
    assert edited_text(after, without_unused(*trees, lambda name: False)) == result


def test_what_others_import_stays() -> None:
    before, after = CUDNN + "cudnn.x = 1\n", CUDNN + "f()\n"
    assert not without_unused(tree(before), tree(after), lambda name: True)
    assert not without_unused(tree(before, "b/__init__.py"), tree(after, "b/__init__.py"), lambda name: False)


@pytest.mark.parametrize(
    ("text", "looked_up"),
    [
        ("from train import cudnn\n", True),
        ("from .train import (\n    cudnn,\n)\n", True),
        ("from a.train import *\n", True),
        ("import train\ntrain.cudnn.x = 1\n", True),
        ("from train import main\n", False),
        ("from pretrain import cudnn\n", False),
        ("cudnn = 1\n", False),
    ],
)
def test_who_takes_a_name_from_a_module(text: str, looked_up: bool) -> None:
    assert looks_up(text, "train", "cudnn") is looked_up


@pytest.mark.parametrize(
    ("before", "after", "result"),
    [
        (
            "x = torch.optim.SGD(a,\n                    b=1)\n",
            "x = Npu(a,\n                    b=1)\n",
            "x = Npu(a,\n        b=1)\n",
        ),
        ("x = S(a,\n      b=1)\n", "x = Fused(a,\n      b=1)\n", "x = Fused(a,\n          b=1)\n"),
        ("x = S(a, [\n    1,\n], b)\n", "x = Fused(a, [\n    1,\n], b)\n", "x = Fused(a, [\n    1,\n], b)\n"),
        ("x = S(\n    a,\n)\n", "x = Fused(\n    a,\n)\n", "x = Fused(\n    a,\n)\n"),
        (
            'x = S("""\n      text""",\n      b)\n',
            'x = Fused("""\n      text""",\n      b)\n',
            'x = Fused("""\n      text""",\n          b)\n',
        ),
        (
            "x = S(T(a,\n        b),\n      # c\n      d)\n",
            "x = Fused(T(a,\n        b),\n      # c\n      d)\n",
            "x = Fused(T(a,\n            b),\n          # c\n          d)\n",
        ),
        ("x = S(a,\n\t b)\n", "x = Fused(a,\n\t b)\n", "x = Fused(a,\n\t b)\n"),
        ("x = S(a,\n     b)\n", "x = Fused(a,\n     b)\n", "x = Fused(a,\n     b)\n"),  # it was askew before
    ],
)
def test_lines_below_a_bracket_move_with_it(before: str, after: str, result: str) -> None:
    trees = tree(before), tree(after)
    found = edited_text(after, realigned(*trees, lambda line: line))
    assert found == result
    assert edited_text(found, realigned(tree(found), tree(found), lambda line: line)) == found


LOADER = """\
import torch
import torch_npu
from torch.utils.data import DataLoader


def load(rows{more}):
    return DataLoader(rows, batch_size=8, shuffle=True)


loader = load(torch.ones(65, 3))
{other}model = torch.nn.Linear(3, 3).npu()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x in loader:
    model(x.npu()).sum().backward()
    optimizer.step()
"""


@pytest.mark.parametrize(
    ("more", "other", "dropped"),
    [
        ("", "", True),
        ("", "again = load(torch.ones(65, 3))\n", True),
        ("", "test_loader = load(torch.ones(65, 3))\n", False),
        ("", "other = load(val_rows)\n", False),
        (", mode='train'", "other = load(rows, mode='test')\n", False),
        (", is_train=True", "other = load(rows, is_train=False)\n", False),
    ],
)
def test_a_loader_made_to_evaluate_as_well_keeps_its_last_batch(more: str, other: str, dropped: bool) -> None:
    source = LOADER.format(more=more, other=other)
    mended = fix_texts({"train.py": source}, {}, load_catalogue(), ("NPU2380",))
    assert bool(mended.files) is dropped


def test_what_one_program_still_needs_stays_in_the_requirements() -> None:
    program = "import torch\nmodel = torch.nn.Linear(3, 3)\nprint(model)\n"
    files = {
        "infer.py": program,
        "train.py": "import pynvml\n" + program,
        "requirements.txt": "torch\npynvml==11.0.0\n",
    }
    catalogue = load_catalogue()
    assert not fix_texts(files, {}, catalogue, ("NPU3404",)).files
    files["train.py"] = program
    assert [one.path for one in fix_texts(files, {}, catalogue, ("NPU3404",)).files] == ["requirements.txt"]
