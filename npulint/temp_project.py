"""Texts by name as files in a folder of their own: how examples and other texts that are no files are judged."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

import msgspec

from npulint.discover.files import discover
from npulint.discover.kinds import SourceFile
from npulint.settings import Settings


@contextmanager
def materialize(files: dict[str, str], configurations: bool = False) -> Iterator[tuple[str, list[SourceFile]]]:
    """Some texts by file name as files in a folder of their own, while it lasts: the folder, and the files that a run
    reads. Their paths are the names. `configurations`: also those that may hold the
    settings of a program."""
    import tempfile

    with tempfile.TemporaryDirectory(prefix="npulint-") as folder:
        for name, text in files.items():
            place = os.path.join(folder, *name.split("/"))
            os.makedirs(os.path.dirname(place), exist_ok=True)
            with open(place, "w", encoding="utf-8", newline="") as out:
                out.write(text)
        options = msgspec.structs.replace(Settings().discovery(), configurations=configurations)
        found = discover([folder], options)
        yield folder, [msgspec.structs.replace(one, path=os.path.relpath(one.location, folder)) for one in found.files]
