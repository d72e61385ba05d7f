"""Changes of the code by which the tests themselves are tested."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from scripts.mutants import chosen, mutants_of, noticed

_SOURCE = """
def largest(numbers, least=0):
    best = least
    for number in numbers:
        if number > best and number is not None:
            best = number
    return best
"""


def test_each_change_is_one_change_of_a_valid_program() -> None:
    mutants = mutants_of("a.py", _SOURCE)
    before = ast.unparse(ast.parse(_SOURCE)).split("\n")
    for mutant in mutants:
        assert sum(line != old for line, old in zip(mutant.text.split("\n"), before, strict=True)) == 1
    kinds = {(mutant.line, mutant.kind) for mutant in mutants}
    assert kinds == {
        (2, "constant"),
        (5, "condition"),
        (5, "and/or"),
        (5, "comparison"),
        (7, "return None"),
    }


def test_a_seed_chooses_the_same_changes(tmp_path: Path) -> None:
    for name in ("a.py", "b.py"):
        (tmp_path / name).write_text(_SOURCE)
    first = chosen(tmp_path, ["*.py"], 3, 2)
    assert len(first) == 2
    assert chosen(tmp_path, ["*.py"], 3, 2) == first


@pytest.mark.slow
def test_the_stage_that_notices_is_named_and_the_file_is_put_back(tmp_path: Path) -> None:
    (tmp_path / "largest.py").write_text(_SOURCE)
    (tmp_path / "test_weak.py").write_text("def test_it():\n    import largest\n")
    strong = "from largest import largest\n\ndef test_it():\n    assert largest([1, 3, 2]) == 3\n"
    (tmp_path / "test_strong.py").write_text(strong)
    mutant = next(one for one in mutants_of("largest.py", _SOURCE) if one.kind == "return None")
    stages = ["-n0 test_weak.py", "-n0 test_strong.py"]
    assert noticed(tmp_path, mutant, stages) == 2
    assert noticed(tmp_path, mutant, stages[:1]) == 0
    assert (tmp_path / "largest.py").read_text() == _SOURCE
