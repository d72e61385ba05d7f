"""The text lines of files on disk, for frames and fingerprints. What cannot be read has no lines."""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Callable, Sequence

from npulint.discover.regular import read_regular

Lines = Callable[[str], Sequence[str]]

_LIMIT = 20_000_000  # bytes
_KEPT = 32  # files
_NEWLINE = re.compile(r"\r\n|\r|\n")  # what Python counts; str.splitlines() knows more
_COOKIE = re.compile(rb"^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")


class FileLines:
    """Reads files when their lines are asked for and keeps the last few; `given` holds texts that are
    not on disk, such as standard input."""

    def __init__(self, given: dict[str, bytes] | None = None) -> None:
        self._given = given or {}
        self._kept: OrderedDict[str, Sequence[str]] = OrderedDict()

    def __call__(self, path: str) -> Sequence[str]:
        """The lines of the file at `path` without their ends; none when it cannot be read."""
        lines = self._kept.get(path)
        if lines is None:
            lines = self._kept[path] = split(decode(self._bytes(path)))
            if len(self._kept) > _KEPT:
                self._kept.popitem(last=False)
        return lines

    def _bytes(self, path: str) -> bytes:
        if path in self._given:
            return self._given[path]
        try:
            return read_regular(path, _LIMIT)
        except (OSError, ValueError):
            return b""


def split(text: str) -> list[str]:
    """Lines as Python counts them."""
    return _NEWLINE.split(text) if text else []


def decode(data: bytes) -> str:
    """The text of source bytes: by BOM or coding cookie, else UTF-8, else GB18030, else with escapes."""
    if data.startswith(b"\xef\xbb\xbf"):
        return data[3:].decode("utf-8", "replace")
    for encoding in (*_cookie(data), "utf-8", "gb18030"):
        try:
            return data.decode(encoding)
        except (UnicodeError, LookupError):
            continue
    return data.decode("utf-8", "backslashreplace")


def _cookie(data: bytes) -> list[str]:
    found = [_COOKIE.match(line) for line in data[:400].split(b"\n", 2)[:2]]
    return [match[1].decode("ascii", "replace") for match in found if match]
