"""Working folders of public programs, taken from mirrors in a folder or cloned."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

HOST = "https://github.com/"


def placed(repository: str, commit: str, part: str, target: Path, mirrors: Path | None) -> None:
    """Put the folder `part` of a repository (``owner/name``) at a commit below `target`. `mirrors` has git directories
    or clones named ``owner+name``, which may lack large files; without one the repository is cloned. Raises
    `subprocess.CalledProcessError`."""
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    name = repository.replace("/", "+")
    place = mirrors / name if mirrors is not None and (mirrors / name).exists() else target.parent / f"{name}.git"
    if not place.exists():
        subprocess.run(["git", "clone", "--quiet", "--bare", f"{HOST}{repository}", str(place)], check=True)
    git = ["git", f"--git-dir={place / '.git' if (place / '.git').is_dir() else place}"]
    for path, content in _files(git, commit, "" if part == "." else part):
        (target / path).parent.mkdir(parents=True, exist_ok=True)
        (target / path).write_bytes(content)


def _files(git: list[str], commit: str, part: str) -> Iterator[tuple[str, bytes]]:
    """The files of a commit with their contents, but for those that the mirror lacks."""
    command = [*git, "ls-tree", "-r", "-z", commit, *([part] if part else [])]
    listed = subprocess.run(command, check=True, capture_output=True).stdout.decode().split("\0")
    rows = [line.partition("\t") for line in listed if line]
    files = [(head.split()[2], path) for head, _, path in rows if head.split()[1] == "blob" and head[:6] != "120000"]
    asked = "".join(f"{number}\n" for number, _ in files).encode()
    told = subprocess.run([*git, "cat-file", "--batch"], input=asked, check=True, capture_output=True).stdout
    at = 0
    for _, path in files:
        end = told.index(b"\n", at)
        head = told[at:end].split()
        at = end + 1
        if head[-1] != b"missing":
            size = int(head[2])
            yield path, told[at : at + size]
            at += size + 1
