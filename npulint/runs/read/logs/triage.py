"""Separates the root cause among the events of a log from its consequences."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import Literal

import msgspec

from npulint.facts.kinds import fact_kind
from npulint.facts.model import Fact, Span
from npulint.runs.read.frames import LineFact
from npulint.runs.read.logs.ending import RunEnd
from npulint.runs.read.logs.events import SIZE, Event
from npulint.runs.read.logs.tracebacks import LONGEST, TracebackFrame, Tracebacks, quoted

Level = Literal["fatal", "error", "warning", "info"]
_LEVELS: dict[str, Level] = {"fatal": "fatal", "error": "error", "warning": "warning"}
_FAILURES = ("fatal", "error")
_INTERNAL = "internal-error-only"
_WRAPPER = "ERR-CODE"
"""The line that torch_npu prints above CANN's message; represents its group only if CANN prints nothing."""
_NAMED = 5
"""Subjects that are always named for one cause."""
_ROOM = 100
"""Characters in which more are named."""
_LATE = frozenset(("LOSS-NAN", "PL-EXIT-9"))  # a run survives the first, and the second ends any failed run


@fact_kind("run_event")
class LogMessage(LineFact, kw_only=True):
    """A message of a log, by its id in `checks/messages`, or a code of CANN that is not there; one fact for each
    subject. A line of code is the one in the traceback of a failure, or that a warning names."""

    level: Level
    text: str
    """The first line without homes, user ids and addresses."""
    quote: str
    """The same with the cause that the message states below."""
    subject: str
    """The operator, node or option that it is about."""
    subjects: str
    """Those of all messages of one cause, if it leads them."""
    total: int
    """The number of messages; of all of one cause, if it leads them."""
    time: str
    root: bool
    """Whether the other failures follow from it."""
    umbrella: bool
    """Whether it adds nothing to another error."""
    echo: bool
    """Whether it follows from another rank."""
    known: bool
    """Whether it is in the tables of messages."""
    leads: bool
    """Whether it is the first of the messages of one cause that are not an umbrella next to another error."""
    cause_en: str
    cause_zh: str
    remedy_en: str
    """What helps against this message, as the next."""
    remedy_zh: str


def level_of(event: Event) -> Level:
    """fatal, error, warning or info. A harmless message followed by a failure is a warning."""
    if event.pattern is None:
        return "warning" if event.name.startswith("W") else "error"
    if event.pattern.kind == "context" and event.followed:
        return "warning"
    return _LEVELS.get(event.pattern.kind, "info")


def umbrella(event: Event) -> bool:
    """Whether an event is uninformative next to another error; codes ending in 9999 are internal errors."""
    return event.name.endswith("9999") if event.pattern is None else event.pattern.umbrella


def root_of(events: Iterable[Event]) -> Event | None:
    """The earliest failure that is no umbrella, else the earliest umbrella. Of several on one line, one that is not an
    echo of another rank."""
    failures = [event for event in events if level_of(event) in _FAILURES]
    return min(failures, key=_precedence, default=None)


def _precedence(event: Event) -> tuple[bool, bool, bool, int, bool, str]:
    echo = event.pattern is not None and event.pattern.echo
    return umbrella(event), group_of(event) == _INTERNAL, event.name in _LATE, event.first, echo, event.name


class _Group(msgspec.Struct):
    """The events that one check reports for a log: those of one cause, represented by one, usually the first."""

    first: Event
    total: int = 0
    subjects: list[str] = []


def group_of(event: Event) -> str:
    """The check that reports an event: that of its pattern, or a common one for unknown codes."""
    if event.pattern is not None:
        return event.pattern.finding
    return _INTERNAL if umbrella(event) else level_of(event)


def _groups(ordered: Sequence[Event], root: Event | None) -> dict[str, _Group]:
    groups: dict[str, _Group] = {}
    for event in ordered:
        if level_of(event) == "info" or not _shown(event, root):
            continue
        group = groups.setdefault(group_of(event), _Group(event))
        if group.first.name == _WRAPPER != event.name:
            group.first = event
        group.total += event.count
        for said in _about(event):
            if said not in group.subjects:
                group.subjects.append(said)
    return groups


def _about(event: Event) -> list[str]:
    said = event.subject or event.code
    return event.nodes or ([said] if said else [])


def _shown(event: Event, root: Event | None) -> bool:
    if not umbrella(event):
        return True
    return root is not None and umbrella(root) and group_of(event) == group_of(root)


