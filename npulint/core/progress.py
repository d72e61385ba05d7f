"""Progress of a run, in files."""

from __future__ import annotations

from collections.abc import Callable

Progress = Callable[[int, int], None]
"""Called with the numbers of finished and of all files."""
Advance = Callable[[int], None]
"""Called with the number of files finished since the last call."""


def no_progress(_: int) -> None:
    """An `Advance` that reports nothing."""


def progress_counter(total: int, progress: Progress | None, counted: int | None = None) -> Advance:
    """An `Advance` that adds up finished files and reports (finished, `total`) to `progress`, in proportion to the
    number of files that are `counted`, if given: some are read twice, or only as context."""
    if progress is None:
        return no_progress
    done = 0

    def advance(more: int) -> None:
        nonlocal done
        done += more
        shown = total if counted is None else counted
        progress(done * shown // max(1, total), shown)

    return advance
