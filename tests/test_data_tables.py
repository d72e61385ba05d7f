"""The tables that are shipped are the ones that their sources give."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parent.parent / "scripts" / "build_data.py"


@pytest.mark.daily
def test_the_tables_are_built_from_the_sources_as_they_are_now() -> None:
    done = subprocess.run([sys.executable, str(SCRIPT), "--check"], capture_output=True, text=True, check=False)
    assert done.stdout == ""
    assert done.returncode == 0
