"""The corpus that the bench makes for itself is honest: it parses, and no two files are alike."""

from __future__ import annotations

import ast
import importlib.util
from pathlib import Path
from types import ModuleType

import pytest


@pytest.fixture(scope="module")
def bench() -> ModuleType:
    path = Path(__file__).parent.parent / "bench" / "run.py"
    spec = importlib.util.spec_from_file_location("bench_run", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_copy_parses_and_no_two_are_alike(bench: ModuleType, tmp_path: Path) -> None:
    bench.make_corpus(tmp_path, 3)
    sources = [path.read_bytes() for path in tmp_path.rglob("*.py")]
    for source in sources:
        ast.parse(source)
    folders = [bench.ROOT / "examples" / name for name in bench.samples()]
    assert len(sources) == 3 * len([path for folder in folders for path in folder.rglob("*.py")])
    assert len(set(sources)) > 0.9 * len(sources)


def test_the_single_file_has_400_lines_and_parses(bench: ModuleType, tmp_path: Path) -> None:
    text = bench.make_single(tmp_path / "single.py").read_text(encoding="utf-8")
    ast.parse(text)
    assert len(text.splitlines()) == 400


def test_the_project_has_its_modules_and_one_long_file(bench: ModuleType, tmp_path: Path) -> None:
    long = bench.make_project(tmp_path / "project", 45)
    sources = [path.read_bytes() for path in (tmp_path / "project").rglob("*.py")]
    for source in sources:
        ast.parse(source)
    assert (len(sources), len(long.read_bytes().splitlines())) == (45, 1000)
    costs = bench.edits(tmp_path / "project", long, 2)
    assert len(costs) == 2
    assert all(cost.wall > 0 for cost in costs)


def test_a_bar_is_missed_when_its_median_is_above_the_limit(bench: ModuleType) -> None:
    def costs(**seconds: float) -> dict[str, list[object]]:
        return {name: [bench.Cost(value, value)] * 3 for name, value in seconds.items()}

    good = bench.bars(costs(floor=1.0, cold=2.9, cached=0.5, single=0.14, python=0.01, edit=0.29))
    bad = bench.bars(costs(floor=1.0, cold=3.1, cached=0.7, single=0.2, python=0.02, edit=0.31))
    assert [bar.value <= bar.limit for bar in good] == [True] * 4
    assert [bar.value <= bar.limit for bar in bad] == [False] * 4
