"""Random steps in the sources of Python itself: what is not refused comes to exactly the tree that was asked for."""

from __future__ import annotations

import sysconfig
from collections import Counter
from pathlib import Path
from random import Random

import pytest

from npulint.fix.python import levels
from npulint.read.source import DecodedSource, decode
from tests.fix_steps import import_failure, trials

pytestmark = pytest.mark.slow

STDLIB = Path(sysconfig.get_path("stdlib"))
_FILES = 120
_STEPS = 8


def _texts(part: int, parts: int) -> list[str]:
    paths = sorted(path for path in STDLIB.rglob("*.py") if "site-packages" not in path.parts)
    Random(20).shuffle(paths)
    found: list[str] = []
    for path in paths[part::parts]:
        data = path.read_bytes()
        source = decode(data, str(path)) if len(data) < 40_000 else None
        if isinstance(source, DecodedSource) and not source.problems and "bad" not in path.name:
            found.append(source.text)
        if len(found) == _FILES // parts:
            break
    return found


@pytest.mark.nightly
@pytest.mark.parametrize("part", range(4))
def test_random_steps(part: int) -> None:
    random = Random(part)
    outcomes: Counter[str] = Counter()
    for text in _texts(part, 4):
        for verb, wrong in trials(text, random, _STEPS):
            assert not wrong, wrong
            outcomes[verb if wrong == "" else "refused"] += 1
    assert outcomes.total() > 100
    assert outcomes["refused"] < outcomes.total() // 4
    assert {"rename", "rename_part", "argument", "drop", "wrap", "replace", "value", "delete", "insert"} <= set(
        outcomes
    )


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("statement", "after"), [("import torch_npu", "os"), ("from os import zz", ""), ("import os", "")]
)
def test_random_imports(statement: str, after: str) -> None:
    outcomes = [import_failure(text, statement, after) for text in _texts(0, 8)]
    assert [wrong for wrong in outcomes if wrong] == []
    assert outcomes.count("") > len(outcomes) // 2


def test_parentheses_that_are_left_out_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(levels, "required", lambda parent, field, node: levels.TUPLE)
    wrong = [wrong for text in _texts(0, 10) for _, wrong in trials(text, Random(0), _STEPS) if wrong]
    assert wrong
