"""What makes code part of the training step and what does not: tests, evaluation in between, data of the host."""

from __future__ import annotations

import pytest

from tests.support import facts, programs

LOOP = """
import torch
def step(model, x, table):
{body}
    return model(x)
def train(loader, model, table):
    for x in loader:
        step(model, x, table).backward()
train(loader, net, {{}})
"""
EVERY = "    torch.zeros(1)"
"""Runs in every step."""


@pytest.mark.parametrize(
    ("body", "answer"),
    [
        pytest.param(EVERY, "yes", id="plain"),
        pytest.param("    if x.device.type == 'cpu':\n        torch.zeros(1)", "gated", id="data of the host"),
        pytest.param("    if x.device.type != 'cpu':\n        torch.zeros(1)", "yes", id="data of the device"),
        pytest.param(
            "    if 1 in table:\n        pass\n    else:\n        table[1] = torch.zeros(1)", "gated", id="filled"
        ),
        pytest.param("    if 1 in table:\n        pass\n    else:\n        y = torch.zeros(1)", "yes", id="not filled"),
    ],
)
def test_branches_of_a_step(body: str, answer: str) -> None:
    [fact] = facts(LOOP.format(body=body), "call", "torch.zeros")
    assert fact.get("step") == answer


@pytest.mark.parametrize(("after", "answer"), [("model.train()", "no"), ("pass", "yes")])
def test_a_function_that_evaluates_in_between_is_no_step(after: str, answer: str) -> None:
    text = f"""
import torch
def look(model, x):
    model.eval()
    torch.zeros(1)
    {after}
def train(loader, model):
    for x in loader:
        look(model, x)
        model(x).backward()
train(loader, net)
"""
    [fact] = facts(text, "call", "torch.zeros")
    assert fact.get("step") == answer


SAVES = """
import torch
def save():
    torch.zeros(1)
"""
TEST = """
from saving import save
def rounds(model):
    for x in rows:
        model(x).backward()
        save()
"""
TRAIN = """
for x in loader:
    model(x).backward()
"""


@pytest.mark.parametrize(("others", "answer"), [({"train.py": TRAIN}, "no"), ({}, "yes")])
def test_tests_make_no_training_step_where_something_else_trains(others: dict[str, str], answer: str) -> None:
    [fact] = facts({"saving.py": SAVES, "tests/test_it.py": TEST, **others}, "call", "torch.zeros")
    assert fact.get("step") == answer


KERNEL = """
import torch
def units():
    return torch.accelerator.current_accelerator().type
def use(args):
    if args.invariant_mode:
        units()
"""


@pytest.mark.parametrize(("move", "way"), [("net.cuda()", "none"), ("net.to(device)", "agnostic")])
def test_one_helper_that_asks_for_the_accelerator_does_not_place_the_model(move: str, way: str) -> None:
    train = f"import kernel\nimport torch\nkernel.use(args)\n{move}\n{TRAIN}"
    [program] = [one for one in programs({"kernel.py": KERNEL, "train.py": train}) if one.entry == "train.py"]
    assert program.fact.migration == way


NETS = """
import torch
class Net(torch.nn.Module):
    pass
if __name__ == "__main__":
    net = Net()
    for i in {rounds}:
        x = torch.randn(4).cuda()
        net(x).backward()
"""


@pytest.mark.parametrize(("rounds", "active"), [("range(10)", "no"), ("loader", "yes")])
def test_rounds_on_made_up_tensors_only_try_a_module(rounds: str, active: str) -> None:
    sources = {"nets.py": NETS.format(rounds=rounds), "train.py": "from nets import Net\n" + TRAIN}
    [fact] = facts(sources, "call", "torch.randn")
    assert fact.get("active") == active
