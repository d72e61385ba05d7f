"""Loads the catalogue of a run: built-in checks and those of the user's directories."""

from __future__ import annotations

import contextlib
import gc
import os
import sys
import threading
import zlib
from collections.abc import Iterable, Sequence
from typing import IO

import msgspec

from npulint import __version__
from npulint.core.cache import cache_folder, is_safe
from npulint.core.digest import blake2b
from npulint.judge.catalogue.check import Catalogue, Example, ItemExample, Reference
from npulint.judge.catalogue.sources import PRECOMPILED, CheckFile, builtin_directory, list_files

# The compiled catalogue: one file that start-up reads instead of the YAML files.

_MAGIC = b"npulint-catalogue-8"
_HEADER = 200  # bytes at most
_DIGITS = 12  # of a length, which no file has
_Prose = tuple[list[tuple[tuple[Example, ...], tuple[Reference, ...]]], list[tuple[ItemExample, ...]]]
"""The parts of checks and checklist items that only pages and tests need."""


def shipped_key(files: Iterable[CheckFile]) -> str:
    """The key of a shipped compiled file: names and sizes of check files (installing changes times)."""
    return _digest(f"{file.relative}\0{file.size}" for file in files)


def cache_key(files: Iterable[CheckFile]) -> str:
    """The key of a cached compiled file: names, sizes and times of check files, and the code that reads them."""
    readers = sorted(os.scandir(os.path.dirname(__file__)), key=lambda entry: entry.name)
    own = (f"{e.name}\0{e.stat().st_size}\0{e.stat().st_mtime_ns}" for e in readers if e.name.endswith(".py"))
    return _digest([*(f"{file.path}\0{file.size}\0{file.mtime_ns}" for file in files), *own])


def encode(catalogue: Catalogue, key: str) -> bytes:
    """The bytes of a compiled file: a header line, the catalogue without long texts, and the long texts."""
    bare = tuple(msgspec.structs.replace(check, examples=(), references=()) for check in catalogue.checks)
    items, pretuning = (
        tuple(msgspec.structs.replace(item, examples=()) for item in some)
        for some in (catalogue.items, catalogue.pretuning)
    )
    lean = msgspec.msgpack.encode(msgspec.structs.replace(catalogue, checks=bare, items=items, pretuning=pretuning))
    tests = [item.examples for item in (*catalogue.items, *catalogue.pretuning)]
    prose: _Prose = ([(check.examples, check.references) for check in catalogue.checks], tests)
    rest = msgspec.msgpack.encode(prose)
    header = b" ".join((_MAGIC, key.encode("ascii"), *_seal(lean), *_seal(rest)))
    return b"%s\n%s%s" % (header, lean, rest)


def _seal(part: bytes | memoryview) -> list[bytes]:
    """What the header says of a part: its checksum and its length."""
    return [b"%08x" % zlib.crc32(part), b"%d" % len(part)]


def _length_of_lean(header: Sequence[bytes]) -> int:
    """The length of the first part by the words of a header; 0 if it is malformed."""
    return int(header[3]) if len(header) == 6 and header[3].isdigit() and len(header[3]) < _DIGITS else 0


def decode(data: bytes, key: str, whole: bool = True) -> Catalogue | None:
    """The catalogue of a compiled file; None if it is damaged or has another key. Unless `whole`, checks lack examples
    and references, which a run does not need, and `data` may end before them."""
    end = data.find(b"\n", 0, _HEADER)
    words = data[: max(end, 0)].split(b" ")
    length = _length_of_lean(words)
    body = memoryview(data)[end + 1 :]
    lean, rest = body[:length], body[length:]
    if words[:4] != [_MAGIC, key.encode("ascii"), *_seal(lean)] or (whole and words[4:] != _seal(rest)):
        return None
    collecting = gc.isenabled()
    gc.disable()  # decoding creates no garbage, but collection would take a third of the time
    try:
        catalogue = msgspec.msgpack.decode(lean, type=Catalogue)
        return _complete(catalogue, rest) if whole else catalogue
    except (msgspec.DecodeError, RecursionError):
        return None
    finally:
        if collecting:
            gc.enable()


def _complete(lean: Catalogue, data: memoryview) -> Catalogue:
    prose, tests = msgspec.msgpack.decode(data, type=_Prose)
    checks = [
        msgspec.structs.replace(check, examples=examples, references=references)
        for check, (examples, references) in zip(lean.checks, prose, strict=True)
    ]
    listed = zip((*lean.items, *lean.pretuning), tests, strict=True)
    items = tuple(msgspec.structs.replace(item, examples=examples) for item, examples in listed)
    cut = len(lean.items)
    return msgspec.structs.replace(lean, checks=tuple(checks), items=items[:cut], pretuning=items[cut:])


