"""The memory of a syntax tree, told before it is made."""

from __future__ import annotations

import ast
import tracemalloc

import pytest

from npulint.core.budget import Budget, BudgetError, Limit, within
from npulint.discover.kinds import SourceFile
from npulint.read.files import LoadedFile, read
from npulint.read.python import parse
from npulint.read.python.parse import memory_of_tree, read_python

SHAPES = {
    "names": "a\n" * 20_000,
    "empty lists": f"x = [{'[],' * 20_000}]\n",
    "signs": f"x = {'-' * 80}a\n" * 500,
    "whole numbers": f"x = [{'7,' * 20_000}]\n",
    "numbers": f"x = [{'-0.123456, ' * 10_000}]\n",
    "texts": "x = ['# a (b) [c]'" + ", 'ab'" * 10_000 + "]\n",
    "formatted texts": "f'{a}'\n" * 5000,
    "calls": "x = a.b(c, d=1)\n" * 5000,
}


@pytest.mark.parametrize("shape", SHAPES)
def test_the_estimate_is_near_what_the_tree_takes(shape: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parse, "SMALL", 0)
    text = SHAPES[shape]
    tracemalloc.start()
    try:
        tree = ast.parse(text)
        taken = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert tree.body
    assert 0.6 < memory_of_tree(text) / taken < 2


def test_comments_and_prose_take_next_to_nothing() -> None:
    prose = "one two (three) [four] -5\n" * 40_000
    assert memory_of_tree(f'"""{prose}"""\n') < 10_000
    assert memory_of_tree("# one two (three)\n" * 40_000) < 40 << 20


def test_a_small_source_is_not_counted() -> None:
    assert memory_of_tree("a\n" * 1000) == 0


def test_a_source_whose_tree_is_too_large_is_not_parsed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("npulint.read.python.parse._parsed", None)  # cannot be called
    data = b"a\n" * 940_000
    found = read(LoadedFile(SourceFile("x.py", "python", "x.py", "", len(data)), data))
    assert found.code is None
    assert [(one.path, one.reason, one.detail) for one in found.problems] == [("x.py", "out-of-memory", "> 679 MB")]


def test_a_larger_budget_lets_it_be_parsed() -> None:
    text = "a\n" * 250_000
    with pytest.raises(BudgetError, match="> 100 MB"):
        within(Limit(60, 100 << 20), lambda: read_python(text, "x.py"))
    assert memory_of_tree(text) < Budget(memory=2000).of_file(len(text)).memory


def test_a_table_of_numbers_of_a_megabyte_is_read() -> None:
    data = f"import torch\nx = torch.tensor([{'0.12345, ' * 120_000}])\n".encode()
    found = read(LoadedFile(SourceFile("x.py", "python", "x.py", "", len(data)), data))
    assert not found.problems
    assert found.code is not None and found.code.calls
