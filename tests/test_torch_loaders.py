"""Data loaders: what they are for, what they are given, by every way of giving it."""

from __future__ import annotations

import pytest

from npulint.facts.model import Fact
from tests.support import facts

_HEAD = """\
import argparse
import torch
import torch.utils.data
from torch.utils.data import BatchSampler, DataLoader, Dataset, IterableDataset, TensorDataset
from torch.utils.data.distributed import DistributedSampler

rows = TensorDataset(torch.ones(64, 3))
"""


def _loaders(text: str) -> list[Fact]:
    return facts(_HEAD + text + "\n", "loader")


def _only(text: str) -> Fact:
    found = _loaders(text)
    assert len(found) == 1
    return found[0]


_PURPOSES = {
    "the variable": ("train_loader = DataLoader(rows, 8)", "train"),
    "the variable, in one word": ("trainloader = DataLoader(rows, 8)", "train"),
    "an attribute": ("class A:\n    def f(self):\n        self._test_loader = DataLoader(rows, 8)", "evaluate"),
    "an entry": ("loaders = {}\nloaders['val'] = DataLoader(rows, 8, shuffle=True)", "evaluate"),
    "an entry of a display": ("loaders = {'train': DataLoader(rows, 8)}", "train"),
    "validation also shuffles": ("valid_dl = DataLoader(rows, 8, shuffle=True)", "evaluate"),
    "the data set's name": ("trainset = rows\nloader = DataLoader(trainset, 8)", "train"),
    "the data set's split": ("data = Voc('x', split='val')\nloader = DataLoader(data, 8, shuffle=True)", "evaluate"),
    "a data set that is not for training": ("data = Mnist('x', train=False)\nloader = DataLoader(data, 8)", "evaluate"),
    "the data set's folder": (
        "import os\ndata = Folder(os.path.join(root, 'val'), scale)\nloader = DataLoader(data, 8, shuffle=True)",
        "evaluate",
    ),
    "the folder of a data set without a name": ("loader = DataLoader(Folder(f'{root}/test'), 8)", "evaluate"),
    "a folder that the data set's name contradicts": (
        "train_set = Folder(root + '/val')\nloader = DataLoader(train_set, 8)",
        "evaluate",
    ),
    "two folders": (
        "data = Folder('val')\nif training:\n    data = Folder('train')\nloader = DataLoader(data, 8)",
        "unknown",
    ),
    "a condition": ("def f(training):\n    if training:\n        return DataLoader(rows, 8)", "train"),
    "the other branch": (
        "def f(phase):\n    if phase == 'train':\n        pass\n    else:\n        x = DataLoader(rows, 8)",
        "evaluate",
    ),
    "the function": ("def val_dataloader():\n    return DataLoader(rows, 8)", "evaluate"),
    "it shuffles": ("def get_loader():\n    return DataLoader(rows, 8, shuffle=True)", "train"),
    "nothing": ("loader = DataLoader(rows, 8)", "unknown"),
    "values are no validation": ("values = DataLoader(rows, 8)", "unknown"),
    "both words": ("train_test = DataLoader(rows, 8)", "unknown"),
}


@pytest.mark.parametrize(("text", "purpose"), _PURPOSES.values(), ids=_PURPOSES.keys())
def test_purpose(text: str, purpose: str) -> None:
    assert _only(text).get("purpose") == purpose


_DROPS = {
    "nothing said": ("DataLoader(rows, 8)", "missing"),
    "dropped": ("DataLoader(rows, 8, drop_last=True)", "yes"),
    "dropped by position": ("DataLoader(rows, 8, True, None, None, 0, None, False, True)", "yes"),
    "kept": ("DataLoader(rows, 8, drop_last=False)", "no"),
    "one by one": ("DataLoader(rows)", "full"),
    "no batches": ("DataLoader(rows, batch_size=None)", "full"),
    "a batch sampler": ("DataLoader(rows, batch_sampler=b)", "full"),
    "more samples than a run draws": (
        "s = torch.utils.data.RandomSampler(rows, replacement=True, num_samples=int(1e10))\n"
        "DataLoader(rows, 8, sampler=s)",
        "full",
    ),
    "some samples": (
        "s = torch.utils.data.RandomSampler(rows, replacement=True, num_samples=1000)\nDataLoader(rows, 8, sampler=s)",
        "missing",
    ),
    "a batch sampler of None": ("DataLoader(rows, 8, batch_sampler=None)", "missing"),
    "unseen keywords": ("def f(**kw):\n    DataLoader(rows, 8, **kw)", "unknown"),
    "spread from a display": ("kw = {'drop_last': True}\nDataLoader(rows, 8, **kw)", "yes"),
    "spread from a display without it": ("kw = {'num_workers': 1}\nDataLoader(rows, 8, **kw)", "missing"),
    "spread from dict()": ("kw = dict(drop_last=True)\nDataLoader(rows, 8, **kw)", "yes"),
    "written into it later": ("kw = {}\nkw['drop_last'] = True\nDataLoader(rows, 8, **kw)", "yes"),
    "updated": ("kw = {}\nkw.update({'drop_last': True})\nDataLoader(rows, 8, **kw)", "yes"),
    "updated by something unknown": ("kw = {}\nkw.update(x)\nDataLoader(rows, 8, **kw)", "unknown"),
    "an option": (
        "p = argparse.ArgumentParser()\np.add_argument('--d', default=True)\nargs = p.parse_args()\n"
        "DataLoader(rows, 8, drop_last=args.d)",
        "unknown",
    ),
    "passed for both": ("def f(d):\n    DataLoader(rows, 8, drop_last=d)\nf(True)\nf(False)", "unknown"),
    "passed": ("def f(d):\n    DataLoader(rows, 8, drop_last=d)\nf(True)", "yes"),
}