def read(path: str, key: str, whole: bool = True) -> Catalogue | None:
    """The catalogue of the compiled file at `path` (see `decode`); None if there is none with this key."""
    try:
        with open(path, "rb") as stream:
            if not _owned(stream.fileno()):
                return None
            return decode(stream.read() if whole else _lean(stream), key, whole)
    except OSError:
        return None


def _lean(stream: IO[bytes]) -> bytes:
    """A compiled file up to the examples and references, which are more than half of it."""
    header = stream.readline(_HEADER)
    return header + stream.read(_length_of_lean(header.split(b" ")))


def write(path: str, data: bytes) -> None:
    """Write a compiled file in one step, following no link; raises `OSError`."""
    from npulint.core.atomic_files import Folder, temporary  # most runs write none

    folder, name = os.path.split(path)
    with Folder(folder) as opened, temporary(opened, name, data, 0o644) as made:
        opened.replace(made, name)


def cache_path(directories: Sequence[str]) -> str | None:
    """The path of the cached compiled file for these check directories; None without a folder that is safe."""
    home = cache_folder()
    if home is None or not is_safe(home):
        return None
    return os.path.join(home, f"catalogue-{_digest(map(os.path.abspath, directories))[:16]}.msgpack")


def write_cache(path: str, data: bytes) -> None:
    """Write a compiled file to the cache, where it replaces what killed runs left of it; errors are ignored."""
    from npulint.core.atomic_files import sweep

    sweep(os.path.dirname(path))
    with contextlib.suppress(OSError):
        write(path, data)


def _digest(parts: Iterable[str]) -> str:
    text = "\0\0".join((__version__, *parts))
    return blake2b(text.encode("utf-8", "surrogateescape"), digest_size=16).hexdigest()


def _owned(descriptor: int) -> bool:
    """Whether a file belongs to this user or root, so that no other user can inject text into reports."""
    if not hasattr(os, "getuid"):
        return True
    return os.fstat(descriptor).st_uid in (os.getuid(), 0)


def main(arguments: Sequence[str]) -> int:
    """Write the compiled built-in catalogue to the path in `arguments`; returns the exit code."""
    from npulint.core.errors import CatalogueError
    from npulint.judge.catalogue.collect import collect
    from npulint.judge.catalogue.sources import builtin_directory, list_files

    if len(arguments) != 1:
        sys.stderr.write("usage: python -m npulint.judge.catalogue.load DEST\n")
        return 2
    try:
        files = list_files([builtin_directory()])
        write(arguments[0], encode(collect(files), shipped_key(files)))
    except (CatalogueError, OSError) as error:
        sys.stderr.write(f"{error}\n")
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))


_READING = threading.Lock()  # the reading takes seconds; two threads at it take twice as long, each


def load_catalogue(extra_dirs: Sequence[str] = (), use_cache: bool = True, whole: bool = True) -> Catalogue:
    """All checks by code. `extra_dirs` are folders or files with further checks. Unless `whole`, examples and
    references may be missing. Without `use_cache` the YAML files are read; with it, threads that need the same ones
    read them once. Raises `CatalogueError` with all problems."""
    builtin = builtin_directory()
    directories = [builtin, *extra_dirs]
    files = list_files(directories)
    if not use_cache:
        return _collect(files)
    if not extra_dirs:
        shipped = read(os.path.join(builtin, PRECOMPILED), shipped_key(files), whole)
        if shipped is not None:
            return shipped
    path, key = cache_path(directories), cache_key(files)
    if path is None:
        return _collect(files)
    cached = read(path, key, whole)
    if cached is not None:
        return cached
    with _READING:
        return read(path, key, whole) or _collected(files, path, key)


def _collected(files: list[CheckFile], path: str, key: str) -> Catalogue:
    """What the YAML files contain; the next time it is in the cache."""
    catalogue = _collect(files)
    write_cache(path, encode(catalogue, key))
    return catalogue


def load_files(paths: Sequence[str]) -> Catalogue:
    """The catalogue of these files or folders alone; raises `CatalogueError`."""
    from npulint.judge.catalogue.collect import collect

    return collect(list_files(paths), alone=True)


def _collect(files: list[CheckFile]) -> Catalogue:
    from npulint.judge.catalogue.collect import collect

    return collect(files)
