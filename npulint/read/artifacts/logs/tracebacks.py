"""Tracebacks of Python in a log: where in the user's code a failure was met."""

from __future__ import annotations

import msgspec

from npulint.lazy_regex import lazy_compile
from npulint.read.artifacts.logs.lines import LogLine, decoded
from npulint.read.artifacts.logs.quoting import quoted

WANTED = b'File "'
"""What every frame of a traceback holds."""

_FRAME = lazy_compile(rb'File "([^"\n]{1,400}\.py)", line (\d{1,7})(?:, in ([\w<>.]{1,100}))?')
_WARNED = lazy_compile(rb"^(?:\[rank\d+\]: ?)?([^\s:\"'<>|]{1,400}\.py):(\d{1,7}): \w{0,40}Warning: ")
_FOREIGN = lazy_compile(
    rb"[\\/](?:site-packages|dist-packages|tensorflow_core|Ascend|opp|fwkacllib)[\\/]|[\\/]lib(?:64)?[\\/]python\d|^<"
)
_RAISED = lazy_compile(rb"[A-Za-z_][\w.]{0,100}(?:Error|Exception|Interrupt|Exit)\b")
_GAP = 3  # lines from one frame to the next: its source, and marks below that
_BEFORE = 20
_AFTER = 100
_MOST = 200


class TracebackFrame(msgspec.Struct, frozen=True):
    """A line of the user's code; its file is written as a report may quote it. `raised` is what the traceback ends
    with."""

    file: str
    line: int
    function: str = ""
    raised: str = ""


class _Trace(msgspec.Struct):
    begin: int
    end: int
    frame: TracebackFrame | None = None


class Tracebacks:
    """Gathers the tracebacks of one log, the first 200 of them."""

    def __init__(self) -> None:
        self._known: list[_Trace] = []

    def see(self, line: LogLine) -> None:
        """Take in a line that may hold a frame."""
        if WANTED not in line.found:
            return
        if not self._known or not 0 <= line.number - self._known[-1].end <= _GAP:
            if len(self._known) == _MOST:
                return
            self._known.append(_Trace(line.number, line.number))
        trace = self._known[-1]
        trace.end = line.number
        found = _FRAME.search(line.text)
        if found is not None and not _FOREIGN.search(found[1]):
            trace.frame = TracebackFrame(quoted(decoded(found[1])), int(found[2]), decoded(found[3] or b""))
        if trace.frame is not None:
            trace.frame = msgspec.structs.replace(trace.frame, raised=_raised(line.after) or trace.frame.raised)

    def near(self, number: int) -> TracebackFrame | None:
        """The innermost frame of the user's code in the traceback that leads to a line or stands right before it, else
        in the next one that follows it soon."""
        placed = [one for one in self._known if one.frame is not None]
        before = [one for one in placed if one.begin <= number <= one.end + _BEFORE]
        after = [one for one in placed if number < one.begin <= number + _AFTER]
        return before[-1].frame if before else after[0].frame if after else None


def _raised(after: bytes) -> str:
    """The exception that ends a traceback within the lines after a frame."""
    for part in after.lstrip(b"\r\n").split(b"\n", _GAP)[:_GAP]:
        if _RAISED.match(part):
            return quoted(decoded(part))
    return ""


def warned_at(text: bytes) -> TracebackFrame | None:
    """The line of the user's code that a warning of Python names."""
    found = _WARNED.match(text)
    if found is None or _FOREIGN.search(found[1]):
        return None
    return TracebackFrame(quoted(decoded(found[1])), int(found[2]))
