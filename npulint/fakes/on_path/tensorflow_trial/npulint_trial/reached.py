"""The lines of the user's code that a program reaches, seen without slowing it down for long."""

import os
import sys

from npulint_trial.frames import is_own

_CALLS = 30  # of a function that are followed
_LINES = 20000  # of a function that are followed, in all calls


class ReachedLines:
    """Follows functions of the user's code in the main thread; a function that was called often is left alone."""

    def __init__(self):
        self._calls = {}
        self._followed = {}
        self._lines = {}
        self._more = {}

    def start(self):
        """Follow from now on."""
        sys.settrace(self._call)

    def stop(self):
        """Follow no more."""
        sys.settrace(None)

    def add(self, path, line):
        """A line that ran in another way: of a function that TensorFlow rewrote."""
        self._more.setdefault(path, set()).add(line)

    def lines(self):
        """The numbers of the reached lines by file."""
        lines = {path: set(numbers) for path, numbers in self._more.items()}
        for code, numbers in list(self._lines.items()):
            lines.setdefault(os.path.abspath(code.co_filename), set()).update(numbers)
        return {path: sorted(numbers) for path, numbers in lines.items()}

    def _call(self, frame, event, arg):
        code = frame.f_code
        calls = self._calls[code] = self._calls.get(code, 0) + 1
        if calls > _CALLS or (calls == 1 and not is_own(code.co_filename)):
            self._calls[code] = _CALLS
            return None
        self._lines.setdefault(code, set()).add(frame.f_lineno)
        return self._line

    def _line(self, frame, event, arg):
        code = frame.f_code
        if event == "line":
            self._lines[code].add(frame.f_lineno)
            followed = self._followed[code] = self._followed.get(code, 0) + 1
            if followed > _LINES:
                return None
        return self._line
