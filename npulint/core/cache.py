"""Cache of facts and results, keyed by content, so that unchanged files are not read again.

One SQLite file in the user's cache folder. Any problem with it (damage, a lock, another owner, a read-only disk) is a
cache miss, never an error. Values are bytes that the caller encodes with msgpack.
"""

from __future__ import annotations

import importlib.util
import os
import stat
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from npulint.core.digest import blake2b

if TYPE_CHECKING:
    import sqlite3


# The folder of the user where npulint keeps what it can make again, and whether it is safe to use.


def cache_folder() -> str | None:
    """``NPULINT_CACHE_DIR``, else npulint's folder in the cache folder of the user; None where that is not known."""
    named = os.environ.get("NPULINT_CACHE_DIR")
    if named:
        return named
    if sys.platform == "win32":
        home = os.environ.get("LOCALAPPDATA", "")
    elif sys.platform == "darwin":
        home = os.path.expanduser("~/Library/Caches")
    else:
        home = os.environ.get("XDG_CACHE_HOME", "")
        home = home if os.path.isabs(home) else os.path.expanduser("~/.cache")
    return os.path.join(home, "npulint") if os.path.isabs(home) else None


def is_safe(folder: str) -> bool:
    """Whether a folder, which is created if it does not exist, can be written, belongs to the user and cannot be
    written by others, who could plant links in it."""
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        status = os.stat(folder)
    except (OSError, ValueError):
        return False
    if not stat.S_ISDIR(status.st_mode) or not os.access(folder, os.W_OK | os.X_OK):
        return False
    return not hasattr(os, "getuid") or (status.st_uid == os.getuid() and not status.st_mode & 0o022)


FORMAT = 1
"""The version of the file layout, part of the file name."""

LIMIT = 256 * 1024 * 1024
"""Bytes of the file above which entries are evicted."""

_BATCH = 500  # keys per query; SQLite limits the variables of a statement
_BUFFER_LIMIT = 16 * 1024 * 1024  # bytes that are buffered at most
_LOCK_TIMEOUT = 0.5  # seconds to wait for another run's lock
_AGE_STEP = 24 * 3600  # seconds between two updates of an entry's last use


def key(*parts: bytes | str) -> bytes:
    """The cache key for `parts` (content, reader version, kind, …); each part is hashed with its length."""
    digest = blake2b(digest_size=20)
    for part in parts:
        data = part.encode("utf-8", "surrogateescape") if isinstance(part, str) else part
        digest.update(len(data).to_bytes(8, "little"))
        digest.update(data)
    return digest.digest()


def open_cache(enabled: bool, directory: str | None = None, limit: int = LIMIT) -> Cache:
    """The cache in `directory` (default: ``NPULINT_CACHE_DIR``, else the user's cache folder); a disabled cache when
    not `enabled` or when the folder is not writable or not safe."""
    if not enabled or importlib.util.find_spec("_sqlite3") is None:  # some Python builds lack it
        return Cache(None)
    folder = directory or cache_folder()
    return Cache(os.path.join(folder, f"cache-{FORMAT}.sqlite") if folder and is_safe(folder) else None, limit)


def _ours(location: str) -> bool:
    """Whether `location` does not exist or is a regular file (no symbolic link) of this user."""
    try:
        status = os.lstat(location)
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return stat.S_ISREG(status.st_mode) and (not hasattr(os, "getuid") or status.st_uid == os.getuid())


