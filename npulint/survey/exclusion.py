"""Patterns that leave folders out of a project."""

from __future__ import annotations

import os

_SPECIAL = "\\*?[]!# "


def exclusion(folder: str, base: str) -> str:
    """The pattern in .gitignore syntax, relative to `base`, that excludes one folder whatever its name."""
    path = os.path.relpath(folder, base).replace(os.sep, "/")
    return "/" + "".join(f"\\{char}" if char in _SPECIAL else char for char in path)
