"""Python tracebacks in a log: the user code at which a failure occurred."""

from __future__ import annotations

import msgspec

from npulint.core.lazy_regex import lazy_compile
from npulint.runs.read.logs.lines import LogLine, decoded
from npulint.runs.read.logs.quoting import quoted

WANTED = b'File "'
"""Contained in every frame of a traceback."""

_FRAME = lazy_compile(rb'File "([^"\n]{1,400}\.py)", line (\d{1,7})(?:, in ([\w<>.]{1,100}))?')
_WARNED = lazy_compile(rb"^(?:\[rank\d+\]: ?)?([^\s:\"'<>|]{1,400}\.py):(\d{1,7}): \w{0,40}Warning: ")
_FOREIGN = lazy_compile(
    rb"[\\/](?:site-packages|dist-packages|tensorflow_core|Ascend|opp|fwkacllib)[\\/]|[\\/]lib(?:64)?[\\/]python\d|^<"
)
_RAISED = lazy_compile(rb"[A-Za-z_][\w.]{0,100}(?:Error|Exception|Interrupt|Exit)\b")
_GAP = 3  # lines from one frame to the next: its source, and markers below
_BEFORE = 20
_AFTER = 100
_MOST = 200


class TracebackFrame(msgspec.Struct, frozen=True):
    """A line of user code; its file is spelled as reports may quote it. `raised` is the exception at the end of the
    traceback."""

    file: str
    line: int
    function: str = ""
    raised: str = ""


class _Trace(msgspec.Struct):
    begin: int
    end: int
    frame: TracebackFrame | None = None


class Tracebacks:
    """Collects the first 200 tracebacks of one log."""

    def __init__(self) -> None:
        self._known: list[_Trace] = []

    def see(self, line: LogLine) -> None:
        """Process a line that may contain a frame."""
        if WANTED not in line.found:
            return
        if not self._known or not 0 <= line.number - self._known[-1].end <= _GAP:
            if len(self._known) == _MOST:
                return
            self._known.append(_Trace(line.number, line.number))
        trace = self._known[-1]
        trace.end = line.number
        match = _FRAME.search(line.text)
        if match is not None and not _FOREIGN.search(match[1]):
            trace.frame = TracebackFrame(quoted(decoded(match[1])), int(match[2]), decoded(match[3] or b""))
        if trace.frame is not None:
            trace.frame = msgspec.structs.replace(trace.frame, raised=_raised(line.after) or trace.frame.raised)

    def near(self, number: int) -> TracebackFrame | None:
        """The innermost frame of user code in the traceback that ends at or right before a line, else in the next one
        soon after it."""
        placed = [trace for trace in self._known if trace.frame is not None]
        before = [trace for trace in placed if trace.begin <= number <= trace.end + _BEFORE]
        after = [trace for trace in placed if number < trace.begin <= number + _AFTER]
        return before[-1].frame if before else after[0].frame if after else None


def _raised(after: bytes) -> str:
    """The exception within the lines after the last frame."""
    for part in after.lstrip(b"\r\n").split(b"\n", _GAP)[:_GAP]:
        if _RAISED.match(part):
            return quoted(decoded(part))
    return ""


def warned_at(text: bytes) -> TracebackFrame | None:
    """The line of user code that a Python warning names."""
    match = _WARNED.match(text)
    if match is None or _FOREIGN.search(match[1]):
        return None
    return TracebackFrame(quoted(decoded(match[1])), int(match[2]))
