"""Work and memory grow no faster than what is read, whatever makes a file or a project large."""

from __future__ import annotations

import ast
import io
from collections.abc import Callable, Mapping
from pathlib import Path

import msgspec
import pytest

from npulint.hosts.cli.host import system
from npulint.hosts.cli.main import main
from tests.growth import MOST, assert_linear, counted, ended_if_stuck, exponent, peak, work_exponent
from tests.growth_cases import CASES, Case

MOST_BYTES = 30
"""Bytes in memory for each byte that is read, beside those that Python's own parser takes for its trees."""

DAILY = {
    "a name bound again": 200,
    "arguments of a call": 200,
    "options that are used": 200,
    "comments that silence a finding": 200,
    "launchers": 40,
    "lines of a log": 200,
}
"""The cases that are tried each day, and how large."""

GROWING = {
    "elif branches": "npulint.model.code.names._look_up follows a name through all branches before each use of it",
}
"""The cases whose work is known to grow faster, with the function that is to blame."""

HEAVY = {"variables of a shell script": "npulint.read.shell: 43 bytes for each byte of an assignment"}
"""The same for memory."""


def checked(folder: Path) -> None:
    """Check a folder in this process and thread."""
    out, err = io.StringIO(), io.StringIO()
    host = msgspec.structs.replace(system(), environ={"LC_ALL": "C"}, stdout=out, stderr=err)
    # counting makes everything many times slower: what is held is the number of steps, not the time
    code = main(["check", "--no-cache", "--jobs", "1", "--exit-zero", "--budget", "time=3600", str(folder)], host)
    assert code == 0, err.getvalue()


class Projects:
    """Writes the projects of a case."""

    def __init__(self, case: Case, folder: Path) -> None:
        self._case = case
        self._folder = folder

    def of(self, count: int) -> Path:
        """The folder of the project of a size."""
        folder = self._folder / str(count)
        folder.mkdir()
        for name, text in self._case.project(count).items():
            (folder / name).write_text(text)
        return folder

    def trees(self, count: int) -> int:
        """The bytes that the syntax trees of its Python files take."""
        sources = [text for name, text in self._case.project(count).items() if name.endswith(".py")]
        return peak(lambda: [ast.parse(source) for source in sources])


def read(folder: Path) -> int:
    """The bytes of the files of a project."""
    return sum(path.stat().st_size for path in folder.iterdir())


@pytest.fixture(autouse=True)
def cache(cache_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NPULINT_CACHE_DIR", str(cache_folder))


def cases(failing: Mapping[str, str]) -> list[object]:
    """All cases; those that are known to fail with the reason."""
    return [
        pytest.param(name, marks=pytest.mark.xfail(strict=True, reason=failing[name])) if name in failing else name
        for name in CASES
    ]


@pytest.mark.parametrize("name", DAILY)
def test_work_grows_with_what_is_read(name: str, tmp_path: Path) -> None:
    assert_linear(Projects(CASES[name], tmp_path).of, checked, DAILY[name])


@pytest.mark.nightly
@pytest.mark.parametrize("name", cases(GROWING))
def test_whatever_is_large_takes_work_in_proportion(name: str, tmp_path: Path) -> None:
    case = CASES[name]
    assert work_exponent(Projects(case, tmp_path).of, checked, case.size) <= MOST


@pytest.mark.nightly
@pytest.mark.parametrize("name", cases(HEAVY))
def test_whatever_is_large_takes_memory_in_proportion(name: str, tmp_path: Path) -> None:
    case = CASES[name]
    projects = Projects(case, tmp_path)
    small, large = projects.of(case.size), projects.of(2 * case.size)
    checked(small)
    grown = peak(lambda: checked(large)) - peak(lambda: checked(small))
    trees = projects.trees(2 * case.size) - projects.trees(case.size)
    assert grown - max(0, trees) <= MOST_BYTES * (read(large) - read(small))


def test_linear_work_is_let_through() -> None:
    assert_linear(range, lambda numbers: [number * 2 for number in numbers], 400)


@pytest.mark.parametrize(
    "work",
    [
        pytest.param(lambda numbers: [0 for one in numbers for other in numbers], id="a comprehension of one line"),
        pytest.param(lambda numbers: [any(other < 0 for other in numbers) for one in numbers], id="a generator"),
        pytest.param(lambda numbers: [_first_negative(numbers) for one in numbers], id="a loop of another function"),
    ],
)
def test_quadratic_work_is_seen(work: Callable[[range], object]) -> None:
    with pytest.raises(AssertionError, match=r"exponent (1\.9|2\.0)"):
        assert_linear(range, work, 200)


def _first_negative(numbers: range) -> int | None:
    for number in numbers:
        if number < 0:
            return number
    return None


def test_the_same_work_is_counted_the_same() -> None:
    counts = {counted(lambda: [abs(number) for number in range(100)]) for _ in range(3)}
    assert len(counts) == 1


def test_what_every_run_costs_is_no_part_of_the_growth() -> None:
    assert exponent(1010, 1020, 1040) == 0.0
    assert exponent(1100, 1200, 1400) == 1.0
    assert exponent(1100, 1400, 2600) == 2.0
    assert exponent(1000, 1000, 1000) == 0.0


def test_what_takes_for_ever_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.growth.STUCK", 0.05)
    with pytest.raises(AssertionError, match="not done"), ended_if_stuck():
        _never_done()


def _never_done() -> None:
    while True:
        pass
