"""One line on the terminal that tells how far a long run is, and that is gone when it ends."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from typing import TextIO

from npulint.report.terminal import cells, is_terminal
from npulint.texts import say

_QUIET = 2.0  # seconds of a run that says nothing
_PAUSE = 0.1  # seconds between two lines


def wants_progress(stream: TextIO, environ: Mapping[str, str]) -> bool:
    """Whether somebody watches `stream`: a person's terminal that can take a line back, and no log of a CI."""
    return is_terminal(stream) and not environ.get("CI") and environ.get("TERM") != "dumb"


class ProgressLine:
    """Tells of files that are done. As a context, it takes its line away at the end, whatever ended it."""

    def __init__(self, stream: TextIO, lang: str) -> None:
        self._stream = stream
        self._lang = lang
        self._next = time.monotonic() + _QUIET
        self._shown = 0

    def __call__(self, done: int, total: int) -> None:
        """So many files of so many are done."""
        now = time.monotonic()
        if now < self._next:
            return
        self._next = now + _PAUSE
        text = say(self._lang, "progress", done=f"{done:,}", total=f"{total:,}")
        if cells(text) < self._width():  # a line that wraps could not be taken back
            self._put(f"\r{text}{' ' * max(0, self._shown - cells(text))}")
            self._shown = cells(text)

    def __enter__(self) -> ProgressLine:
        return self

    def __exit__(self, *_: object) -> None:
        if self._shown:
            self._put(f"\r{' ' * self._shown}\r")

    def _width(self) -> int:
        try:
            return os.get_terminal_size(self._stream.fileno()).columns or 80
        except (OSError, ValueError):
            return 80

    def _put(self, text: str) -> None:
        try:
            self._stream.write(text)
            self._stream.flush()
        except (OSError, ValueError):  # the terminal is gone, or cannot spell it: the run matters
            self._next = float("inf")
