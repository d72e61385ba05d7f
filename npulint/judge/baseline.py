"""Reads and writes the baseline file: accepted findings, one per line so that diffs are readable.

It is JSON: ``{"version": 1, "findings": [...]}`` with sorted entries. Paths are relative to the folder of the file, so
that they do not depend on the working directory.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TypeVar

import msgspec

from npulint.core.errors import ConfigError
from npulint.core.texts import say
from npulint.core.whole_files import write_whole
from npulint.discover.safe_open import read_regular
from npulint.judge.findings import BaselineEntry

VERSION = 1
_LIMIT = 64_000_000  # bytes


class Document(msgspec.Struct):
    """Base of all baseline files; subclasses add the entries."""

    version: int


AnyDocument = TypeVar("AnyDocument", bound=Document)


class _Document(Document):
    findings: list[BaselineEntry]


def load_baseline(path: str, lang: str) -> list[BaselineEntry]:
    """The entries of the file at `path`. Raises `ConfigError` when it cannot be read or is no baseline."""
    return read_document(path, _Document, lang, _Document(VERSION, [])).findings


def read_document(path: str, kind: type[AnyDocument], lang: str, empty: AnyDocument | None = None) -> AnyDocument:
    """Decode the baseline file at `path` as a `kind`; return `empty`, if not None, for an empty file. Raises
    `ConfigError` when the file cannot be read or decoded, or has another version."""
    try:
        data = b"" if empty is not None and path == os.devnull else read_regular(path, _LIMIT)
        document = empty if empty is not None and not data.strip() else msgspec.json.decode(data, type=kind)
    except OSError as error:
        raise ConfigError([say(lang, "baseline.unreadable", path=path, detail=error.strerror or str(error))]) from error
    except (msgspec.MsgspecError, RecursionError) as error:
        raise ConfigError([say(lang, "baseline.broken", path=path, detail=str(error))]) from error
    if document.version != VERSION:
        raise ConfigError([say(lang, "baseline.version", path=path, version=document.version)])
    return document


def encode(entries: Sequence[BaselineEntry]) -> bytes:
    """The bytes of a baseline file with one entry per line."""
    lines = [msgspec.json.encode(entry).decode() for entry in sorted(entries, key=_order)]
    listed = "".join(f"\n  {line}," for line in lines).removesuffix(",")
    return f'{{"version": {VERSION}, "findings": [{listed}\n]}}\n'.encode()


def save_baseline(path: str, entries: Sequence[BaselineEntry], lang: str) -> None:
    """Write the baseline file atomically; raises `ConfigError`."""
    write_accepted(path, encode(entries), lang)


def write_accepted(path: str, data: bytes, lang: str) -> None:
    """Write a file of accepted findings whole or not at all. A symbolic link is followed to an existing file, which has
    been read as a baseline before, but creates none. Raises `ConfigError`."""
    try:
        if os.path.islink(path):
            os.stat(path)
        write_whole(path, [data])
    except OSError as error:
        raise ConfigError([say(lang, "output.failed", path=path, detail=error.strerror or str(error))]) from error


def _order(entry: BaselineEntry) -> tuple[object, ...]:
    return entry.path, entry.line, entry.code, entry.scope
