"""Conversion between ``file:`` URIs and paths."""

from __future__ import annotations

import os
import re
from pathlib import Path
from urllib.parse import unquote_to_bytes, urlsplit

_DRIVE = re.compile(r"/[A-Za-z]:")
WINDOWS = os.name == "nt"


def path_of(uri: str) -> str | None:
    """The absolute path of a ``file:`` URI; None for other URIs and invalid paths."""
    try:
        parts = urlsplit(uri)
    except ValueError:
        return None
    if parts.scheme.lower() != "file":
        return None
    written = uri.split(":", 1)[1]  # an unencoded ``?`` or ``#`` belongs to the path
    written = written[2 + len(parts.netloc) :] if written.startswith("//") else written
    path = os.fsdecode(unquote_to_bytes(written))
    host = parts.netloc if parts.netloc.lower() != "localhost" else ""
    if "\0" in path or not path.startswith("/") or (host and not WINDOWS):
        return None
    if _DRIVE.match(path):
        path = path[1:] if WINDOWS else path
    if host:
        path = f"//{host}{path}"
    return os.path.normpath(path)


def uri_of(path: str) -> str:
    """The ``file:`` URI of an absolute path."""
    return Path(path).as_uri()
