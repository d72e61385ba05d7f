"""Python tracebacks in a log: the user code at which a failure occurred."""

from __future__ import annotations

import msgspec

from npulint.core.lazy_regex import lazy_compile
from npulint.runs.read.logs.lines import LogLine, decoded

# Log excerpts for reports: one line, without names of people and machines.

LONGEST = 200

_HIDDEN = (
    (lazy_compile(r"(?i)(?<![\w:])(?:[0-9a-f]{2}:){5}[0-9a-f]{2}(?![\w:])"), "<mac>"),
    (lazy_compile(r"(?i)((?:/|\b[a-z]:\\)(?:home\d?|users)[/\\])[^/\\\s:'\",;)\]]+"), r"\1<user>"),
    (lazy_compile(r"\b[\w.+-]{1,64}@[\w-]{1,64}(?:\.[\w-]{1,64}){0,4}"), "<user>"),
    (lazy_compile(r"(?i)(?<![a-z0-9])(?:hw|[a-z]{0,3}wx|[a-z])\d{6,9}(?![a-z0-9])"), "<user>"),
    (lazy_compile(r"(?<![\d.])(?:\d{1,3}\.){3}\d{1,3}(?![\d.])"), "<ip>"),
    (lazy_compile(r"(?i)(?<![\w:])(?:[0-9a-f]{1,4}:){4,7}(?::?[0-9a-f]{1,4})(?![\w:])"), "<ip>"),
)
_CONTROL = lazy_compile(r"[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]+")


def quoted(text: str, longest: int = LONGEST) -> str:
    """The text on one line of at most `longest` characters; home folders, user ids and addresses are redacted."""
    line = _CONTROL.sub(" ", text[: 4 * longest]).strip()
    for pattern, instead in _HIDDEN:
        line = pattern.sub(instead, line)
    return line if len(line) <= longest else line[: longest - 1] + "…"


def around(text: str, at: int) -> str:
    """The quoted text; if `at` is far inside a long line, the part around it from a word boundary."""
    begin = at - 40
    if len(text) <= LONGEST or at < LONGEST // 2:
        return quoted(text)
    blank = text.find(" ", begin, at)
    return quoted("… " + text[blank + 1 if blank >= 0 else at :])


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
        trace.frame = frame_in(line.text) or trace.frame
        if trace.frame is not None:
            trace.frame = msgspec.structs.replace(trace.frame, raised=_raised(line.after) or trace.frame.raised)

    def near(self, number: int) -> TracebackFrame | None:
        """The innermost frame of user code in the traceback that ends at or right before a line, else in the next one
        soon after it."""
        placed = [trace for trace in self._known if trace.frame is not None]
        before = [trace for trace in placed if trace.begin <= number <= trace.end + _BEFORE]
        after = [trace for trace in placed if number < trace.begin <= number + _AFTER]
        return before[-1].frame if before else after[0].frame if after else None


def frame_in(text: bytes) -> TracebackFrame | None:
    """The line of user code that a line of a traceback names; None for one of a library."""
    match = _FRAME.search(text)
    if match is None or _FOREIGN.search(match[1]):
        return None
    return TracebackFrame(quoted(decoded(match[1])), int(match[2]), decoded(match[3] or b""))


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