class Cache:
    """A key-value store of bytes. Use it from one process and thread; other processes may use the same file."""

    def __init__(self, location: str | None, limit: int = LIMIT) -> None:
        self._location = location
        self._limit = limit
        self._buffer: dict[bytes, bytes] | None = None  # buffer of `together`

    @property
    def enabled(self) -> bool:
        """Whether values are stored at all."""
        return self._location is not None

    @contextmanager
    def together(self) -> Iterator[None]:
        """Context manager that batches writes into one transaction, because opening the file costs more than
        writing."""
        self._buffer = {}
        try:
            yield
        finally:
            items, self._buffer = self._buffer, None
            self.put_many(items)

    def get_many(self, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """The stored values of `keys`; keys that are not stored are omitted."""
        many: dict[bytes, bytes] = {}
        if not keys or self._location is None:
            return many
        with self._connection() as connection:
            if connection is None:
                return {}
            aged = []
            now = int(time.time())
            for start in range(0, len(keys), _BATCH):
                some = list(keys[start : start + _BATCH])
                marks = ",".join("?" * len(some))
                for name, value, used, check in connection.execute(
                    f"SELECT key, value, used, sum FROM entry WHERE key IN ({marks})", some
                ):
                    if isinstance(value, bytes) and check == _sum(value):
                        many[name] = value
                        if now - used > _AGE_STEP:
                            aged.append((now, name))
            if aged:
                connection.executemany("UPDATE entry SET used = ? WHERE key = ?", aged)
        return many

    def put_many(self, items: Mapping[bytes, bytes]) -> None:
        """Store `items` in one transaction; evicts the least recently used entries above the size limit."""
        if not items or self._location is None:
            return
        if self._buffer is not None:
            self._buffer.update(items)
            if sum(map(len, self._buffer.values())) < _BUFFER_LIMIT:
                return
            items, self._buffer = self._buffer, {}
        now = int(time.time())
        with self._connection() as connection:
            if connection is None:
                return
            rows = [(name, value, _sum(value), len(value), now) for name, value in items.items()]
            connection.executemany("INSERT OR REPLACE INTO entry VALUES (?, ?, ?, ?, ?)", rows)
            self._prune(connection)

    def _prune(self, connection: sqlite3.Connection) -> None:
        """Evict the least recently used entries until 90 % of the size limit is used."""
        pages, free, size = (
            connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "freelist_count", "page_size")
        )
        stored = (pages - free) * size
        if stored <= self._limit:
            return
        (values,) = connection.execute("SELECT sum(size) FROM entry").fetchone()
        excess = values * (1 - 0.9 * self._limit / stored)
        gone = []
        for name, length in connection.execute("SELECT key, size FROM entry ORDER BY used, rowid"):
            gone.append((name,))
            excess -= length
            if excess <= 0:
                break
        connection.executemany("DELETE FROM entry WHERE key = ?", gone)

    @contextmanager
    def _connection(self) -> Iterator[sqlite3.Connection | None]:
        """A connection in a transaction, or None; SQLite errors inside are swallowed."""
        import sqlite3

        connection = self._open()
        try:
            yield connection
            if connection is not None:
                connection.commit()
        except sqlite3.OperationalError as error:
            if str(error).startswith("no such"):  # not our schema
                self._discard()
            # else locked, full or read-only: keep the file
        except (sqlite3.Error, ValueError, TypeError):
            self._discard()
        finally:
            if connection is not None:
                connection.close()

    def _open(self) -> sqlite3.Connection | None:
        import sqlite3

        if self._location is None or not _ours(self._location):
            return None
        for last in (False, True):
            connection = None
            try:
                os.close(os.open(self._location, os.O_RDWR | os.O_CREAT, 0o600))
                connection = sqlite3.connect(self._location, timeout=_LOCK_TIMEOUT)
                connection.execute("PRAGMA synchronous = OFF")
                connection.execute(
                    "CREATE TABLE IF NOT EXISTS entry"
                    " (key BLOB PRIMARY KEY, value BLOB, sum BLOB, size INTEGER, used INTEGER)"
                )
                return connection
            except (sqlite3.OperationalError, OSError):
                _close(connection)
                return None
            except sqlite3.Error:  # not a database, or damaged: start a new one
                _close(connection)
                if not last:
                    self._discard()
        return None

    def _discard(self) -> None:
        try:
            if self._location is not None and _ours(self._location):
                os.unlink(self._location)
        except OSError:
            pass


def _close(connection: sqlite3.Connection | None) -> None:
    if connection is not None:
        connection.close()


def _sum(value: bytes) -> bytes:
    return blake2b(value, digest_size=8).digest()
