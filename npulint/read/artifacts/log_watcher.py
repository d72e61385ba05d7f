"""What may look over the shoulder of the one pass over a log.

The log reader reads bytes in large chunks, finds the lines that hold a wanted literal, and shows them to the
watchers; all other lines cost nothing.
"""

from __future__ import annotations

from typing import Protocol

from npulint.facts.model import Fact


class Watcher(Protocol):
    """Collects from the lines of one log; a new one is made for every file.

    `wants` are literals (ASCII, compared with regard to case): a line that holds none of them need not be shown, a
    line that holds one is shown once, a line too many does no harm. All watchers of a pass may be shown the same lines.
    """

    @property
    def wants(self) -> tuple[bytes, ...]:
        """The literals, the same for every instance."""

    @property
    def levels(self) -> tuple[bytes, ...]:
        """Words with a number after them that must not change unseen in a log of unusual size."""

    @property
    def always(self) -> tuple[bytes, ...]:
        """Words whose lines are shown in logs of unusual size too."""

    def see(self, line_number: int, text: str, lines: int = 1) -> None:
        """Take in one line: its number in the file (from 1, rising, a part of a `\\r` progress bar has the number of
        its line), its text decoded, without colours and line end, cut at the reader's cap; and for how many lines like
        it it stands, which is more than one only in logs of more than 64 MB. Never raises."""

    def facts(self, path: str) -> list[Fact]:
        """What was seen, once the whole file was shown."""
