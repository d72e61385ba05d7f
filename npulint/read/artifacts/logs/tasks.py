"""Tasks of the kernel compiler in a log: which failure belongs to which node of the graph.

The compiler works on many nodes at once. It tells a task with its error first, and of which node the task was later.
"""

from __future__ import annotations

from typing import Generic, TypeVar

from npulint.lazy_regex import lazy_compile

T = TypeVar("T")

WANTED = b"FinishedTask["
"""What the line holds that begins the report of a task."""

_FINISHED = lazy_compile(rb"FinishedTask\[\d+\]: ?taskID\[\d+:(\d{1,18})\]")
_NODE = lazy_compile(rb"taskId\[(\d{1,18})\], ?node\[")
_MOST = 1000


class Tasks(Generic[T]):
    """Remembers the failure of each task, of the first thousand."""

    def __init__(self) -> None:
        self._current = b""
        self._failed: dict[bytes, T] = {}

    def see(self, text: bytes) -> None:
        """Take in a line that may begin the report of a task."""
        found = _FINISHED.search(text)
        if found is not None:
            self._current = found[1]

    def failed(self, failure: T) -> None:
        """Take in a failure: the first one of a task is the task's."""
        if self._current and len(self._failed) < _MOST:
            self._failed.setdefault(self._current, failure)

    def of_node(self, text: bytes) -> T | None:
        """The failure of the task that a line names with its node; None if there is none that is known."""
        found = _NODE.search(text)
        return self._failed.get(found[1]) if found is not None else None
