"""The READMEs show what npulint really prints."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


@pytest.mark.slow
def test_the_output_in_the_readmes_is_the_real_one() -> None:
    done = subprocess.run([sys.executable, "scripts/fill_readme.py", "--check"], cwd=ROOT, check=False)
    assert done.returncode == 0, "run scripts/fill_readme.py"


def test_both_readmes_name_the_two_commands() -> None:
    for name in ("README.md", "README.zh.md"):
        text = (ROOT / name).read_text(encoding="utf-8")
        assert "./run-example" in text and "./check" in text
        assert (ROOT / "run-example").exists() and (ROOT / "check").exists()
