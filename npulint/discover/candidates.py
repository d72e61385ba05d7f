"""Files that are run artifacts if the folder that the user named contains no code."""

from __future__ import annotations

import os

from npulint.discover.ignore import Excludes
from npulint.discover.kinds import CODE

_LIMIT = 20_000  # files that are examined


class Candidates:
    """The files of a named folder whose names match no kind. If the folder holds no code, the user means its run
    artifacts, even if a ``.gitignore`` excludes such files."""

    def __init__(self, excludes: Excludes) -> None:
        self._excludes = excludes
        self._seen: list[tuple[os.DirEntry[str], str]] | None = []

    def see(self, entry: os.DirEntry[str], location: str, kinds: tuple[str, ...]) -> None:
        """Add a file; code discards them all, except JSON, which may be either."""
        if self._seen is None or (kinds != ("mixlist",) and not CODE.isdisjoint(kinds)):
            self._seen = None
        elif (not kinds or kinds == ("mixlist",)) and len(self._seen) < _LIMIT:
            self._seen.append((entry, location))

    def files(self) -> list[tuple[os.DirEntry[str], str]]:
        """The files; none if there is code."""
        excludes = self._excludes
        return [
            (entry, location)
            for entry, location in self._seen or ()
            if not excludes.name(entry.name) and not excludes.path(location, False)
        ]
