"""The folder of one process of a trial: where it writes what it recorded, and learns that it has to end."""

from __future__ import annotations

import os
import sys
import tempfile
import threading
import time
from collections.abc import Callable

import torch

from npulint.facts.graph import NodeFrame
from npulint.fakes.orders import CALLED, END, HERE, IDLE
from npulint.fakes.torch import collective_log

_WITHIN = (os.path.dirname(torch.__file__), os.path.dirname(__file__))
_POLL = 0.1  # seconds
_WAITING = 12  # seconds of waiting until ranks are taken to wait for each other
_BUSY = 0.02  # share of the time that a process which only waits computes at most
_LONGEST = 60  # seconds that a process which is done waits for the others


class Standing:
    """A process in the folder `record` of its trial; `name` is that of its own folder, any unless given."""

    def __init__(self, record: str, name: str = "") -> None:
        self.record = record
        self.folder = os.path.join(record, name) if name else tempfile.mkdtemp(prefix="process-", dir=record)
        os.makedirs(self.folder, exist_ok=True)
        collective_log.open_at(os.path.join(self.folder, CALLED))
        self._here = False

    def path(self, name: str) -> str:
        """A file of this process."""
        return os.path.join(self.folder, name)

    def watch(self, works: Callable[[], bool], end: Callable[[str], object]) -> None:
        """Call `end` in a thread when all are told to end, and leave a mark once this process `works` on the NPU."""

        def run() -> None:
            idle = _Idle(self.path(IDLE))
            while not self.ending():
                if not self._here and works():
                    self.appear()
                idle.look()
                time.sleep(_POLL)
            end(self.ending())

        threading.Thread(target=run, daemon=True, name="npulint try").start()

    def appear(self) -> None:
        """Leave a mark: this process is one of those that work on the NPU."""
        self._here = True
        open(self.path(HERE), "w").close()

    def ending(self) -> str:
        """Why all have to end; empty while they do not."""
        try:
            with open(os.path.join(self.record, END), encoding="utf-8") as file:
                return file.read() or "others"
        except OSError:
            return ""

    def hold(self) -> None:
        """Wait until all have to end: what the other ranks still exchange needs this one."""
        until = time.monotonic() + _LONGEST
        while not self.ending() and time.monotonic() < until:
            time.sleep(_POLL)


class _Idle:
    """Keeps a mark for as long as the main thread waits inside of PyTorch and the process computes nothing."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._computed = time.process_time()
        self._since = time.monotonic()

    def look(self) -> None:
        """Set the mark, or remove it."""
        computed, now = time.process_time(), time.monotonic()
        if computed - self._computed > _BUSY * max(1.0, now - self._since) or not _in_torch():
            self._computed, self._since = computed, now
            if os.path.exists(self._path):
                os.remove(self._path)
        elif now - self._since > _WAITING and not os.path.exists(self._path):
            open(self._path, "w").close()


def _in_torch() -> bool:
    frame = sys._current_frames().get(threading.main_thread().ident or 0)
    return frame is not None and frame.f_code.co_filename.startswith(_WITHIN)


def main_stack() -> tuple[NodeFrame, ...]:
    """Where the main thread is, in the user's code."""
    return collective_log.own_stack(sys._current_frames().get(threading.main_thread().ident or 0))
