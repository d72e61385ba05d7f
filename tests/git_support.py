"""Temporary git repositories, free of the settings of whoever runs the tests."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from tests.tools import needed

ALONE = {
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "a",
    "GIT_AUTHOR_EMAIL": "a@example.org",
    "GIT_COMMITTER_NAME": "a",
    "GIT_COMMITTER_EMAIL": "a@example.org",
}


def environment() -> dict[str, str]:
    """The environment of a git command, without the repository that may surround the tests."""
    return {name: value for name, value in os.environ.items() if not name.startswith("GIT_")} | ALONE


def git(folder: Path, *words: str, given: bytes = b"") -> str:
    """What a git command in `folder` prints."""
    done = subprocess.run(
        [needed("git"), "-c", "core.autocrlf=false", *words],
        cwd=folder,
        env=environment(),
        input=given,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode("utf-8", "surrogateescape").strip()


def commit(folder: Path) -> str:
    """Commit everything in `folder`, which becomes a repository if it is none; the name of the commit."""
    if not (folder / ".git").exists():
        git(folder, "init", "-q")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "--no-verify", "--allow-empty", "-m", "x")
    return git(folder, "rev-parse", "HEAD")
