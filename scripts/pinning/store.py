"""The files of a recording: one for each project, JSON lines compressed by gzip, of which the first is a header."""

from __future__ import annotations

import gzip
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from npulint.core.digest import blake2b
from scripts.pinning.projects import Project

ENDING = ".jsonl.gz"
LIST = "projects.tsv"
"""The file that lists the projects of a recording, in the form that ``--list`` takes."""
VERSION = 1


class Header(msgspec.Struct, frozen=True):
    """The first line of a file: the project, the digests of its content and of npulint, the number of records by
    kind, the seconds of the processor that it took, and a digest of all records. `failures` are the parts without
    records, and why. `version` is that of the format."""

    project: Project
    content: str
    engine: str
    counts: dict[str, int] = {}
    failures: dict[str, str] = {}
    seconds: float = 0.0
    body: str = ""
    version: int = VERSION


class Stored(msgspec.Struct, frozen=True):
    """A file of a recording with its header."""

    path: Path
    header: Header

    def records(self) -> Iterator[dict[str, Any]]:
        """The records of the project."""
        with gzip.open(self.path, "rb") as stream:
            next(stream, b"")
            yield from map(msgspec.json.decode, stream)


def file_name(project: Project, content: str) -> str:
    """The name of the file for a project with this content."""
    text = f"{project.line()}\0{content}"
    return blake2b(text.encode("utf-8", "surrogateescape"), digest_size=16).hexdigest() + ENDING


def stored(folder: Path) -> dict[Project, Stored]:
    """The files of a recording by project. Damaged files, and those of another format, are as if they were missing."""
    found = (_stored(path) for path in sorted(folder.glob(f"*{ENDING}")))
    return {file.header.project: file for file in found if file is not None}


def _stored(path: Path) -> Stored | None:
    try:
        with gzip.open(path, "rb") as stream:
            header = msgspec.json.decode(next(stream, b""), type=Header)
    except (OSError, EOFError, msgspec.MsgspecError):
        return None
    return Stored(path, header) if header.version == VERSION else None


def store(folder: Path, header: Header, parts: list[Path]) -> Path:
    """Write the file of a project from its header and the compressed records of each part."""
    path = folder / file_name(header.project, header.content)
    temporary = path.with_suffix(".tmp")
    with temporary.open("wb") as stream:
        stream.write(gzip.compress(msgspec.json.encode(header) + b"\n", mtime=0))
        for part in parts:
            stream.write(part.read_bytes())
    os.replace(temporary, path)
    return path


def write_list(folder: Path) -> None:
    """Write the list of all projects of a recording, sorted."""
    lines = sorted(project.line() for project in stored(folder))
    (folder / LIST).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8", errors="surrogateescape")
