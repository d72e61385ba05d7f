"""A progress line on the terminal for long runs, removed when the run ends."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from typing import TextIO

from npulint.core.texts import say
from npulint.report.terminal import cells, is_terminal

_QUIET = 2.0  # seconds before the first line
_PAUSE = 0.1  # seconds between two updates


def wants_progress(stream: TextIO, environ: Mapping[str, str]) -> bool:
    """Whether `stream` is an interactive terminal that can erase a line, not a CI log."""
    return is_terminal(stream) and not environ.get("CI") and environ.get("TERM") != "dumb"


class ProgressLine:
    """Shows the number of finished files, or of what the sentence `key` is about. As a context manager it erases its
    line at the end."""

    def __init__(self, stream: TextIO, lang: str, key: str = "progress") -> None:
        self._key = key
        self._stream = stream
        self._lang = lang
        self._next = time.monotonic() + _QUIET
        self._shown = 0

    def __call__(self, done: int, total: int) -> None:
        """Report that `done` of `total` are finished."""
        now = time.monotonic()
        if now < self._next:
            return
        self._next = now + _PAUSE
        text = say(self._lang, self._key, done=done, total=total)
        if cells(text) < self._width():  # a wrapped line could not be erased
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
        except (OSError, ValueError):  # terminal closed, or encoding error: go on without
            self._next = float("inf")
