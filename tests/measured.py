"""Programs of tests that need a process of their own, with the lines they run counted where those of the tests are."""

from __future__ import annotations

import os
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent


def python(*words: str) -> list[str]:
    """The command that runs a program, written as for ``python``: a file, or ``-m`` and a module, with arguments."""
    coverage = sys.modules.get("coverage")
    counting = None if coverage is None else coverage.Coverage.current()
    if counting is None:
        return [sys.executable, "-W", "ignore", *words]
    data = os.path.abspath(counting.config.data_file)
    counted = ["-m", "coverage", "run", "--rcfile", str(ROOT / "pyproject.toml"), "--data-file", data]
    return [sys.executable, "-W", "ignore", *counted, *words]
