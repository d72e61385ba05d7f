"""The events of one run, collected from the lines of its log."""

from __future__ import annotations

import re
from functools import cache
from typing import Generic, TypeVar

import msgspec

from npulint.core.lazy_regex import lazy_compile
from npulint.data.error_patterns import Pattern, patterns
from npulint.runs.read.logs.lines import LogLine, decoded, without_source
from npulint.runs.read.logs.tracebacks import WANTED as FRAME
from npulint.runs.read.logs.tracebacks import TracebackFrame, Tracebacks, around, quoted, warned_at

# The known messages, compiled for searching bytes.

_CODE_LENGTH = 6
_INTERNAL = b"9999"  # ends codes of internal errors, which say nothing of a family
_SHAPE = re.compile(rb"[EW][0-9ABEFHIJKLZ][0-9]{4}")


class Message(msgspec.Struct, frozen=True):
    """A known message and its pattern for a line in bytes."""

    pattern: Pattern
    search: re.Pattern[bytes]


@cache
def families() -> tuple[tuple[bytes, tuple[Message, ...]], ...]:
    """The messages of codes that begin alike (``E6*``) by that beginning, the longest first."""
    beginnings = [
        (literal.removesuffix(b"*"), messages) for literal, messages in _by_text().items() if literal.endswith(b"*")
    ]
    return tuple(sorted(beginnings, key=lambda family: (-len(family[0]), family[0])))


def of_found(hits: set[bytes]) -> dict[str, Message]:
    """The messages by id to test in a line with these literals and codes. A code that no message names itself belongs
    to its family."""
    table = by_literal()
    messages = {message.pattern.id: message for literal in hits for message in table.get(literal, ())}
    for code in (hit for hit in hits if is_code(hit) and hit not in table and not hit.endswith(_INTERNAL)):
        for begin, family in families():
            if code.startswith(begin):
                messages.update((message.pattern.id, message) for message in family)
                break
    return messages


@cache
def by_literal() -> dict[bytes, tuple[Message, ...]]:
    """The messages to test when a literal (or code) was found; series are read elsewhere."""
    return {literal: messages for literal, messages in _by_text().items() if not literal.endswith(b"*")}


@cache
def _by_text() -> dict[bytes, tuple[Message, ...]]:
    messages_of: dict[bytes, list[Message]] = {}
    for pattern in patterns().values():
        if pattern.kind != "series":
            message = Message(pattern, re.compile(pattern.regex.encode()))
            for literal in pattern.literals:
                messages_of.setdefault(literal.encode(), []).append(message)
    return {literal: tuple(messages) for literal, messages in messages_of.items()}


@cache
def literals() -> tuple[bytes, ...]:
    """The literals of lines to process; CANN codes are always included."""
    return tuple(literal for literal in by_literal() if not is_code(literal))


def is_code(literal: bytes) -> bool:
    """Whether the bytes are a CANN code."""
    return len(literal) == _CODE_LENGTH and _SHAPE.fullmatch(literal) is not None


# The time and rank of a log line.

_TIME = lazy_compile(rb"(\d{4}-\d\d-\d\d)[- T](\d\d:\d\d:\d\d)(?:[.,](\d{1,6}))?")
_LINE_RANK = lazy_compile(rb"\bRankID:(\d{1,5})\b")
_NAME_RANK = lazy_compile(r"(?i)(?:^|[^a-z])(?:rank|worker)[-_]?(\d{1,5})(?![\d])")
_PLOG = lazy_compile(rb"\[(?:ERROR|WARNING|INFO|DEBUG|EVENT|TRACE)\] [A-Z][A-Z_]{1,15}\(\d+,[^)\n]{0,64}\):")


def time_of(line: bytes) -> str:
    """The timestamp in a line, as ``2024-11-28 11:59:30.645``, or an empty string."""
    match = _TIME.search(line[:400])
    if match is None:
        return ""
    fraction = (match[3] or b"0").decode()[:3].ljust(3, "0")
    return f"{match[1].decode()} {match[2].decode()}.{fraction}"


def rank_of(line: bytes) -> str:
    """The rank in a line of torch_npu, or an empty string."""
    match = _LINE_RANK.search(line)
    return match[1].decode() if match else ""


def rank_by_name(path: str) -> str:
    """The rank in the path of a log (``worker-3/rank-0.txt``: the file name takes precedence)."""
    matches: list[re.Match[str]] = [match for part in path.split("/") for match in _NAME_RANK.finditer(part)]
    return matches[-1][1] if matches else ""


def is_plog(data: bytes, end: int) -> bool:
    """Whether the bytes up to `end` contain a plog line."""
    return _PLOG.search(data, 0, end) is not None


# CANN error codes: their formats and the explanations below them.

_SHAPES = lazy_compile(rb"\b([EW][0-9A-Z][0-9]{4})(?::|\):)|'errCode': '([EW][0-9A-Z][0-9]{4})'")
_HEADS = (("said_cause", b"Possible Cause:"), ("said_solution", b"Solution:"), ("trace", b"TraceBack"))
_LINES = 16
SIZE = "size:"
"""Contained in the trace line that states the requested memory size."""


class Said(msgspec.Struct):
    """The explanation below the first line of a message."""

    said_cause: str = ""
    said_solution: str = ""
    trace: str = ""


def codes_of(line: bytes) -> list[str]:
    """The codes that a line reports, in order; mere mentions are excluded."""
    return list(dict.fromkeys((match[1] or match[2]).decode() for match in _SHAPES.finditer(line)))


def said(line: bytes, after: bytes) -> Said:
    """The cause, the solution and the first trace line after a line with a code; preferably the trace line with the
    requested memory size. Without any of these, the next line counts as trace if it is indented."""
    explanation = Said()
    waiting = first = ""
    for raw in (line, *after.lstrip(b"\r\n").split(b"\n", _LINES)[:_LINES]):
        part = raw if raw is line else without_source(raw)
        if raw is not line and not part[:1].isspace():
            break
        if waiting and not explanation.trace:
            explanation.trace = quoted(decoded(part))
            waiting = ""
        if explanation.trace and SIZE not in explanation.trace and SIZE.encode() in part:
            explanation.trace = quoted(decoded(part))
        for name, head in _HEADS:
            _, there, rest = part.partition(head)
            if there and name == "trace":
                waiting = name
            elif there and not getattr(explanation, name):
                setattr(explanation, name, quoted(decoded(rest.partition(b"Solution:")[0])))
        first = first or (quoted(decoded(part)) if raw is not line else "")
    if explanation == Said():
        explanation.trace = first
    return explanation


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
        if any(is_code(hit) for hit in line.found):
            codes = {sighting.code for sighting in seen}
            fresh = [code for code in codes_of(line.text) if code not in codes and code.encode() not in self._table]
            seen += [_Sighting(code, None, code, "", line.text.find(code.encode())) for code in fresh]
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
        failed = [event for event in self.found.values() if event.pattern is not None and event.pattern.kind == "error"]
        recent = [event for event in failed if event.name != _NODE_FAILED and line.number - event.last <= _SOON]
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
