"""What development installs is locked, so that a clone passes its tests on any day."""

from __future__ import annotations

from pathlib import Path

from scripts.lock import LOCK, unlocked

ROOT = Path(__file__).parent.parent
_PROJECT = """
[project]
dependencies = ["msgspec>=0.18.6", "tomli>=2.0; python_version < '3.11'"]
[project.optional-dependencies]
dev = ["Types_PyYAML", "ruff>=0.5"]
"""


def test_all_that_the_project_asks_for_is_locked() -> None:
    assert unlocked((ROOT / "pyproject.toml").read_text("utf-8"), LOCK.read_text("utf-8")) == []


def test_what_is_missing_or_too_old_is_named() -> None:
    lock = "# ruff==1.0\nmsgspec==0.18.5\ntomli==2.0.1 ; python_full_version < '3.11'\ntypes-pyyaml==6.0\n"
    assert unlocked(_PROJECT, lock) == ["msgspec>=0.18.6", "ruff>=0.5"]


def test_the_lock_names_no_address() -> None:
    assert "://" not in LOCK.read_text("utf-8")
