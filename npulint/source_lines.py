"""The text lines of files on disk, for frames and fingerprints. What cannot be read has no lines."""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Callable, Sequence

from npulint.discover.graphs import HEAD, form_of_text
from npulint.discover.kinds import kinds_of
from npulint.discover.safe_open import read_regular
from npulint.read.source import Source, decode

LineProvider = Callable[[str], Sequence[str]]

_LIMIT = 20_000_000  # bytes
_KEPT = 32  # files
_HELD = 40_000_000  # bytes of these files together, beside the last one
_BINARY = (  # graphs and what is packed; TypeScript is not read either
    *(".pb", ".meta", ".pt2", ".pt", ".pth", ".ts", ".torchscript", ".ptl", ".jit", ".gz"),
)


class FileLines:
    """Reads files when their lines are asked for and keeps the last few; `given` holds texts that are
    not on disk, such as standard input. Graphs that nobody reads line by line have none."""

    def __init__(self, given: dict[str, bytes] | None = None) -> None:
        self._given = given or {}
        self._kept: OrderedDict[str, Sequence[str]] = OrderedDict()
        self._sizes: dict[str, int] = {}

    def __call__(self, path: str) -> Sequence[str]:
        """The lines of the file at `path` without their ends; none when it cannot be read."""
        lines = self._kept.get(path)
        if lines is None:
            data = self._bytes(path)
            self._sizes[path] = len(data)
            while self._kept and (len(self._kept) >= _KEPT or sum(self._sizes.values()) > _HELD):
                del self._sizes[self._kept.popitem(last=False)[0]]
            lines = self._kept[path] = split(data) if kinds_of(os.path.basename(path)) else _lines_of_run(data)
        return lines

    def _bytes(self, path: str) -> bytes:
        if path in self._given:
            return self._given[path]
        if path.endswith(_BINARY):
            return b""
        try:
            data = read_regular(path, _LIMIT)
        except (OSError, ValueError):
            return b""
        return b"" if path.endswith(".json") and form_of_text(path, data[:HEAD]) else data


def split(data: bytes, python: bool = True) -> list[str]:
    """The lines of a source as Python counts them; bytes that are no text stand as escapes."""
    source = decode(data, "", python)
    if isinstance(source, Source):
        text = source.text
    else:
        text = data.decode("utf-8", "backslashreplace").replace("\r\n", "\n").replace("\r", "\n")
    return text.split("\n") if text else []


def _lines_of_run(data: bytes) -> list[str]:
    """The lines of what a run left behind as its readers count them: a progress bar that rewrote its line is one."""
    return split(data.replace(b"\r\n", b"\n").replace(b"\r", b" "), python=False)


def cell_line(line: str) -> str:
    """The code in a line of a notebook file: the text of its JSON string, where columns count from."""
    import json

    stripped = line.strip().removesuffix(",")
    try:
        value = json.loads(stripped) if stripped.startswith('"') else None
    except (ValueError, RecursionError):
        value = None
    return value.rstrip("\r\n") if isinstance(value, str) else line
