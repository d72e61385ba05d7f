"""Which file is left out when a project fails: the one that its failure is about."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from npulint.commands.check import isolation
from npulint.commands.check.isolation import without_failing
from npulint.core.budget import BudgetError, Limit
from npulint.facts.code import Code
from npulint.facts.model import FileFacts

MUCH = 1 << 40
FILES = [FileFacts(path, "python", Code()) for path in ("a.py", "bad.py", "c.py", "worse.py")]
PATHS = [file.path for file in FILES]


def judged(files: list[FileFacts]) -> dict[str, list[str]]:
    """The files with their problems, by path."""
    return {file.path: [f"{one.reason} {one.detail}".rstrip() for one in file.problems] for file in files}


def _deep(path: str) -> None:
    _deep(path)


def _circle(paths: list[str], number: int) -> None:
    path = paths[number % len(paths)]
    if path:
        _circle(paths, number + 1)


def _endless(path: str) -> None:
    while path:
        pass


@pytest.fixture(autouse=True)
def _told_apart_as_npulint(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(globals(), "__name__", "npulint.tested")
    monkeypatch.setattr("npulint.core.budget._TICK", 0.02)


def failing(act: Callable[[str], None], *paths: str) -> Callable[[list[FileFacts]], dict[str, list[str]]]:
    """Work that fails in some files, as long as they have code."""

    def work(files: list[FileFacts]) -> dict[str, list[str]]:
        for file in files:
            if file.code is not None and file.path in paths:
                act(file.path)
        return judged(files)

    return work


def test_without_a_failure_nothing_is_left_out() -> None:
    assert without_failing(FILES, Limit(60, MUCH), judged) == {path: [] for path in PATHS}


def test_files_that_are_too_deep_are_left_out_one_after_the_other() -> None:
    found = without_failing(FILES, Limit(60, MUCH), failing(_deep, "bad.py", "worse.py"))
    assert found == {"a.py": [], "bad.py": ["too-deep"], "c.py": [], "worse.py": ["too-deep"]}


def test_of_files_in_a_circle_all_are_left_out() -> None:
    def work(files: list[FileFacts]) -> dict[str, list[str]]:
        paths = [file.path for file in files if file.path != "c.py" and file.code is not None]
        if len(paths) > 1:
            _circle(paths, 0)
        return judged(files)

    found = without_failing(FILES, Limit(60, MUCH), work)
    assert found == {"a.py": ["too-deep"], "bad.py": ["too-deep"], "c.py": [], "worse.py": ["too-deep"]}


def test_a_file_that_takes_the_time_is_left_out() -> None:
    found = without_failing(FILES, Limit(0.3, MUCH), failing(_endless, "bad.py"))
    assert found == {"a.py": [], "bad.py": ["out-of-time > 0 s"], "c.py": [], "worse.py": []}


def test_where_no_file_stands_out_the_project_fails() -> None:
    def work(files: list[FileFacts]) -> None:
        while True:
            pass

    with pytest.raises(BudgetError):
        without_failing(FILES, Limit(0.2, MUCH), work)


def test_after_some_attempts_the_project_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(isolation, "_ATTEMPTS", 2)
    with pytest.raises(RecursionError):
        without_failing(FILES, Limit(60, MUCH), failing(_deep, "bad.py", "worse.py"))
