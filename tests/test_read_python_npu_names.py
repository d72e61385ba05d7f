"""Tests of `npulint.read.python.parse` and of the names in values."""

import ast

import pytest

from npulint.facts.code import Const, Op, Ref, SequenceDisplay, Table, names_in, nested
from npulint.read.python.parse import names_npu


@pytest.mark.parametrize(
    "text",
    [
        "import torch_npu\n",
        "from x.hccl import y\n",
        "def f(a):\n    if a:\n        return g(device='npu:0')\n",
        "@npu_only\ndef f():\n    pass\n",
        "class A:\n    @wrap(NPU)\n    def f(self):\n        return 1\n",
        "x = 1\r\ny = 2\r\nz = a.npu()\r\n",
        "def f(npu=None): ...\n",
        "f(\n    1,\n    npu=2,\n)\n",
        "input = 1\nx = [i for i in y if i.is_npu]\n",
        "match x:\n    case 1:\n        npu = 1\n",
    ],
)
def test_code_that_names_the_npu(text: str) -> None:
    assert names_npu(text, ast.parse(text))


@pytest.mark.parametrize(
    "text",
    [
        "x = input()\n",
        "x = 1  # on an npu\n",
        '"""Runs on an NPU too."""\nx = 1\n',
        "inputs = [inputNpu]\n",
        "",
    ],
)
def test_code_that_does_not_name_the_npu(text: str) -> None:
    assert not names_npu(text, ast.parse(text))


def test_names_in_finds_those_of_nested() -> None:
    table = Table((Ref("k"), None), (Const(1), Ref("v.w")))
    value = Op("+", (Ref("a"), SequenceDisplay((Ref("b"), table, Const("c")))))
    expected = [part for part in nested(value) if isinstance(part, Ref)]
    assert sorted(one.name for one in names_in([value])) == sorted(one.name for one in expected)
    assert [one.name for one in names_in([Const(1), Ref("x"), Ref("y")])] == ["x", "y"]
