"""What every report keeps: the same bytes each time, and no library of the integrations on the way of `check`."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from npulint.judge.settings import FORMATS

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parent.parent
STRANGERS = frozenset(
    "pygls lsprotocol attr attrs cattrs asyncio jsonschema playwright mkdocs markdown jinja2 pre_commit shtab "
    "socket ssl http email logging ctypes".split()
)


def report(format_name: str, cache: Path, seed: str) -> tuple[bytes, set[str]]:
    """The report on the samples, and the modules that were loaded for it."""
    words = ["check", "--format", format_name, "--lang", "en", "examples/denoiser", "examples/classifier"]
    code = (
        f"import sys; from npulint.hosts.cli.main import main; code = main({words!r}); "
        "print(*sys.modules, file=sys.stderr); sys.exit(code // 2)"
    )
    environment = {**os.environ, "PYTHONHASHSEED": seed, "NPULINT_CACHE_DIR": str(cache), "PYTHONPATH": str(ROOT)}
    environment.pop("GITHUB_ACTIONS", None)
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=environment, capture_output=True, check=True)
    return done.stdout, set(done.stderr.decode().split("\n")[-2].split())


@pytest.mark.parametrize("format_name", FORMATS)
def test_two_runs_give_the_same_bytes_and_load_no_stranger(
    format_name: str, new_cache: Path, cache_folder: Path
) -> None:
    first, _ = report(format_name, cache_folder, "1")
    second, loaded = report(format_name, new_cache, "2")  # nothing remembered, other hashes
    assert first == second and len(first) > 500
    assert "npulint.report.view" in loaded
    assert sorted(STRANGERS & loaded) == []
    assert str(ROOT).encode() not in first
