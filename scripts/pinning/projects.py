"""The projects of a recording: folders, or pairs of folders that are compared, and the digests of their content."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

import npulint
from npulint.core.digest import blake2b
from npulint.judge.catalogue.sources import builtin_directory

_DIGEST = 16  # bytes
_NOT_HASHED = ("__pycache__", ".git")


class Project(msgspec.Struct, frozen=True, order=True):
    """A project folder, or with `migrated` a pair of them: `path` is then the reference. Both are relative to the
    root of the recording. `target` are options of the target environment, as ``torch=2.7``."""

    path: str
    migrated: str = ""
    target: tuple[str, ...] = ()

    @property
    def paths(self) -> tuple[str, ...]:
        """Its folders."""
        return (self.path, self.migrated) if self.migrated else (self.path,)

    def line(self) -> str:
        """Its line in a list of projects."""
        return "\t".join((self.path, self.migrated, " ".join(self.target))).rstrip("\t")

    def __str__(self) -> str:
        return " -> ".join(self.paths)


def parsed_list(text: str) -> list[Project]:
    """The projects of a list: a line has a folder, the migrated project of a pair and targets, divided by tabs; the
    last two may be missing."""
    rows = [line.split("\t") for line in text.split("\n") if line.strip() and not line.startswith("#")]
    return [Project(row[0], "".join(row[1:2]), tuple(" ".join(row[2:]).split())) for row in rows]


class Content(msgspec.Struct, frozen=True):
    """What a project consists of: the digest of all paths and bytes, and their number."""

    digest: str
    size: int


def content_of(project: Project, root: Path) -> Content:
    """The content of the folders of a project. Raises `NotADirectoryError` for a folder that is missing."""
    for path in project.paths:
        if not (root / path).is_dir():
            raise NotADirectoryError(root / path)
    return _content(root, project.paths)


def engine_digest() -> str:
    """A digest of the code, tables and checks of the npulint that is imported."""
    module = Path(npulint.__file__).resolve().parent
    checks = Path(builtin_directory()).resolve()
    parts = [_content(folder, ("",)).digest for folder in dict.fromkeys((module, checks))]
    return blake2b("".join(parts).encode(), digest_size=_DIGEST).hexdigest()


def _content(root: Path, folders: Sequence[str]) -> Content:
    digest, size = blake2b(digest_size=_DIGEST), 0
    for folder in folders:
        for file in _files(root / folder):
            name = os.fsencode(file.relative_to(root / folder))
            data = os.fsencode(os.readlink(file)) if file.is_symlink() else _bytes(file)
            digest.update(b"%d %d\0%s%s" % (len(name), len(data), name, data))
            size += len(data)
        digest.update(b"\n")
    return Content(digest.hexdigest(), size)


def _bytes(file: Path) -> bytes:
    return file.read_bytes() if file.is_file() else b""


def _files(folder: Path) -> Iterable[Path]:
    for parent, folders, names in os.walk(folder):
        linked = [name for name in folders if os.path.islink(os.path.join(parent, name))]
        folders[:] = sorted(name for name in folders if name not in _NOT_HASHED and name not in linked)
        yield from (Path(parent, name) for name in sorted([*names, *linked]))
