"""Paths in the spelling of results."""

from __future__ import annotations

import os


def shown(location: str) -> str:
    """A path as results spell it: POSIX slashes, bytes that are not UTF-8 as ``\\xNN``."""
    path = location if os.sep == "/" else location.replace(os.sep, "/")
    try:
        path.encode("utf-8")
    except UnicodeEncodeError:
        return os.fsencode(path).decode("utf-8", "backslashreplace")
    return path


def local(path: str) -> str:
    """`path` relative to the working directory if it is below it, else only normalised."""
    here = os.getcwd()
    absolute = os.path.abspath(path)
    if absolute == here:
        return "."
    prefix = here.rstrip(os.sep) + os.sep
    return absolute[len(prefix) :] if absolute.startswith(prefix) else os.path.normpath(path)
