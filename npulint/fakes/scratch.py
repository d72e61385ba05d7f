"""A scratch copy of a program's folder: what the program writes there leaves the user's files as they are."""

from __future__ import annotations

import os
import shutil

import msgspec

from npulint.errors import NpulintError
from npulint.texts import say

_LEFT_OUT = frozenset(".git .hg .svn .venv venv node_modules __pycache__ .mypy_cache .pytest_cache .ruff_cache".split())
_LARGEST = 2 << 20  # bytes of a file that is copied; larger ones are linked
_DATA = 2_000  # entries from which a folder is data: it is linked as a whole
_MOST = 50_000  # entries copied


class Scratch(msgspec.Struct):
    """The copy of `original` at `copy`. Large files and folders of data are links: they can be read."""

    original: str
    copy: str
    entries: int = 0

    def fill(self, lang: str) -> None:
        """Copy the folder. Raises `NpulintError` for one with too many files."""
        self._folder(self.original, self.copy, lang)

    def there(self, path: str) -> str:
        """A path inside the original as one in the copy; other paths unchanged."""
        return _moved(path, self.original, self.copy)

    def back(self, path: str) -> str:
        """A path inside the copy as one in the original; other paths unchanged."""
        return _moved(path, self.copy, self.original)

    def _folder(self, source: str, target: str, lang: str) -> None:
        os.makedirs(target, exist_ok=True)
        with os.scandir(source) as listed:
            entries = sorted(listed, key=lambda one: one.name)
        self.entries += len(entries)
        if self.entries > _MOST:
            raise NpulintError(say(lang, "try.too-many", path=self.original, most=_MOST))
        for one in entries:
            self._entry(one, os.path.join(target, one.name), lang)

    def _entry(self, entry: os.DirEntry[str], target: str, lang: str) -> None:
        if entry.name in _LEFT_OUT:
            return
        if entry.is_symlink():
            os.symlink(os.path.realpath(entry.path), target)
        elif entry.is_dir():
            if _is_data(entry.path):
                os.symlink(entry.path, target)
            else:
                self._folder(entry.path, target, lang)
        elif entry.is_file():
            if entry.stat().st_size > _LARGEST:
                os.symlink(entry.path, target)
            else:
                shutil.copy2(entry.path, target)


def _is_data(folder: str) -> bool:
    with os.scandir(folder) as entries:
        return sum(1 for _ in zip(entries, range(_DATA), strict=False)) >= _DATA


def _moved(path: str, source: str, target: str) -> str:
    if path == source:
        return target
    return target + path[len(source) :] if path.startswith(source + os.sep) else path