def facts_of(events: Iterable[Event], path: str, tracebacks: Tracebacks) -> list[Fact]:
    """The `run_event` facts, by first line."""
    ordered = sorted(events, key=lambda event: (event.first, event.name, event.subject))
    root = root_of(ordered)
    groups = _groups(ordered, root)
    return [_fact(event, path, event is root, groups.get(group_of(event)), tracebacks) for event in ordered]


_ABOVE = 200
"""Lines above a traceback in which a message may explain it: other processes and CANN print between."""
_BELOW = 60
_GENERIC = frozenset(("RuntimeError", "InternalError", "SystemError", "Exception"))


def explained(end: RunEnd, events: Iterable[Event]) -> RunEnd:
    """The end of a run with whether a known message near it explains it; unknown where that message only repeats that
    something failed, and the exception says no more."""
    near = [
        event
        for event in events
        if level_of(event) in _FAILURES and end.begin - _ABOVE <= event.last and event.first <= end.span.line + _BELOW
    ]
    if any(not umbrella(event) for event in near):
        return msgspec.structs.replace(end, explained="yes")
    if near and end.exception in _GENERIC:
        return msgspec.structs.replace(end, explained="unknown")
    return end


def _listed(named: Sequence[str]) -> str:
    """The subjects that fit, and the number of the others."""
    ends = accumulate(len(name) + 2 for name in named)
    shown = max(sum(end <= _ROOM + 2 for end in ends), _NAMED)
    rest = len(named) - shown
    return ", ".join(named[:shown]).replace("`", "'") + (f" (+{rest})" if rest > 0 else "")


def _quote(event: Event, frame: TracebackFrame | None) -> str:
    """The line, followed by the cause below a code unless the line contains it. An uninformative line is placed after
    the exception that was raised there."""
    more, trace = event.said.said_cause, event.said.trace
    more = trace if not more or SIZE in trace else more
    text = event.text if not more or more in event.text else f"{event.text} … {more}"
    if umbrella(event) and frame is not None and frame.raised and frame.raised not in text:
        text = f"{frame.raised} … {text}" if not more else text
    return quoted(text, LONGEST).replace("`", "'")


def _fact(event: Event, path: str, root: bool, group: _Group | None, tracebacks: Tracebacks) -> LogMessage:
    pattern, level = event.pattern, level_of(event)
    frame = event.frame or (tracebacks.near(event.first) if level in _FAILURES else None)
    leads = group is not None and group.first is event
    cause, remedy = (pattern.cause, pattern.fix) if pattern else (("", ""), ("", ""))
    return LogMessage(
        event.name,
        path,
        Span.at(event.first),
        level=level,
        text=event.text,
        quote=_quote(event, frame),
        subject=event.subject,
        subjects=_listed(group.subjects if group and leads else _about(event)),
        total=group.total if group and leads else event.count,
        time=event.time,
        root=root,
        umbrella=umbrella(event),
        echo=pattern is not None and pattern.echo,
        known=pattern is not None,
        leads=leads,
        cause_en=cause[0],
        cause_zh=cause[1],
        remedy_en=remedy[0],
        remedy_zh=remedy[1],
        file=frame.file if frame else None,
        source_line=frame.line if frame else None,
        function=(frame.function or None) if frame else None,
    )


# Decides which rank of a distributed run failed first, and which ones only waited for it.


def across(facts: Iterable[Fact]) -> list[Fact]:
    """The facts of the logs of one run, with consistent root causes.

    A rank that reports waiting for a peer only echoes another rank's failure: if any log has a root cause that is
    neither an echo nor an umbrella, echoes are no longer roots. If all ranks waited, the one with the earliest time
    stamp stays; without time stamps all stay. Callers group the logs by run."""
    everything = list(facts)
    roots = [fact for fact in everything if isinstance(fact, LogMessage) and fact.root]
    echoes = [root for root in roots if root.echo]
    if all(root.echo or root.umbrella for root in roots):
        times = [echoe.time for echoe in echoes]
        if len(echoes) < 2 or not all(times):
            return everything
        earliest = min(times)
        echoes = [echoe for echoe in echoes if echoe.time != earliest]
    dropped = {id(echoe) for echoe in echoes}
    return [msgspec.structs.replace(fact, root=False) if id(fact) in dropped else fact for fact in everything]
