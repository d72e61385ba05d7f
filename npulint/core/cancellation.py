"""Work that is no longer needed, such as that for a text that has been edited since: it ends at its next checkpoint."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager


class CancelledError(BaseException):
    """The work is no longer needed; not an `Exception`, so that no handler of errors takes it for one."""


class Cancellation:
    """A request to end some work, made in any thread."""

    def __init__(self) -> None:
        self.requested = False

    def request(self) -> None:
        """Let the work end at its next checkpoint."""
        self.requested = True


class _Current(threading.local):
    """The cancellation that the work of a thread looks at."""

    cancellation: Cancellation | None = None


_CURRENT = _Current()


@contextmanager
def cancelled_by(cancellation: Cancellation) -> Iterator[None]:
    """Context manager for work in this thread that a cancellation ends with `CancelledError`."""
    before = _CURRENT.cancellation
    _CURRENT.cancellation = cancellation
    try:
        checkpoint()
        yield
    finally:
        _CURRENT.cancellation = before


def checkpoint() -> None:
    """Raise `CancelledError` if the work of this thread is no longer needed. Call it only where nothing is half done
    that outlives the work."""
    cancellation = _CURRENT.cancellation
    if cancellation is not None and cancellation.requested:
        raise CancelledError
