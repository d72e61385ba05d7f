"""The training step: conditions and exits as they are while training, classes that training makes, code that nothing
uses."""

from __future__ import annotations

from textwrap import indent

import pytest

from tests.support import facts

_LOOP = """
from net import Net

def train(loader, criterion, optimizer):
    net = Net()
    for x, y in loader:
        criterion(net(x, y), y).backward()
        optimizer.step()

train(loader, criterion, optimizer)
"""
_NET = """
import numpy as np
import torch

class Net(torch.nn.Module):
    def forward(self, x, targets=None, past_key_value=None):
{lines}
        return x
"""


def _steps(lines: str) -> list[object]:
    """How often the calls of ``torch.unique`` in a model run."""
    sources = {"train.py": f"import torch\n{_LOOP}", "net.py": _NET.format(lines=indent(lines, " " * 8))}
    return [fact.get("step") for fact in facts(sources, "call") if fact.name == "torch.unique"]


@pytest.mark.parametrize(
    ("lines", "step"),
    [
        ("torch.unique(x)", "yes"),
        ("if self.training:\n    torch.unique(x)", "yes"),
        ("if self.training or x is None:\n    pass\nelse:\n    torch.unique(x)", "no"),
        ("if self.training and self.deep:\n    pass\nelse:\n    torch.unique(x)", "yes"),
        ("if not self.training:\n    torch.unique(x)", "no"),
        ("if self.training == False:\n    torch.unique(x)", "no"),
        ("if self.training is not True:\n    torch.unique(x)", "no"),
        ("if targets is None:\n    torch.unique(x)", "no"),
        ("if past_key_value is not None:\n    torch.unique(x)", "no"),
        ("if torch.is_grad_enabled():\n    torch.unique(x)", "yes"),
        ("is_training = self.training\nif not is_training:\n    torch.unique(x)", "no"),
        ("if self.training:\n    return x\ntorch.unique(x)", "no"),
        ("if not self.training:\n    return x\ntorch.unique(x)", "yes"),
        ("if x.any():\n    return x\ntorch.unique(x)", "yes"),
        ("if self.mode == 'eval':\n    torch.unique(x)", "no"),
        ("if self.table is None:\n    self.table = torch.unique(x)", "gated"),
        ("if self.fresh:\n    torch.unique(x)\n    self.fresh = False", "gated"),
        ("if not self.ready:\n    torch.unique(x)\n    self.ready = True", "gated"),
        ("if self.fresh:\n    torch.unique(x)\n    self.fresh = True", "yes"),
        ("if self.fresh:\n    torch.unique(x)\n    self.other = False", "yes"),
        ("if not hasattr(self, 'table'):\n    self.table = torch.unique(x)", "gated"),
        ("if 'k' not in self.tables:\n    self.tables['k'] = torch.unique(x)", "gated"),
        ("if self.table is None:\n    torch.unique(x)", "yes"),
        ("self.seen += 1\nif self.seen == self.window:\n    torch.unique(x)", "gated"),
        ("if self.depth == self.window:\n    torch.unique(x)", "yes"),
        ("is_array = isinstance(x, np.ndarray)\nif is_array:\n    torch.unique(x)", "gated"),
    ],
)
def test_how_often_code_of_a_model_runs_while_training(lines: str, step: str) -> None:
    assert _steps(lines) == [step]


_USES = {
    "made by the training": ("from net import Wrapper\nWrapper()", "yes"),
    "passed on": ("from net import Wrapper\nbuild(Wrapper)", "yes"),
    "made to evaluate": ("from net import Wrapper\n@torch.no_grad()\ndef run():\n    Wrapper()", "no"),
    "made by a function for evaluation": ("from net import Wrapper\ndef evaluate():\n    Wrapper()", "no"),
    "made by the helper of such a function": (
        "from net import Wrapper\ndef make():\n    return Wrapper()\ndef evaluate():\n    make()",
        "no",
    ),
    "only tested for": ("from net import Wrapper\nisinstance(x, Wrapper)", "no"),
    "looked up": ("from net import *\neval(name)()", "yes"),
    "never named": ("", "no"),
}


@pytest.mark.parametrize(("use", "step"), _USES.values(), ids=_USES.keys())
def test_the_forward_of_a_class_counts_where_training_may_make_it(use: str, step: str) -> None:
    wrapper = "\nclass Wrapper(torch.nn.Module):\n    def forward(self, x):\n        torch.unique(x)\n"
    sources = {"train.py": f"import torch\n{_LOOP}{use}\n", "net.py": _NET.format(lines="        pass") + wrapper}
    assert [fact.get("step") for fact in facts(sources, "call") if fact.name == "torch.unique"] == [step]


