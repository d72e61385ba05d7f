"""The folder of the user where npulint keeps what it can make again, and whether it is safe to use."""

from __future__ import annotations

import os
import stat
import sys


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
