"""Mistakes that are made on purpose, for the tests of the fuzz tool: a file with a certain word sets them off."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from unittest import mock

from npulint.facts.model import Fact, Problem
from npulint.read import shell_script as facts
from scripts.fuzzing.example import Example, Failure
from scripts.fuzzing.judge import judge

_READ = facts.read_script


def _endless() -> None:
    while True:
        pass


def _greedy() -> None:
    kept = [bytearray(50_000_000)]
    for piece in kept:
        piece[::4096] = b"x" * len(piece[::4096])
        if len(kept) < 15:
            kept.append(bytearray(50_000_000))


def _planted(text: str, path: str) -> tuple[list[Fact], list[Problem]]:
    """The reader of shell scripts, with mistakes."""
    mistakes: dict[str, Callable[[], object]] = {
        "crash": lambda: [][0],
        "loop": _endless,
        "regex": lambda: re.match("(a*)*b", "a" * 40),
        "sleep": lambda: time.sleep(999),
        "memory": _greedy,
        "die": lambda: os.kill(os.getpid(), 11),
        "write": lambda: Path("../../elsewhere.txt").write_text(text),
        "change": lambda: Path(path).write_text("other"),
        "start": lambda: subprocess.run([sys.executable, "-c", ""], check=True),
        "quit": lambda: sys.exit(3),
    }
    for word, mistake in mistakes.items():
        if f"plant {word}" in text:
            mistake()
    return _READ(text, path)


def judge_planted(example: Example, scratch: Path) -> Failure | None:
    """Judge an example with the mistakes in place."""
    with mock.patch.object(facts, "read_script", _planted):
        return judge(example, scratch)


def judge_hover(example: Example, scratch: Path) -> Failure | None:
    """Judge an example with a mistake where the server answers."""
    with mock.patch("npulint.hosts.server.requests.named_at", side_effect=ZeroDivisionError):
        return judge(example, scratch)
