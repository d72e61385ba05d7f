"""Values of the compared programs as they are when the programs are executed."""

from __future__ import annotations

import ast

import pytest

from npulint.facts.code import CallResult, Const, Op, Ref, SequenceDisplay, Table
from npulint.read.python.alignment import nodes_of
from npulint.read.python.walk import Walker
from tests.compare_support import differences, short_differences

_TRAINING = """
loader = torch.utils.data.DataLoader(torch.load("train.pt"), batch_size={size}, shuffle=True)
model = torch.nn.Linear(64, 10)
optimizer = torch.optim.Adam(model.parameters(), lr={rate})
for inputs, labels in loader:
    optimizer.zero_grad()
    torch.nn.functional.cross_entropy(model(inputs), labels).backward()
    optimizer.step()
"""
_ITEMS = ("C['batch_size']", "C['lr']")
_ATTRIBUTES = ("C.batch_size", "C.lr")
_DICT = 'C = {"lr": 0.1, "batch_size": 8}\n'
_DATACLASS = (
    "from dataclasses import dataclass, replace\n@dataclass\nclass P:\n    lr: float = 0.1\n    batch_size: int = 8\n"
)
_PARSER = (
    "import argparse\np = argparse.ArgumentParser()\np.add_argument('--lr', type=float, default=0.1)\n"
    "p.add_argument('--batch_size', type=int, default=8)\n"
)
CHANGED = {
    "items": (_DICT + 'C["lr"] = 0.001\nC["batch_size"] = 32\n', _ITEMS),
    "update with keywords": (_DICT + "C.update(lr=0.001, batch_size=32)\n", _ITEMS),
    "update with a dict": (_DICT + 'C.update({"lr": 0.001, "batch_size": 32})\n', _ITEMS),
    "update with pairs": (
        _DICT + 'C.update(zip(["lr", "batch_size"], [0.001, 32]))\n',
        ("C.get('batch_size', 4)", "C.get('lr', 1)"),
    ),
    "in-place union": (_DICT + 'C |= {"lr": 0.001, "batch_size": 32}\n', _ITEMS),
    "an alias": (_DICT + 'd = C\nd["lr"], d["batch_size"] = 0.001, 32\n', _ITEMS),
    "a parameter": (_DICT + 'def f(c):\n    c["lr"] = 0.001\n    c.update(batch_size=32)\nf(C)\n', _ITEMS),
    "pop and setdefault": (_DICT + 'C.pop("lr")\nC.setdefault("lr", 0.001)\nC["batch_size"] *= 4\n', _ITEMS),
    "a copy with other items": (_DICT + 'C = {**C, "lr": 0.001, "batch_size": 32}\n', _ITEMS),
    "arguments of a dataclass": (_DATACLASS + "C = P(lr=0.001, batch_size=32)\n", _ATTRIBUTES),
    "replace": (_DATACLASS + "C = replace(P(), lr=0.001, batch_size=32)\n", _ATTRIBUTES),
    "attributes": (_DATACLASS + 'C = P()\nC.lr = 0.001\nsetattr(C, "batch_size", 32)\n', _ATTRIBUTES),
    "a named tuple": (
        "from typing import NamedTuple\nclass P(NamedTuple):\n    lr: float = 0.1\n    batch_size: int = 8\n"
        "C = P()._replace(lr=0.001, batch_size=32)\n",
        _ATTRIBUTES,
    ),
    "attributes of a class": (
        "class C:\n    lr = 0.1\n    batch_size = 8\nC.lr = 0.001\nC.batch_size = 32\n",
        _ATTRIBUTES,
    ),
    "vars": (
        "from types import SimpleNamespace\nC = SimpleNamespace(lr=0.1, batch_size=8)\n"
        "vars(C).update(lr=0.001, batch_size=32)\n",
        _ATTRIBUTES,
    ),
    "defaults of options": (_PARSER + "p.set_defaults(lr=0.001, batch_size=32)\nC = p.parse_args()\n", _ATTRIBUTES),
    "parsed options": (_PARSER + 'C = p.parse_args()\nC.lr = 0.001\nC.__dict__["batch_size"] = 32\n', _ATTRIBUTES),
    "globals in a function": (
        "rate, size = 0.1, 8\ndef f():\n    global rate, size\n    rate, size = 0.001, 32\nf()\n",
        ("size", "rate"),
    ),
    "globals()": ("rate, size = 0.1, 8\nglobals().update(rate=0.001, size=32)\n", ("size", "rate")),
}
"""Ways to change settings after they are made: 0.001 and 32 are used, whatever is written before."""


