"""Shapes that depend on the data, in training steps and collate functions of PyTorch programs."""

from __future__ import annotations

from textwrap import indent

import pytest

from tests.support import facts

STEP = """
import numpy as np
import torch
import torch.nn.functional as F
from torch.nn.utils.rnn import pad_sequence

def masks(x):
    return x > 0, x.eq(1)

def train(loader, model, table):
    for x, y in loader:
{lines}
        model(x).backward()

train(loader, model, {{}})
"""


def causes(lines: str) -> list[str]:
    """The causes found in lines of a training step."""
    text = STEP.format(lines=indent(lines, " " * 8))
    return [fact.name for fact in facts(text, "dynamic_shape")]


@pytest.mark.parametrize(
    ("lines", "found"),
    [
        ("z = x[y > 0]", ["boolean_mask"]),
        ("z = x[~y]", ["boolean_mask"]),
        ("z = x[(y > 0) & (y < 9)]", ["boolean_mask"]),
        ("z = x[y.bool()]", ["boolean_mask"]),
        ("m = y.gt(0)\nz = x[m, :]", ["boolean_mask"]),
        ("m, keep = masks(y)\nz = x[keep]", ["boolean_mask"]),
        ("m, n = ((y > 0) & (x > 0)).T\nz = x[n]", ["boolean_mask"]),
        ("m = (y > 0).view(-1)\nz = x[m]", ["boolean_mask"]),
        ("m = torch.zeros(3, dtype=torch.bool)\nz = x[m]", ["boolean_mask"]),
        ("x[y > 0] = 0", ["masked_store"]),
        ("x[y == 1] = -float('inf')", ["masked_store"]),
        ("x[y == 1] = y", ["masked_assign"]),
        ("z = x.masked_select(y)", ["masked_select"]),
        ("z = torch.masked_select(x, y)", ["masked_select"]),
        ("z = (x > 0).nonzero()", ["nonzero"]),
        ("z = torch.nonzero(x)", ["nonzero"]),
        ("z = len(torch.nonzero(x))", ["count_by_nonzero"]),
        ("z = x.nonzero().size(0)", ["count_by_nonzero"]),
        ("z = torch.where(x > 0)", ["where_one_argument"]),
        ("z = torch.unique(y)", ["unique"]),
        ("z = y.unique()", ["unique"]),
        ("z = torch.topk(x, int(y.sum()))", ["dynamic_topk"]),
        ("n = y.max().item()\nz = x.topk(n)", ["dynamic_topk"]),
        ("k = y.tolist()\nz = torch.topk(x, k=k[0])", ["dynamic_topk"]),
        ("z = x.split(y.tolist())", ["split_by_lengths"]),
        ("z = torch.repeat_interleave(x, torch.tensor(y))", ["repeat_interleave"]),
        ("z = pad_sequence(x)", ["pad_sequence"]),
    ],
)
def test_a_cause(lines: str, found: list[str]) -> None:
    assert causes(lines) == found


@pytest.mark.parametrize(
    "lines",
    [
        pytest.param("z = x[0], x[:, 1], x[None], x[y]", id="indices"),
        pytest.param("z = [1, 2][x.shape[0] > 3]", id="a list"),
        pytest.param("z = y[x.size(0) == 4]", id="a number compared with a number"),
        pytest.param("z = y['a' == y]", id="a text"),
        pytest.param("a = np.zeros(3)\nz = a[a > 0]", id="numpy"),
        pytest.param("a = x.cpu().numpy()\nz = a[a > 0]", id="numpy out of a tensor"),
        pytest.param("k = (y >= 0) & (y < 9)\nz = np.bincount(y[k])", id="handed to numpy"),
        pytest.param("table[y > 0] = 1\na = {}\na[x > 1] = 0", id="a dict"),
        pytest.param("z = torch.where(x > 0, x, y)", id="where with three arguments"),
        pytest.param("z = torch.topk(x, 5), x.topk(min(5, x.size(1)))", id="a constant k"),
        pytest.param("z = x.split(4), 'a b'.split(' ')", id="equal parts"),
        pytest.param("z = x.repeat_interleave(2), torch.repeat_interleave(x, y, output_size=3)", id="a known size"),
        pytest.param("z = x.masked_fill(y > 0, 0)", id="masked_fill"),
    ],
)
def test_no_cause(lines: str) -> None:
    assert causes(lines) == []


COLLATE = """
import torch
from torch.nn.utils.rnn import pad_sequence
from pads import pad_list

def fill(xs, value, max_len=None):
    longest = max_len or max(len(x) for x in xs)
    return [value] * longest

def nested_batch(xs):
    size = max_by_axis([list(x.shape) for x in xs])
    return torch.zeros([len(xs)] + size)

def plain_batch(xs):
    best = max_by_axis([list(x.scores) for x in xs])
    return torch.stack(xs)

{text}
loader = torch.utils.data.DataLoader(rows, collate_fn=make)
"""


@pytest.mark.parametrize(
    ("body", "count"),
    [
        ("return pad_sequence(batch)", 1),
        ("return pad_list(batch, 0)", 1),
        ("return pad_list(batch, 0, max_len=512)", 0),
        ("n = max(len(b) for b in batch)\n    return n", 1),
        ("n = max([b.shape[0] for b in batch])\n    return n", 1),
        ("n = max(lengths)\n    return n", 1),
        ("n = max(scores)\n    return n", 0),
        ("return torch.stack(batch)", 0),
        ("return nested_batch(batch)", 1),
        ("return plain_batch(batch)", 0),
        ("return merge_batch(batch)", 0),
    ],
)
def test_padding_to_the_longest_sample(body: str, count: int) -> None:
    found = facts(COLLATE.format(text=f"def make(batch):\n    {body}"), "dynamic_shape")
    assert [fact.name for fact in found] == ["pad_in_collate"] * count


def test_a_collating_class() -> None:
    text = "class Merge:\n    def __call__(self, batch):\n        return pad_sequence(batch)\nmake = Merge()"
    assert [fact.name for fact in facts(COLLATE.format(text=text), "dynamic_shape")] == ["pad_in_collate"]


def test_code_outside_of_steps_is_left_alone() -> None:
    text = "import torch\nz = x[x > 0]\nfor b in loader:\n    b.backward()\nw = torch.nonzero(x)\n"
    assert facts(text, "dynamic_shape") == []
