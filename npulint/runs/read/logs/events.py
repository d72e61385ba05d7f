"""The events of one run, collected from the lines of its log."""

from __future__ import annotations

from typing import Generic, TypeVar

import msgspec

from npulint.core.lazy_regex import lazy_compile
from npulint.data.error_patterns import Pattern
from npulint.runs.read.logs.codes import Said, codes_of, said
from npulint.runs.read.logs.line_origin import rank_of, time_of
from npulint.runs.read.logs.lines import LogLine, decoded
from npulint.runs.read.logs.messages import by_literal, is_code, of_found
from npulint.runs.read.logs.quoting import around, quoted
from npulint.runs.read.logs.tracebacks import WANTED as FRAME
from npulint.runs.read.logs.tracebacks import TracebackFrame, Tracebacks, warned_at

# Maps failed tasks of the kernel compiler to graph nodes.

T = TypeVar("T")

WANTED = b"FinishedTask["
"""Contained in the line that begins a task report."""

_FINISHED = lazy_compile(rb"FinishedTask\[\d+\]: ?taskID\[\d+:(\d{1,18})\]")
_NODE = lazy_compile(rb"taskId\[(\d{1,18})\], ?node\[")
_MOST_TASKS = 1000


class Tasks(Generic[T]):
    """Records the failure of each task, for the first thousand."""

    def __init__(self) -> None:
        self._current = b""
        self._failed: dict[bytes, T] = {}

    def see(self, text: bytes) -> None:
        """Process a line that may begin a task report."""
        match = _FINISHED.search(text)
        if match is not None:
            self._current = match[1]

    def failed(self, failure: T) -> None:
        """Record a failure; the first one after a task report belongs to the task."""
        if self._current and len(self._failed) < _MOST_TASKS:
            self._failed.setdefault(self._current, failure)

    def of_node(self, text: bytes) -> T | None:
        """The failure of the task that a line names with its node; None if unknown."""
        match = _NODE.search(text)
        return self._failed.get(match[1]) if match is not None else None


_MOST = 50
"""Maximum number of subjects per message, and of unknown codes."""
ALSO = (FRAME, WANTED)
"""Literals of lines that explain events."""
_REACH = 200
_CODE = lazy_compile(
    rb"\b([EW][0-9A-Z][0-9]{4}|ERR[0-9]{5})\b|(?:code is |result = |ErrCode=|failed: |[=:\[] ?)([0-9]{6})\b"
)
_NODE_FAILED = "TF-PRECOMPILE-FAIL"
"""Names the node of the immediately preceding failure."""
_SOON = 60
_FOLLOWERS = frozenset(("TF-RDEV-MODEL-EXEC", "E30008"))
_GETNEXT = b"GetNext"
_ESCAPED = rb"\n"


class Event(msgspec.Struct):
    """One message or code with all its occurrences. Without a `pattern` it is an unknown code."""

    name: str
    pattern: Pattern | None
    code: str
    subject: str
    first: int
    last: int
    text: str
    time: str
    count: int = 0
    followed: bool = False
    said: Said = msgspec.field(default_factory=Said)
    frame: TracebackFrame | None = None
    nodes: list[str] = msgspec.field(default_factory=list)


class _Sighting(msgspec.Struct, frozen=True):
    """One message in one line, at byte offset `at`."""

    name: str
    pattern: Pattern | None
    code: str
    subject: str
    at: int


class Events:
    """Collects the events of one log from lines with known literals, codes, or literals in `ALSO`."""

    def __init__(self) -> None:
        self.found: dict[tuple[str, str], Event] = {}
        self.rank = ""
        self.npu = False
        self.tracebacks = Tracebacks()
        self._tasks = Tasks[Event]()
        self._table = by_literal()
        self._subjects: dict[str, int] = {}

    def see(self, line: LogLine) -> None:
        """Process a line with a wanted literal."""
        self.tracebacks.see(line)
        if WANTED in line.found:
            self._tasks.see(line.text)
        if self._table.keys().isdisjoint(line.found) and not any(map(is_code, line.found)):
            return
        if _ESCAPED in line.text:  # a message within JSON or a repr
            line = msgspec.structs.replace(line, text=line.text.replace(_ESCAPED, b"  "))
        seen = _known(line)
        if any(is_code(one) for one in line.found):
            codes = {one.code for one in seen}
            fresh = [one for one in codes_of(line.text) if one not in codes and one.encode() not in self._table]
            seen += [_Sighting(one, None, one, "", line.text.find(one.encode())) for one in fresh]
        for sighting in seen:
            self._add(line, sighting)

    def _add(self, line: LogLine, seen: _Sighting) -> None:
        pattern = seen.pattern
        self.npu |= pattern is None or not pattern.general
        self.rank = self.rank or rank_of(line.text)
        fails = pattern is not None and pattern.kind in ("error", "fatal")
        if seen.name in _FOLLOWERS or (fails and _GETNEXT in line.text):
            self._follow(line.number)
        if seen.name == _NODE_FAILED and seen.subject:
            self._name_node(line, quoted(seen.subject))
        event = self._event(line, seen)
        if fails and seen.name != _NODE_FAILED:
            self._tasks.failed(event)
        event.count += line.lines
        event.frame = event.frame or warned_at(line.text)
        event.last = line.number
        if is_code(event.code.encode()) and event.count <= 5 and not event.said.said_cause:
            event.said = _richer(event.said, said(line.text, line.after))

    def _event(self, line: LogLine, seen: _Sighting) -> Event:
        key = (seen.name, seen.subject or seen.code)
        event = self.found.get(key)
        group = seen.name if seen.pattern else ""
        if event is None and self._subjects.get(group, 0) >= _MOST:  # the others share one event
            seen = _Sighting(seen.name if seen.pattern else "other-code", seen.pattern, "", "", seen.at)
            key = (seen.name, "")
            event = self.found.get(key)
        if event is None:
            self._subjects[group] = self._subjects.get(group, 0) + 1
            text = around(decoded(line.text), len(decoded(line.text[: seen.at])))
            subject, time = quoted(seen.subject), time_of(line.text)
            event = Event(seen.name, seen.pattern, seen.code, subject, line.number, line.number, text, time)
            self.found[key] = event
        return event

    def _name_node(self, line: LogLine, node: str) -> None:
        failed = [one for one in self.found.values() if one.pattern is not None and one.pattern.kind == "error"]
        recent = [one for one in failed if one.name != _NODE_FAILED and line.number - one.last <= _SOON]
        event = self._tasks.of_node(line.text) or (recent[0] if len(recent) == 1 else None)
        if event is not None and node not in event.nodes and len(event.nodes) < _MOST:
            event.nodes.append(node)

    def _follow(self, number: int) -> None:
        for event in self.found.values():
            if event.pattern is not None and event.pattern.kind == "context" and number - event.last <= _REACH:
                event.followed = True


def _known(line: LogLine) -> list[_Sighting]:
    """The known messages in a line, by name."""
    seen = []
    for name, message in sorted(of_found(line.found).items()):
        match = message.search.search(line.text)
        if match is not None:
            code = _CODE.search(match[0])
            groups = match.groups() if message.pattern.subject else ()
            subject = next((decoded(group) for group in groups if group), "")
            shown = (code[1] or code[2]).decode() if code else ""
            seen.append(_Sighting(name, message.pattern, shown, subject, match.start()))
    return seen


def _richer(old: Said, new: Said) -> Said:
    return Said(old.said_cause or new.said_cause, old.said_solution or new.said_solution, old.trace or new.trace)
