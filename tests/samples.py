"""Real files that runs left behind, where a machine has them: they are not part of the project."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

_BESIDE = Path(__file__).resolve().parents[2] / "shared" / "samples"


def sample(relative: str) -> Path:
    """The sample at this path below NPULINT_SAMPLES, or below the folder next to the project. Without it the test is
    skipped."""
    path = Path(os.environ.get("NPULINT_SAMPLES") or _BESIDE) / relative
    if not path.exists():
        pytest.skip(f"there is no sample {relative}")
    return path
