"""Writes source texts to a temporary folder, so that examples can be checked like a project."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

import msgspec

from npulint.discover.files import discover
from npulint.discover.kinds import SourceFile
from npulint.judge.settings import Settings


@contextmanager
def materialize(files: dict[str, str], configurations: bool = False) -> Iterator[tuple[str, list[SourceFile]]]:
    """Context manager: texts by file name written to a temporary folder; yields the folder and the files that a run
    would read there, their paths relative to it. `configurations` includes files that may configure a program."""
    import tempfile

    with tempfile.TemporaryDirectory(prefix="npulint-") as folder:
        for name, text in files.items():
            place = os.path.join(folder, *name.split("/"))
            os.makedirs(os.path.dirname(place), exist_ok=True)
            with open(place, "w", encoding="utf-8", newline="") as out:
                out.write(text)
        options = msgspec.structs.replace(Settings().discovery(), configurations=configurations)
        discovery = discover([folder], options)
        yield (
            folder,
            [msgspec.structs.replace(file, path=os.path.relpath(file.location, folder)) for file in discovery.files],
        )
