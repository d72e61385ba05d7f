"""Maps failed tasks of the kernel compiler to graph nodes.

The compiler processes many nodes concurrently. It logs a task with its error first, and the node of the task later."""

from __future__ import annotations

from typing import Generic, TypeVar

from npulint.core.lazy_regex import lazy_compile

T = TypeVar("T")

WANTED = b"FinishedTask["
"""Contained in the line that begins a task report."""

_FINISHED = lazy_compile(rb"FinishedTask\[\d+\]: ?taskID\[\d+:(\d{1,18})\]")
_NODE = lazy_compile(rb"taskId\[(\d{1,18})\], ?node\[")
_MOST = 1000


class Tasks(Generic[T]):
    """Records the failure of each task, for the first thousand."""

    def __init__(self) -> None:
        self._current = b""
        self._failed: dict[bytes, T] = {}

    def see(self, text: bytes) -> None:
        """Process a line that may begin a task report."""
        match = _FINISHED.search(text)
        if match is not None:
            self._current = match[1]

    def failed(self, failure: T) -> None:
        """Record a failure; the first one after a task report belongs to the task."""
        if self._current and len(self._failed) < _MOST:
            self._failed.setdefault(self._current, failure)

    def of_node(self, text: bytes) -> T | None:
        """The failure of the task that a line names with its node; None if unknown."""
        match = _NODE.search(text)
        return self._failed.get(match[1]) if match is not None else None
