"""The guide to live checks: its first examples run as they stand, and both languages show the same code."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.live_support import installed

pytestmark = pytest.mark.slow

_ROOT = Path(__file__).parent.parent
_GUIDES = {lang: (_ROOT / "docs" / lang / "live.md").read_text(encoding="utf-8") for lang in ("en", "zh")}


def _blocks(text: str) -> list[str]:
    return re.findall(r"```(?:python|sh|toml)\n(.*?)```", text, re.DOTALL)


def test_both_languages_show_the_same_code() -> None:
    without_remarks = [[re.sub(r"#.*", "", block) for block in _blocks(text)] for text in _GUIDES.values()]
    assert without_remarks[0] == without_remarks[1] and len(without_remarks[0]) >= 7
    assert [re.findall(r"\{ #[\w-]+ \}", text) for text in _GUIDES.values()].count([]) == 0
    assert re.findall(r"\{ #[\w-]+ \}", _GUIDES["en"]) == re.findall(r"\{ #[\w-]+ \}", _GUIDES["zh"])


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("framework", "words"),
    [("torch", ["aten.huber_loss", "PyTorch 2.7"]), ("tensorflow", ["EagerPyFunc", "Lgamma", "cann 8.0"])],
)
def test_the_first_examples_run_as_they_stand(
    framework: str, words: list[str], tmp_path: Path, new_cache: Path
) -> None:
    installed(framework)
    block = next(one for one in _blocks(_GUIDES["en"]) if f"check_{framework}(" in one)
    (tmp_path / "example.py").write_text(block)
    environ = {**os.environ, "NPULINT_LANG": "en", "PYTHONPATH": str(_ROOT), "NPULINT_CACHE_DIR": str(new_cache)}
    done = subprocess.run(
        [sys.executable, "example.py"],
        cwd=tmp_path,
        env=environ,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert [word for word in words if word not in done.stdout] == []
    assert "example.py:" in done.stdout
