"""Programs that some tests need in addition to Python."""

from __future__ import annotations

import os
import shutil
import subprocess

import pytest


def needed(*names: str) -> str:
    """The path of the first of these programs that is installed. Without any the test is skipped, or fails where
    NPULINT_TEST_ALL says that all tests must run."""
    for name in names:
        path = shutil.which(name)
        if path is not None:
            return path
    missing(names[0])
    return ""


def chinese_font() -> None:
    """End the test where no font has Chinese characters: a browser then draws, and prints, boxes."""
    found = subprocess.run([needed("fc-list"), ":lang=zh"], capture_output=True, check=False)
    if not found.stdout.strip():
        missing("a font with Chinese characters")


def missing(what: str) -> None:
    """End the test because it needs `what`, which is not there."""
    if os.environ.get("NPULINT_TEST_ALL"):
        pytest.fail(f"{what} is needed, because NPULINT_TEST_ALL is set")
    pytest.skip(f"{what} is not installed")