@pytest.mark.parametrize(("text", "drops"), _DROPS.values(), ids=_DROPS.keys())
def test_drop_last(text: str, drops: str) -> None:
    assert _only(text).get("drop_last") == drops


_SAMPLERS = {
    "none": ("DataLoader(rows, 8)", "none", "no"),
    "None": ("DataLoader(rows, 8, sampler=None)", "none", "no"),
    "distributed": ("s = DistributedSampler(rows)\nDataLoader(rows, 8, sampler=s)", "distributed", "always"),
    "distributed at times": (
        "s = DistributedSampler(rows) if many else None\nDataLoader(rows, 8, sampler=s)",
        "distributed",
        "sometimes",
    ),
    "in branches": (
        "if many:\n    s = DistributedSampler(rows)\nelse:\n    s = None\nDataLoader(rows, 8, False, s)",
        "distributed",
        "sometimes",
    ),
    "inside a batch sampler": (
        "b = BatchSampler(DistributedSampler(rows), 8, True)\nDataLoader(rows, batch_sampler=b)",
        "distributed",
        "no",
    ),
    "an own sampler by rank": (
        "class Mine:\n    def __init__(self, data, num_replicas, rank):\n        pass\n"
        "DataLoader(rows, 8, sampler=Mine(rows, 8, 0))",
        "distributed",
        "always",
    ),
    "another": ("s = torch.utils.data.RandomSampler(rows)\nDataLoader(rows, 8, sampler=s)", "other", "always"),
    "a parameter": ("def f(s):\n    DataLoader(rows, 8, sampler=s)", "unknown", "unknown"),
}


@pytest.mark.parametrize(("text", "sampler", "sampled"), _SAMPLERS.values(), ids=_SAMPLERS.keys())
def test_sampler(text: str, sampler: str, sampled: str) -> None:
    fact = _only(text)
    assert (fact.get("sampler"), fact.get("sampled")) == (sampler, sampled)


_WORKERS = {
    "nothing said": ("DataLoader(rows, 8)", "missing"),
    "none": ("DataLoader(rows, 8, num_workers=0)", "none"),
    "some": ("DataLoader(rows, 8, num_workers=4)", "some"),
    "many": ("DataLoader(rows, 8, num_workers=64)", "many"),
    "an option": (
        "p = argparse.ArgumentParser()\np.add_argument('--w', default=128)\nargs = p.parse_args()\n"
        "DataLoader(rows, 8, num_workers=args.w)",
        "unknown",
    ),
    "computed": ("DataLoader(rows, 8, num_workers=min(a, b))", "unknown"),
}


@pytest.mark.parametrize(("text", "workers"), _WORKERS.values(), ids=_WORKERS.keys())
def test_workers(text: str, workers: str) -> None:
    assert _only(text).get("workers") == workers


_ITEM = "class D(Dataset):\n    def __getitem__(self, i):\n        return torch.ones(3)<to>\nDataLoader(D(), 8)"


@pytest.mark.parametrize(
    ("to", "moves"),
    [(".npu()", "yes"), (".cuda(0)", "yes"), ('.to("npu:0")', "yes"), ('.to("cpu")', "no"), (".to(torch.half)", "no")],
)
def test_items_moved_where_they_are_read(to: str, moves: str) -> None:
    assert _only(_ITEM.replace("<to>", to)).get("device_items") == moves


_CLASSES = {
    "derived": ("class Endless(DataLoader):\n    pass\nEndless(rows, 8)", ["missing"]),
    "derived twice": ("class A(DataLoader):\n    pass\nclass B(A):\n    pass\nB(rows, 8)", ["missing"]),
    "with parameters of its own": (
        "class Mine(DataLoader):\n    def __init__(self, data, size):\n        super().__init__(data)\nMine(rows, 8)",
        ["unknown"],
    ),
    "another class": ("class AudioLoader:\n    pass\nAudioLoader(rows, 8)", []),
}


@pytest.mark.parametrize(("text", "drops"), _CLASSES.values(), ids=_CLASSES.keys())
def test_own_classes(text: str, drops: list[str]) -> None:
    assert [f.get("drop_last") for f in _loaders(text)] == drops


def test_iterable_data_sets() -> None:
    text = (
        "class S(IterableDataset):\n    def __iter__(self):\n        yield 1\nDataLoader(S(), 8)\nDataLoader(rows, 8)"
    )
    assert [f.get("dataset") for f in _loaders(text)] == ["iterable", "memory"]


def test_a_loader_below_a_test_for_an_iterable_data_set() -> None:
    text = (
        "import torch\nfrom torch.utils.data import DataLoader\n"
        "def build(data):\n    if isinstance(data, torch.utils.data.IterableDataset):\n"
        "        return DataLoader(data)\n"
        "    return DataLoader(data, 8)\n"
    )
    assert [f.get("dataset") for f in _loaders(text)] == ["iterable", "unknown"]


def test_a_data_set_that_knows_its_rank() -> None:
    text = "a = Shards('x', rank=rank)\nb = Shards('x')\nDataLoader(a, 8)\nDataLoader(b, 8)"
    assert [f.get("sharded") for f in _loaders(text)] == ["yes", "no"]
