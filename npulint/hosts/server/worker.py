"""A worker thread, so that the protocol thread stays responsive."""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar

T = TypeVar("T")


class Worker:
    """Runs jobs one by one in a daemon thread."""

    def __init__(self) -> None:
        self._jobs: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None

    def submit(self, job: Callable[[], T]) -> asyncio.Future[T]:
        """A future for the result of `job`; call it in a running event loop."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()

        def run() -> None:
            try:
                result: Any = job()
            except BaseException as error:
                _hand_over(loop, future, error=error)
            else:
                _hand_over(loop, future, result)

        self._jobs.put(run)
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, name="npulint", daemon=True)
            self._thread.start()
        return future

    def _work(self) -> None:
        while True:
            self._jobs.get()()


def _hand_over(
    loop: asyncio.AbstractEventLoop, future: asyncio.Future[T], result: Any = None, error: BaseException | None = None
) -> None:
    def settle() -> None:
        if not future.done():
            if error is None:
                future.set_result(result)
            else:
                future.set_exception(error)

    with suppress(RuntimeError):  # the event loop may be closed
        loop.call_soon_threadsafe(settle)
