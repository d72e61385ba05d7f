"""Locations of check files, and what is known without opening them."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from itertools import islice

import msgspec

from npulint.core.errors import CatalogueError, CatalogueProblem
from npulint.core.links import leads_out

RETIRED = "retired.txt"
MAX_BYTES = 64 * 1024  # of a check file
MAX_ENTRIES = 100_000  # below a folder of checks
PRECOMPILED = "catalogue.msgpack"


class CheckFile(msgspec.Struct, frozen=True):
    """A check file in a directory. `relative` is its POSIX path below the directory."""

    path: str
    relative: str
    size: int
    mtime_ns: int

    @property
    def family(self) -> str:
        """The name of its folder."""
        return os.path.basename(os.path.dirname(os.path.abspath(self.path)))

    @property
    def name(self) -> str:
        """The file name without extension."""
        return os.path.splitext(os.path.basename(self.path))[0]


def builtin_directory() -> str:
    """The folder of the built-in checks: inside the package when installed, next to it in a checkout."""
    package = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
    places = [os.path.join(home, "checks") for home in (package, os.path.dirname(package))]
    for place in places:
        if os.path.isdir(place):
            return place
    raise CatalogueError([CatalogueProblem(places[0], 1, 1, "the built-in checks are missing")])


def list_files(directories: Sequence[str]) -> list[CheckFile]:
    """All check files and lists of retired codes below the directories, sorted; a path may also be a file. Links to
    directories are not followed. Raises `CatalogueError` for a missing path, an unreadable or far too large directory,
    and a link to a file outside of the directory and its repository; the built-in checks may be links to anywhere,
    because some installers link all files of a package."""
    builtin = builtin_directory()
    files: dict[str, CheckFile] = {}
    for directory in directories:
        real = os.path.realpath(directory)
        if os.path.isdir(real):
            for entry in _walk(directory, directory != builtin):
                files.setdefault(f"{real.replace(os.sep, '/')}/{entry.relative}", entry)
        else:
            files.setdefault(real.replace(os.sep, "/"), _single(directory))
    return list(files.values())


def read_file(source: CheckFile) -> bytes:
    """The bytes of a check file, slightly more than the limit at most; raises `CatalogueError`."""
    try:
        with open(source.path, "rb") as stream:
            return stream.read(MAX_BYTES + 1)
    except OSError as error:
        raise _error(source.path, f"cannot be read: {error.strerror}") from None


def _single(path: str) -> CheckFile:
    try:
        status = os.stat(path)
    except OSError as error:
        raise _error(path, f"cannot be read: {error.strerror}") from None
    if not stat.S_ISREG(status.st_mode):
        raise _error(path, "neither a file nor a directory")
    return CheckFile(path, os.path.basename(path), status.st_size, status.st_mtime_ns)


def _walk(directory: str, enclosed: bool) -> Iterator[CheckFile]:
    """The check files below a directory in order. `enclosed`: links must not lead out of it."""
    top = os.path.join(directory, "")
    rest = list(reversed(_listing(directory, 0)))
    seen = len(rest)
    while rest:
        entry = rest.pop()
        if entry.name.startswith("."):
            continue
        if entry.is_dir(follow_symlinks=False):
            below = _listing(entry.path, seen)
            seen += len(below)
            rest += reversed(below)
        elif entry.name.endswith((".yaml", ".yml")) or entry.name == RETIRED:
            if enclosed and leads_out(entry.path, directory):
                raise _error(entry.path, "this symbolic link leads out of the folder of the checks")
            status = _status(entry)
            if stat.S_ISREG(status.st_mode):
                relative = entry.path[len(top) :].replace(os.sep, "/")
                yield CheckFile(entry.path, relative, status.st_size, status.st_mtime_ns)


def _listing(directory: str, seen: int) -> list[os.DirEntry[str]]:
    """The entries of a directory by name; `seen` were listed before."""
    try:
        with os.scandir(directory) as listing:
            entries = sorted(islice(listing, MAX_ENTRIES - seen + 1), key=lambda entry: entry.name)
    except OSError as error:
        raise _error(directory, f"cannot be read: {error.strerror}") from None
    if seen + len(entries) > MAX_ENTRIES:
        raise _error(directory, f"more than {MAX_ENTRIES} files and folders; name the folder that holds the checks")
    return entries


def _status(entry: os.DirEntry[str]) -> os.stat_result:
    try:
        return entry.stat()
    except OSError as error:
        raise _error(entry.path, f"cannot be read: {error.strerror}") from None


def _error(path: str, message: str) -> CatalogueError:
    return CatalogueError([CatalogueProblem(path, 1, 1, message)])
