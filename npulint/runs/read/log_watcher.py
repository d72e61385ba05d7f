"""Protocol for collectors that share the single pass over a log.

The log reader scans bytes in large chunks, finds lines with a wanted literal, and passes them to the watchers; all
other lines are skipped cheaply."""

from __future__ import annotations

from typing import Protocol

from npulint.facts.model import Fact


class Watcher(Protocol):
    """Collects facts from the lines of one log; one instance per file.

    `wants` are literals (ASCII, case-sensitive): lines with any of them are passed once; further lines may be passed
    too. All watchers of a pass may receive the same lines."""

    @property
    def wants(self) -> tuple[bytes, ...]:
        """The literals, the same for every instance."""

    @property
    def levels(self) -> tuple[bytes, ...]:
        """Words followed by a number whose changes must not be skipped in very large logs."""

    @property
    def always(self) -> tuple[bytes, ...]:
        """Words whose lines are never skipped, in very large logs either."""

    def see(self, line_number: int, text: str, lines: int = 1) -> None:
        """Process one line: its number (from 1, increasing; parts of a `\\r` progress bar share a number), its decoded
        text without colours and line end, truncated at the reader's limit, and the number of similar lines it
        represents (more than 1 only in logs over 64 MB). Never raises."""

    def facts(self, path: str) -> list[Fact]:
        """The facts, after the whole file."""
