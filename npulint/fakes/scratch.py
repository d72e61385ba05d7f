"""A scratch copy of a program's folder: what the program writes there leaves the user's files as they are."""

from __future__ import annotations

import os
import shutil

import msgspec

from npulint.core.errors import NpulintError
from npulint.core.texts import say

_LEFT_OUT = frozenset(".git .hg .svn .venv venv node_modules __pycache__ .mypy_cache .pytest_cache .ruff_cache".split())
_LARGEST = 2 << 20  # bytes of a file that is copied; larger ones are linked
_DATA = 2_000  # entries from which a folder is data: it is linked as a whole
_MOST = 50_000  # entries copied
_ROOTS = (".git", ".hg", ".svn")  # what the folder of a project has
_UP = 3  # folders above the working folder that a program may reach by ``..``, if the project has no known root
_DEEPEST = 6  # the same, if it has
_SMALL = 200  # entries up to which a folder beside the working folder is copied
_BESIDE = 1_000  # entries of a folder above from which they are left out


class Scratch(msgspec.Struct):
    """The copy of `original` at `copy`. Large files and folders of data are links: they can be read. What is beside the
    folders from `original` up to `top` (default: only `original` is copied) is beside their copies."""

    original: str
    copy: str
    top: str = ""
    entries: int = 0

    @classmethod
    def around(cls, folder: str, base: str) -> Scratch:
        """The copy of a working folder below `base`, with what is beside it."""
        top = _top(folder)
        return cls(folder, os.path.normpath(os.path.join(base, os.path.relpath(folder, top))), top)

    def fill(self, lang: str) -> None:
        """Copy the folder. Raises `NpulintError` for one with too many files."""
        self._folder(self.original, self.copy, lang)
        for source, target in self._pairs()[1:]:
            self._beside(source, target, lang)

    def there(self, path: str) -> str:
        """A path inside the original as one in the copy; other paths unchanged."""
        source, target = self._pairs()[-1]
        return _moved(path, source, target)

    def back(self, path: str) -> str:
        """A path inside the copy as one in the original; other paths unchanged."""
        source, target = self._pairs()[-1]
        return _moved(path, target, source)

    def _pairs(self) -> list[tuple[str, str]]:
        """The working folder and those above it, with their copies."""
        pairs = [(self.original, self.copy)]
        while self.top and pairs[-1][0] != self.top:
            pairs.append((os.path.dirname(pairs[-1][0]), os.path.dirname(pairs[-1][1])))
        return pairs

    def _beside(self, source: str, target: str, lang: str) -> None:
        """Link or copy the entries of a folder above the working folder, but for what is there."""
        with os.scandir(source) as listed:
            entries = sorted(listed, key=lambda entry: entry.name)
        rooted = any(os.path.lexists(os.path.join(self.top, name)) for name in _ROOTS)
        for entry in entries if len(entries) < _BESIDE else ():
            place = os.path.join(target, entry.name)
            if os.path.lexists(place):
                continue
            if rooted and _is_small(entry):
                self._entry(entry, place, lang)
            elif entry.name not in _LEFT_OUT:
                os.symlink(os.path.realpath(entry.path), place)

    def _folder(self, source: str, target: str, lang: str) -> None:
        os.makedirs(target, exist_ok=True)
        with os.scandir(source) as listed:
            entries = sorted(listed, key=lambda entry: entry.name)
        self.entries += len(entries)
        if self.entries > _MOST:
            raise NpulintError(say(lang, "try.too-many", path=self.original, most=_MOST))
        for entry in entries:
            self._entry(entry, os.path.join(target, entry.name), lang)

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


def _is_small(entry: os.DirEntry[str]) -> bool:
    """Whether a file or a folder has few entries."""
    count = 0
    if entry.is_dir(follow_symlinks=False):
        for _, folders, files in os.walk(entry.path):
            count += len(folders) + len(files)
            if count > _SMALL:
                return False
    return True


def _top(folder: str) -> str:
    """The folder of the project, else one a few levels up."""
    above = [folder]
    while len(above) <= _DEEPEST and os.path.dirname(os.path.dirname(above[-1])) != os.path.dirname(above[-1]):
        above.append(os.path.dirname(above[-1]))  # never the root of all files
    for candidate in above:
        if any(os.path.lexists(os.path.join(candidate, name)) for name in _ROOTS):
            return candidate
    return above[min(_UP, len(above) - 1)]


def _moved(path: str, source: str, target: str) -> str:
    if path == source:
        return target
    return target + path[len(source) :] if path.startswith(source + os.sep) else path
