"""The lines of the user's code that a program reaches, seen without slowing it down for long."""

from __future__ import annotations

import sys
from collections import Counter
from types import CodeType, FrameType
from typing import Any

from npulint.live.sources import is_own

_CALLS = 30  # of a function that are followed
_LINES = 20_000  # of a function that are followed, in all calls


class ReachedLines:
    """Follows functions of the user's code in the main thread; a function that was called often is left alone."""

    def __init__(self) -> None:
        self._calls: Counter[CodeType] = Counter()
        self._followed: Counter[CodeType] = Counter()
        self._lines: dict[CodeType, set[int]] = {}

    def start(self) -> None:
        """Follow from now on."""
        sys.settrace(self._call)

    def follow(self, frame: FrameType | None) -> None:
        """Follow the functions that are running as well."""
        while frame is not None:
            code = frame.f_code
            if is_own(code.co_filename):
                self._lines.setdefault(code, set()).add(frame.f_lineno)
                frame.f_trace = self._line
            frame = frame.f_back

    def stop(self) -> None:
        """Follow no more."""
        sys.settrace(None)

    def lines(self) -> dict[str, list[int]]:
        """The numbers of the reached lines by file."""
        lines: dict[str, set[int]] = {}
        for code, numbers in list(self._lines.items()):
            lines.setdefault(code.co_filename, set()).update(numbers)
        return {path: sorted(numbers) for path, numbers in lines.items()}

    def _call(self, frame: FrameType, event: str, arg: Any) -> Any:
        code = frame.f_code
        calls = self._calls[code] = self._calls[code] + 1
        if calls > _CALLS or (calls == 1 and not is_own(code.co_filename)):
            self._calls[code] = _CALLS
            return None
        self._lines.setdefault(code, set()).add(frame.f_lineno)
        return self._line

    def _line(self, frame: FrameType, event: str, arg: Any) -> Any:
        code = frame.f_code
        if event == "line":
            self._lines[code].add(frame.f_lineno)
            self._followed[code] += 1
            if self._followed[code] > _LINES:
                return None
        return self._line
