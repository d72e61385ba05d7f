"""What an edit in a large project costs, of which only the edited file is read."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

from npulint.commands.session import Session, knowledge
from npulint.discover.kinds import SourceFile
from npulint.judge.settings import Settings
from npulint.read import files as reading
from tests.growth import counted

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parent.parent
MOST = 45_000
"""The work that another file may add to that after an edit; the first check takes half as much again for it."""


@pytest.fixture(scope="module")
def bench() -> ModuleType:
    spec = importlib.util.spec_from_file_location("bench_run", Path(__file__).parent.parent / "bench" / "run.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.nightly
def test_other_files_add_little_to_the_work_after_an_edit(bench: ModuleType, tmp_path: Path) -> None:
    _costs(bench, tmp_path / "first", 4)  # what is done once in a process
    (whole, edited), (whole_of_more, edited_of_more) = (_costs(bench, tmp_path / str(n), n) for n in (10, 40))
    assert edited_of_more - edited < MOST * 30
    assert edited_of_more - edited < whole_of_more - whole


def _costs(bench: ModuleType, folder: Path, files: int) -> tuple[int, int]:
    """The work of the first check of a project, and that after an edit."""
    long = bench.make_project(folder, files)
    session = Session(Settings(paths=(str(folder),), cache=False))

    def edit(number: int) -> None:
        session.change(str(long), long.read_bytes() + b"edited = %d\n" % number)
        session.check(str(long))

    whole = counted(lambda: session.check(str(long)))
    session.rest()
    edit(0)  # it prepares what later ones use
    session.rest()
    return whole, counted(lambda: edit(1))


def test_only_the_edited_file_is_read(bench: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    long = bench.make_project(tmp_path / "project", 20)
    session = Session(Settings(paths=(str(tmp_path / "project"),), cache=False))
    session.check(str(long))
    loaded: list[str] = []

    def load(file: SourceFile, given: bytes | None = None) -> reading.LoadedFile:
        loaded.append(file.path)
        return reading.load(file, given)

    monkeypatch.setattr(knowledge, "load", load)
    session.change(str(long), long.read_bytes() + b"edited = 1\n")
    session.check(str(long))
    session.check(str(tmp_path / "project" / "part_0" / "module_3.py"))
    assert loaded == [str(long)]