def _program(settings: str, size: str, rate: str) -> str:
    return f"import torch\n{settings}{_TRAINING.format(size=size, rate=rate)}"


@pytest.mark.parametrize("way", CHANGED)
def test_the_values_that_are_used_are_compared(way: str) -> None:
    settings, names = CHANGED[way]
    program = _program(settings, *names)
    assert [one for one in short_differences(program, _program("", "32", "0.001")) if one[1] == "changed"] == []
    changed = [one for one in short_differences(program, _program("", "8", "0.1")) if one[1] == "changed"]
    assert sorted((part, left, right) for part, _, _, left, right in changed) == [
        ("batch_size", "32", "8"),
        ("learning_rate", "0.001", "0.1"),
    ]


@pytest.mark.parametrize("way", ["items", "update with keywords", "an alias", "a copy with other items", "replace"])
def test_what_is_written_alike_differs_where_one_side_changes_it(way: str) -> None:
    settings, names = CHANGED[way]
    plain = settings.replace("0.001", "0.1").replace("32", "8").replace("*= 4", "*= 1")
    changed = [
        one for one in short_differences(_program(settings, *names), _program(plain, *names)) if one[1] == "changed"
    ]
    assert {(part, left, right) for part, _, _, left, right in changed} == {
        ("batch_size", "32", "8"),
        ("learning_rate", "0.001", "0.1"),
    }


def test_a_value_that_is_open_on_one_side_is_not_the_same() -> None:
    text = (
        "import torch\nimport horovod.torch as hvd\nC = {{'lr': 0.1{}}}\nmodel = torch.nn.Linear(64, 10)\n"
        "optimizer = torch.optim.Adam(model.parameters(), lr=C['lr'])\nmodel(torch.ones(64)).sum().backward()\n"
        "optimizer.step()\n"
    )
    rows = differences(text.format(" * hvd.size()"), text.format(""))
    assert ("changed", False) in [(one.change, one.certain) for one in rows if one.part == "learning_rate"]


def test_what_a_library_reads_is_compared() -> None:
    text = (
        "import torch\ntorch.backends.cudnn.deterministic = {}\nmodel = torch.nn.Linear(64, 10)\n"
        "optimizer = torch.optim.Adam(model.parameters())\nmodel(torch.ones(64)).sum().backward()\noptimizer.step()\n"
    )
    rows = short_differences(text.format(True), text.format(False))
    assert [part for part, *_ in rows] == ["determinism"]


# -- records and their nodes


def test_values_of_records_have_their_nodes() -> None:
    text = 'a = f(x, -1, k=y.z[3], *r)\nb, c = (u, {"é": v}), w if t else not s\ndef g(p=d): return q + h\n'
    tree = ast.parse(text)
    code = Walker(text).walk(tree)
    nodes = nodes_of(code, tree, text)
    written = {}
    for value in _values(code):
        node = nodes.get(id(value))
        written[_text(value)] = None if node is None else ast.unparse(node)
    assert written == {
        "x": "x",
        "-1": "-1",
        "y.z": "y.z",
        "y.z[3]": "y.z[3]",
        "r": "r",
        "u": "u",
        "v": "v",
        "w": "w",
        "t": "t",
        "s": "s",
        "d": "d",
        "q": "q",
        "h": "h",
    }


def _values(code: object) -> list[object]:
    """The names, subscripts and negative numbers in the records of a source."""
    queue: list[object] = [
        *(part for call in code.calls for part in (*call.args, *(value for _, value in call.keywords))),  # type: ignore[attr-defined]
        *(bind.value for bind in code.assignments),  # type: ignore[attr-defined]
        *(part for block in code.blocks for part in block.defaults),  # type: ignore[attr-defined]
        *(one.value for one in code.returns),  # type: ignore[attr-defined]
    ]
    values: list[object] = []
    while queue:
        value = queue.pop()
        if isinstance(value, Ref) or (isinstance(value, Const) and value.value == -1):
            values.append(value)
        elif isinstance(value, SequenceDisplay):
            queue += value.items
        elif isinstance(value, Table):
            queue += value.values
        elif isinstance(value, Op):
            values += [value] if value.op == "[]" else []
            queue += value.operands[: 1 if value.op == "[]" else None]
        else:
            assert not isinstance(value, CallResult) or value.call == 0
    return values


def _text(value: object) -> str:
    if isinstance(value, Ref):
        return value.name
    return "-1" if isinstance(value, Const) else f"{_text(value.operands[0])}[3]"  # type: ignore[attr-defined]
