"""The folder that the tools of the MCP server may read and change."""

from __future__ import annotations

import os
from collections.abc import Sequence

from npulint.core.errors import NpulintError
from npulint.core.texts import say
from npulint.report.terminal import escape_control_chars


class Root:
    """A folder; no path of a tool leads out of it, by a link neither."""

    def __init__(self, folder: str, lang: str) -> None:
        self.folder = os.path.realpath(folder)
        self._lang = lang

    def inside(self, path: str) -> str:
        """The path relative to the folder, which is the working directory. Raises `NpulintError` for one that is
        outside or does not exist."""
        try:
            real = os.path.realpath(os.path.join(self.folder, path))
        except (OSError, ValueError):
            raise self._refused("mcp.absent", path) from None
        if not self.contains(real):
            raise self._refused("mcp.outside", path)
        if not os.path.exists(real):
            raise self._refused("mcp.absent", path)
        return os.path.relpath(real, self.folder)

    def all_inside(self, paths: Sequence[str]) -> list[str]:
        """The same for several; the folder itself if there are none."""
        return [self.inside(path) for path in paths] or ["."]

    def contains(self, location: str) -> bool:
        """Whether an absolute location, links followed, is the folder or below it."""
        real = os.path.realpath(location)
        return real == self.folder or real.startswith(self.folder.rstrip(os.sep) + os.sep)

    def _refused(self, key: str, path: str) -> NpulintError:
        return NpulintError(say(self._lang, key, path=escape_control_chars(path)[:200]))
