"""One optimizer, made in every way that real PyTorch code makes it, is one fact and one finding."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.project_support import Project
from tests.support import facts

_SGD = "torch.optim.SGD"
_IDIOMS = {
    "full path": "import torch\no = torch.optim.SGD(params, lr=0.1)\n",
    "module alias at the import": "import torch.optim as optim\no = optim.SGD(params, lr=0.1)\n",
    "module from import": "from torch import optim\no = optim.SGD(params, lr=0.1)\n",
    "another name for torch": "import torch as th\no = th.optim.SGD(params, lr=0.1)\n",
    "import in a function": "def build(params):\n    import torch\n    return torch.optim.SGD(params, lr=0.1)\n",
    "class from import": "from torch.optim import SGD\no = SGD(params, lr=0.1)\n",
    "class under another name": "from torch.optim import SGD as Opt\no = Opt(params, lr=0.1)\n",
    "base class": "import torch\nclass My(torch.optim.SGD):\n    pass\no = My(params, lr=0.1)\n",
    "module in a variable": "import torch\nO = torch.optim\no = O.SGD(params, lr=0.1)\n",
    "class in a variable": "import torch\ncls = torch.optim.SGD\no = cls(params, lr=0.1)\n",
    "import in try": (
        "try:\n    from torch.optim import SGD\nexcept ImportError:\n    SGD = None\no = SGD(params, lr=0.1)\n"
    ),
    "star import": "from torch.optim import *\no = SGD(params, lr=0.1)\n",
    "registry": 'import torch\nTABLE = {"sgd": torch.optim.SGD}\no = TABLE[name](params, lr=0.1)\n',
    "partial": "import functools\nimport torch\nmake = functools.partial(torch.optim.SGD, lr=0.1)\no = make(params)\n",
    "getattr with a literal": 'import torch\no = getattr(torch.optim, "SGD")(params, lr=0.1)\n',
    "dictionary of the module": 'import torch\no = torch.optim.__dict__["SGD"](params, lr=0.1)\n',
}
_MORE = {
    "private module": "from torch.optim.sgd import SGD\no = SGD(params, lr=0.1)\n",
    "partial from import": "from functools import partial\nfrom torch.optim import SGD\nmake = partial(SGD, lr=0.1)\n",
    "handed to a helper": "import torch\no = build(torch.optim.SGD, params)\n",
    "returned": "import torch\ndef choose():\n    return torch.optim.SGD\n",
    "default of a parameter": "import torch\ndef build(params, cls=torch.optim.SGD):\n    return cls(params, lr=0.1)\n",
    "one of two by a condition": "import torch\no = torch.optim.SGD(params, lr=0.1) if plain else Other(params)\n",
    "on self": (
        "import torch\nclass T:\n    def __init__(self, params):\n        self.cls = torch.optim.SGD\n"
        "        self.o = self.cls(params, lr=0.1)\n"
    ),
}


@pytest.mark.parametrize("text", [*_IDIOMS.values(), *_MORE.values()], ids=[*_IDIOMS, *_MORE])
def test_idiom_is_one_stock_optimizer(text: str) -> None:
    found = facts(text, "optimizer")
    assert [(f.name, f.get("family"), f.get("fused")) for f in found] == [(_SGD, "stock", "NpuFusedSGD")]


def test_class_that_a_local_module_hands_on_is_found_where_it_is_used() -> None:
    sources = {
        "mylib.py": "from torch.optim import SGD\n",
        "train.py": "import torch\nfrom mylib import SGD\no = SGD(params, lr=0.1)\n",
    }
    assert [(f.path, f.name) for f in facts(sources, "optimizer")] == [("train.py", _SGD)]


_NEGATIVES = {
    "docstring": 'import torch\ndef build():\n    """Like torch.optim.SGD(params, lr=0.1)."""\n',
    "text in a string": 'import torch\ns = "torch.optim.SGD(params, lr=0.1)"\n',
    "comment": "import torch\nx = 1  # torch.optim.SGD(params, lr=0.1)\n",
    "method of the same name": "import torch\no = foo.SGD(1)\n",
    "own class of the same name": "import torch\nclass SGD:\n    pass\no = SGD(params)\n",
    "question about the class": "import torch\nplain = isinstance(o, torch.optim.SGD)\n",
    "annotation": "import torch\ndef step(o: torch.optim.SGD) -> torch.optim.SGD:\n    return o\n",
    "own step": "import torch\nclass Mine(torch.optim.SGD):\n    def step(self, closure=None):\n        pass\n",
    "parameter called torch": "import torch\ndef f(torch):\n    return torch.optim.SGD(params)\n",
    "optimizer without a fused counterpart": "import torch\no = torch.optim.Adagrad(params)\n",
}


@pytest.mark.parametrize("text", _NEGATIVES.values(), ids=_NEGATIVES.keys())
def test_look_alike_is_no_optimizer_to_replace(text: str) -> None:
    assert facts(text, "optimizer") == []


_LOOP = "for batch in data:\n    model(batch).sum().backward()\n    o.step()\n"


@pytest.mark.parametrize("text", _IDIOMS.values(), ids=_IDIOMS.keys())
def test_idiom_is_reported_once(text: str, tmp_path: Path) -> None:
    project = Project(tmp_path).write({"train.py": text + _LOOP})
    assert len(project.check("--min-severity=note", str(tmp_path)).places("unfused-optimizer")) == 1
