"""Work that calls itself deeply: in a thread whose stack is large enough for it."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import Final, TypeVar

_T = TypeVar("_T")

_DEPTH: Final = 20_000  # calls within one another
_STACKS: Final = (256 << 20, 64 << 20)  # bytes; the first that the system grants


def in_deep_stack(work: Callable[[], _T]) -> _T:
    """The result of `work`, which may use more of the stack than the main thread has. Raises what it raises."""
    results: list[_T] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            results.append(work())
        except BaseException as error:
            errors.append(error)

    limit, stack = sys.getrecursionlimit(), threading.stack_size()
    sys.setrecursionlimit(max(limit, _DEPTH))
    try:
        _started(run).join()
    finally:
        threading.stack_size(stack)
        sys.setrecursionlimit(limit)
    if errors:
        raise errors[0]
    return results[0]


def _started(run: Callable[[], None]) -> threading.Thread:
    for size in _STACKS:
        try:
            threading.stack_size(size)
            thread = threading.Thread(target=run, name="npulint reveal", daemon=True)
            thread.start()
            return thread
        except (RuntimeError, ValueError):  # the system grants less
            continue
    threading.stack_size(0)
    thread = threading.Thread(target=run, name="npulint reveal", daemon=True)
    thread.start()
    return thread
