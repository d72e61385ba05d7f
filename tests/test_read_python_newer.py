"""Statements of Python 3.12 under an older Python."""

from __future__ import annotations

import ast

import pytest

from npulint.read.python import read_python
from npulint.read.python.parse import older

_REWRITTEN = {
    "an alias": ("type Row = list[int]\n", "Row      = list[int]\n"),
    "an alias with a parameter": ("type Pair[K, V: int] = f[K]\n", "Pair                 = f[K]\n"),
    "a function": ("def first[T](a: T): pass\n", "def first   (a: T): pass\n"),
    "an asynchronous method": (
        "class A:\n    async def f[T: dict[str, int]](self): pass\n",
        "class A:\n    async def f                   (self): pass\n",
    ),
    "a class": ("class Box[T](Base): pass\n", "class Box   (Base): pass\n"),
    "a class without bases": ("class Box[T]: pass\n", "class Box   : pass\n"),
}


@pytest.mark.parametrize(("text", "expected"), _REWRITTEN.values(), ids=_REWRITTEN.keys())
def test_statements_are_rewritten_where_they_stand(text: str, expected: str) -> None:
    assert older(text) == expected
    ast.parse(expected)


@pytest.mark.parametrize(
    "text",
    [
        "type = x\ntype[0] = 2\ntype(x)\n",
        "def first(a: list[int]) -> None: pass\n",
        "x = '''\ntype Row = 1\n'''\n",
        "def first[T\n](a): pass\n",
        "class Box[T: pass\n",
        "def first[",
        "",
    ],
    ids=["a name", "an annotation", "in a text", "over lines", "not closed", "cut", "empty"],
)
def test_everything_else_stays(text: str) -> None:
    assert older(text) == text


def test_such_a_source_is_read() -> None:
    source = "import torch\ntype Row = list[int]\nclass Net[T](Base):\n    def f[S](self): return torch.zeros(1)\n"
    code, problems = read_python(source, "m.py")
    assert problems == []
    assert [block.name for block in code.blocks[1:]] == ["Net", "Net.f"]
    assert [(call.line, call.column) for call in code.calls] == [(4, 28)]
