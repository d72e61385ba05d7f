"""The progress line, on a real terminal: there while a long run lasts, and gone without a trace."""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TextIO

import msgspec
import pytest

from npulint.commands.check.workers import check_projects
from npulint.core.progress import Progress
from npulint.discover.files import discover
from npulint.discover.projects import group
from npulint.hosts.cli import progress
from npulint.hosts.cli.host import system
from npulint.hosts.cli.main import main
from npulint.judge.findings import RunResult, Summary
from npulint.judge.settings import Settings

pty = pytest.importorskip("pty")

Run = Callable[[Settings, Progress | None], RunResult]


class Terminal:
    """One that keeps what was written to it."""

    def __init__(self, columns: int) -> None:
        import fcntl
        import struct
        import termios

        self._reading, writing = os.openpty()
        fcntl.ioctl(writing, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        self.stream: TextIO = os.fdopen(writing, "w", encoding="utf-8")

    def written(self) -> str:
        """All of it so far."""
        self.stream.flush()
        found = b""
        os.set_blocking(self._reading, False)
        try:
            while data := os.read(self._reading, 65536):
                found += data
        except OSError:
            pass
        return found.decode()

    def close(self) -> None:
        self.stream.close()
        os.close(self._reading)


@contextmanager
def terminal(columns: int = 80) -> Iterator[Terminal]:
    opened = Terminal(columns)
    try:
        yield opened
    finally:
        opened.close()


def screen(written: str) -> list[str]:
    """What is to be seen, line by line, after it was written."""
    lines = [""]
    column = 0
    for char in written:
        if char == "\n":
            lines.append("")
        elif char == "\r":
            column = 0
        else:
            lines[-1] = lines[-1][:column] + char + lines[-1][column + 1 :]
            column += 1
    return [line.rstrip() for line in lines]


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Seconds since the run began; tests let them pass."""
    now = [100.0]
    monkeypatch.setattr("npulint.hosts.cli.progress.time.monotonic", lambda: now[0])
    return now


def check(run: Run, stream: io.TextIOBase | object, environ: Mapping[str, str] = {}, *words: str) -> int:
    host = msgspec.structs.replace(system(), environ=environ, stdout=io.StringIO(), stderr=stream, run=run)
    return main(["check", *words], host)


def steps(clock: list[float], *seconds: float, then: BaseException | None = None) -> Run:
    """A run of 1000 files that are done after so many seconds each."""

    def run(settings: Settings, told: Progress | None) -> RunResult:
        for number, pause in enumerate(seconds, 1):
            clock[0] += pause
            if told is not None:
                told(number * 1000, 21346)
        if then is not None:
            raise then
        return RunResult(summary=Summary(files=1, read=1))

    return run


def test_a_long_run_tells_how_far_it_is_and_takes_the_line_away(clock: list[float]) -> None:
    with terminal() as there:
        assert check(steps(clock, 1.9, 0.2, 0.05, 0.2), there.stream) == 0
        written = there.written()
    assert written.startswith("\rnpulint: 2000 of 21346 files\rnpulint: 4000 of 21346 files\r ")
    assert screen(written) == [""]


def test_a_short_run_says_nothing(clock: list[float]) -> None:
    with terminal() as there:
        assert check(steps(clock, 0.5, 0.5, 0.9), there.stream) == 0
        assert there.written() == ""


@pytest.mark.parametrize("environ", [{"CI": "true"}, {"TERM": "dumb"}])
def test_a_log_gets_no_progress(clock: list[float], environ: dict[str, str]) -> None:
    with terminal() as there:
        assert check(steps(clock, 3, 3), there.stream, environ) == 0
        assert there.written() == ""


def test_a_file_gets_no_progress(clock: list[float], tmp_path: Path) -> None:
    with open(tmp_path / "log", "w", encoding="utf-8") as stream:
        assert check(steps(clock, 3, 3), stream) == 0
    assert (tmp_path / "log").read_text() == ""


def test_ctrl_c_leaves_a_clean_line(clock: list[float]) -> None:
    with terminal() as there:
        assert check(steps(clock, 3, 3, then=KeyboardInterrupt()), there.stream) == 130
        written = there.written()
    assert "3000" not in written and "2000 of" in written
    assert screen(written) == ["interrupted", ""]


def test_chinese(clock: list[float]) -> None:
    with terminal() as there:
        check(steps(clock, 3), there.stream, {}, "--lang=zh")
        written = there.written()
    assert "\rnpulint：已处理 1000/21346 个文件\r" in written


def _note(told: list[tuple[int, int]], done: int, total: int) -> None:
    told.append((done, total))


def test_a_line_that_would_wrap_is_not_shown(clock: list[float]) -> None:
    with terminal(columns=20) as there:
        check(steps(clock, 3), there.stream)
        assert there.written() == ""


def test_a_terminal_that_goes_away_does_not_end_the_run(clock: list[float]) -> None:
    with terminal() as there:
        line = progress.ProgressLine(there.stream, "en")
        clock[0] += 3
        there.stream.close()
        line(1, 2)
        line(2, 2)
        there.stream = io.StringIO()


@pytest.mark.parametrize("jobs", [1, 2])
def test_the_pipeline_counts_every_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, jobs: int) -> None:
    """For real: a run over projects that are read here or by other processes, its line seen on a terminal."""
    for project in ("a", "b", "c"):
        (tmp_path / project).mkdir()
        (tmp_path / project / "requirements.txt").write_text("torch\n")
        (tmp_path / project / "train.py").write_text("import torch\n")
    monkeypatch.setattr(progress, "_QUIET", -1)
    monkeypatch.setattr(progress, "_PAUSE", 0)
    monkeypatch.chdir(tmp_path)
    with terminal() as there:
        host = msgspec.structs.replace(system(), environ={}, stdout=io.StringIO(), stderr=there.stream)
        assert main(["check", "--no-cache", "--exit-zero", f"--jobs={jobs}", "."], host) == 0
        written = there.written()
    assert "npulint: 6 of 6 files" in written
    assert screen(written) == [""]
    heard: list[int] = []
    settings = Settings(paths=(".",), jobs=jobs, cache=False)
    from npulint.judge.catalogue.load import load_catalogue

    check_projects(group(discover(["."]).files), load_catalogue((), whole=False), settings, heard.append)
    assert sum(heard) == 6
    assert len(heard) == (6 if jobs == 1 else 3)


def test_what_is_remembered_counts_as_well(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NPULINT_CACHE_DIR", str(tmp_path / "cache"))
    folder = tmp_path / "project"
    folder.mkdir()
    for number in range(45):
        (folder / f"m{number}.py").write_text(f"x = {number}\n")
    from npulint.commands.check.pipeline import run

    for _ in range(2):
        told: list[tuple[int, int]] = []
        run(Settings(paths=(str(folder),)), partial(_note, told))
        assert told[-1] == (45, 45)
