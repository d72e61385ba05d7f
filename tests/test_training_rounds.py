"""Which code every round of a training loop comes to: objects, parts of batches, iterators, ``continue``."""

from __future__ import annotations

import pytest

from tests.support import facts

OBJECT = """
import torch
class Loss:
    def __call__(self, x):
        {inside}
        return x.mean()
def train(loader, model):
    criterion = Loss()
    for x in loader:
        criterion(model(x)).backward()
train(loader, model)
"""
PARTS = """
import torch
class Trainer:
    def part(self, batch):
        for i in range(0, len(batch), {step}):
            self.model(batch[i]).mean().backward()
    def optimize(self):
        torch.zeros(1)
    def run(self, loader):
        for batch in loader:
            self.part(batch)
            self.optimize()
Trainer().run(loader)
"""
AFTER = """
import torch
loader = iter(DataLoader(rows))
while True:
    x = next(loader)
    for phase in phases:
        phase.loss(x).backward()
    {line}
    torch.zeros(1)
"""


def step(text: str) -> str:
    """The step answer of the one call of ``torch.zeros``."""
    [fact] = facts(text, "call", "torch.zeros")
    return str(fact.get("step"))


def test_an_object_that_is_called_runs_its_method() -> None:
    assert step(OBJECT.format(inside="torch.zeros(1)")) == "yes"


def test_a_partial_of_a_method_runs_it() -> None:
    text = """
import functools
import torch
class Diffusion:
    def losses(self, x):
        torch.zeros(1)
        return x.mean()
class Trainer:
    def __init__(self, diffusion):
        self.diffusion = diffusion
    def run(self, loader):
        for x in loader:
            compute = functools.partial(self.diffusion.losses, x)
            compute().backward()
Trainer(Diffusion()).run(loader)
"""
    assert step(text) == "yes"


@pytest.mark.parametrize(("size", "answer"), [("self.microbatch", "yes"), ("self.other", "no")])
def test_a_loop_over_parts_of_a_batch_is_part_of_a_step(size: str, answer: str) -> None:
    assert step(PARTS.format(step=size)) == answer


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        pytest.param("pass", "yes", id="the loop takes a batch from an iterator"),
        pytest.param("if seen < shown:\n        continue", "gated", id="some rounds end before"),
        pytest.param("if torch.isnan(x).any():\n        continue", "yes", id="rare rounds end before"),
        pytest.param("if step % 10:\n        continue", "gated", id="all but every n-th end before"),
        pytest.param("if step != 10:\n        continue", "gated", id="all but one end before"),
        pytest.param("if step != 10:\n        raise ValueError", "yes", id="an error ends the training"),
        pytest.param("if step == 10:\n        continue", "yes", id="one ends before"),
    ],
)
def test_what_follows_the_training_of_a_round(line: str, answer: str) -> None:
    assert step(AFTER.format(line=line)) == answer


STORE = """
import torch
def train(loader, model, device, table):
    gain = torch.ones(7, device={device})
    for x in loader:
        gain[2:6] = {value}
        model(x, gain).backward()
"""


@pytest.mark.parametrize(
    ("device", "value", "names"),
    [
        ("device", "torch.tensor(x.shape)[[1, 2, 1, 2]]", ["host_tensor"]),
        ("device", "torch.tensor(x.shape, device=device)", []),
        ('"cpu"', "torch.tensor(x.shape)", []),
        ("device", "model.sizes(x)", []),
    ],
)
def test_a_tensor_of_the_host_stored_into_one_of_the_device(device: str, value: str, names: list[str]) -> None:
    found = facts(STORE.format(device=device, value=value), "host_sync")
    assert [fact.name for fact in found] == names


TABLE = """
import torch
class Diffusion:
    def losses(self, x, t):
        return x * pick({argument}, t)
def pick(table, t):
    return torch.from_numpy(table).to(device=t.device)[t]
def train(loader, model):
    diffusion = Diffusion()
    for x, t in loader:
        diffusion.losses(x, t).mean().backward()
"""


@pytest.mark.parametrize(("argument", "names"), [("self.alphas", ["host_tensor"]), ("make(x)", [])])
def test_a_table_that_every_step_copies(argument: str, names: list[str]) -> None:
    assert [fact.name for fact in facts(TABLE.format(argument=argument), "host_sync")] == names


def test_a_batch_taken_by_next_is_from_a_loader() -> None:
    step = "    x = next(it)\n    x = x.to(device)\n    x.sum().backward()\n"
    text = f"import torch\nit = iter(loader)\nwhile True:\n{step}"
    assert [fact.name for fact in facts(text, "host_sync")] == ["blocking_copy"]