@pytest.mark.parametrize(
    ("head", "step"),
    [("class Guide(Base):", "no"), ("class Guide(torch.nn.Module):", "yes"), ("class Guide(Module):", "yes")],
)
def test_frameworks_call_the_forward_of_modules_only(head: str, step: str) -> None:
    guide = f"\nclass Base:\n    pass\n\n{head}\n    def forward(self, x):\n        torch.unique(x)\n"
    use = "from net import Guide\nGuide()\n"
    sources = {"train.py": f"import torch\n{_LOOP}{use}", "net.py": _NET.format(lines="        pass") + guide}
    assert [fact.get("step") for fact in facts(sources, "call") if fact.name == "torch.unique"] == [step]


_ACTOR = """
import ray
import torch

class Driver:
    def training_step(self, samples):
        torch.unique(samples)

@ray.remote{resources}
class Remote(Driver):
    pass

@ray.remote(num_gpus=1)
class Worker:
    def fit(self, loader):
        for x in loader:
            self.model(x).backward()
"""


@pytest.mark.parametrize(("resources", "step"), [("", "host"), ("(num_gpus=0)", "host"), ("(num_gpus=1)", "yes")])
def test_an_actor_without_a_device_prepares_data(resources: str, step: str) -> None:
    found = facts(_ACTOR.format(resources=resources), "call")
    assert [fact.get("step") for fact in found if fact.name == "torch.unique"] == [step]


_LEFT = """
import torch

def used():
    torch.cuda.empty_cache()

def forgotten():
    torch.cuda.synchronize()

class Kept:
    def work(self):
        torch.cuda.ipc_collect()

class Forgotten:
    def work(self):
        torch.cuda.reset_peak_memory_stats()
"""


def test_code_that_nothing_uses_says_so() -> None:
    sources = {"train.py": "import torch\nfrom left import Kept, used\nused()\nKept().work()\n", "left.py": _LEFT}
    found = {fact.name: fact.get("unused") for fact in facts(sources, "call") if fact.name.startswith("torch.cuda.")}
    assert found == {
        "torch.cuda.empty_cache": "no",
        "torch.cuda.synchronize": "yes",
        "torch.cuda.ipc_collect": "no",
        "torch.cuda.reset_peak_memory_stats": "yes",
    }


def _steps_of(source: str) -> list[object]:
    found = facts({"train.py": f"import torch\n{source}"}, "call")
    return [fact.get("step") for fact in found if fact.name == "torch.unique"]


@pytest.mark.parametrize(("parameters", "step"), [("self", "yes"), ("self, x=None", "yes"), ("self, x, t", "no")])
def test_a_call_on_an_unknown_object_gives_a_method_its_arguments(parameters: str, step: str) -> None:
    source = f"class Scheduler:\n    def advance({parameters}):\n        torch.unique(x)\n\nScheduler()\n"
    loop = "def train(loader, thing):\n    for x in loader:\n        net(x).backward()\n        thing.advance()\n"
    assert _steps_of(source + loop) == [step]


@pytest.mark.parametrize(
    ("calls", "step"), [("main()\n", "no"), ("for x in loader:\n    main()\n", "yes"), ("hook(main)\n", "yes")]
)
def test_what_runs_once_is_no_step(calls: str, step: str) -> None:
    assert _steps_of(f"def main():\n    torch.unique(x)\n    net(x).backward()\n\n{calls}") == [step]


_MUTUAL = {
    "walk": "def walk(node):\n    if node.device.type == 'cuda':\n        node.half()\n    visit(node)\n",
    "visit": "def visit(node):\n    if node.device.type == 'cuda':\n        node.half()\n    walk(node)\n",
}


@pytest.mark.parametrize("order", [("walk", "visit"), ("visit", "walk")], ids="-".join)
def test_functions_that_call_each_other_train_in_any_order(order: tuple[str, str]) -> None:
    train = "import torch\ndef train():\n    for x in loader:\n        walk(x)\n        model(x).backward()\n"
    found = facts(train + "".join(_MUTUAL[name] for name in order) + "train()\n", "cuda")
    assert [fact.get("evaluates") for fact in found] == ["no", "no"]
