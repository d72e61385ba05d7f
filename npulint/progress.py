"""How far a run is, for those who watch it."""

from __future__ import annotations

from collections.abc import Callable

Progress = Callable[[int, int], None]
"""Hears how many files of how many are done."""
Advance = Callable[[int], None]
"""Hears how many more files are done."""


def no_progress(_: int) -> None:
    """Nobody wants to know."""


def progress_counter(total: int, progress: Progress | None) -> Advance:
    """Adds up what is done of `total` files for `progress`."""
    if progress is None:
        return no_progress
    done = 0

    def told(more: int) -> None:
        nonlocal done
        done += more
        progress(done, total)

    return told
