"""Loads the catalogue of a run: built-in checks and those of the user's directories."""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence

from npulint.judge.catalogue import compiled
from npulint.judge.catalogue.check import Catalogue
from npulint.judge.catalogue.sources import PRECOMPILED, CheckFile, builtin_directory, list_files

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
        shipped = compiled.read(os.path.join(builtin, PRECOMPILED), compiled.shipped_key(files), whole)
        if shipped is not None:
            return shipped
    path, key = compiled.cache_path(directories), compiled.cache_key(files)
    if path is None:
        return _collect(files)
    cached = compiled.read(path, key, whole)
    if cached is not None:
        return cached
    with _READING:
        return compiled.read(path, key, whole) or _collected(files, path, key)


def _collected(files: list[CheckFile], path: str, key: str) -> Catalogue:
    """What the YAML files contain; the next time it is in the cache."""
    catalogue = _collect(files)
    compiled.write_cache(path, compiled.encode(catalogue, key))
    return catalogue


def load_files(paths: Sequence[str]) -> Catalogue:
    """The catalogue of these files or folders alone; raises `CatalogueError`."""
    from npulint.judge.catalogue.collect import collect

    return collect(list_files(paths), alone=True)


def _collect(files: list[CheckFile]) -> Catalogue:
    from npulint.judge.catalogue.collect import collect

    return collect(files)
