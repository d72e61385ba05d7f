"""Which of the events of a log is the cause, and which only follow from it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from npulint.facts.model import Fact, GenericFact, Span
from npulint.read.artifacts.logs.codes import SIZE, module_of
from npulint.read.artifacts.logs.events import Event
from npulint.read.artifacts.logs.quoting import LONGEST, quoted
from npulint.read.artifacts.logs.tracebacks import TracebackFrame, Tracebacks

_KINDS = {"note": "info", "context": "info", "ignore": "info"}
_FAILURES = ("fatal", "error")
_INTERNAL = "internal-error-only"
_WRAPPER = "ERR-CODE"
"""The line that torch_npu writes above what CANN says; it stands for its group only where CANN says nothing."""
_NAMED = 5
"""So many subjects of one cause are named."""
_LATE = frozenset(("LOSS-NAN", "PL-EXIT-9"))  # a run survives the first, and the second ends whatever went before


def kind_of(event: Event) -> str:
    """fatal, error, warning or info. A harmless message that a failure follows is a warning."""
    if event.pattern is None:
        return "warning" if event.name.startswith("W") else "error"
    if event.pattern.kind == "context" and event.followed:
        return "warning"
    return _KINDS.get(event.pattern.kind, event.pattern.kind)


def umbrella(event: Event) -> bool:
    """Whether it says nothing beside another error; codes that end in 9999 are internal errors of a module."""
    return event.name.endswith("9999") if event.pattern is None else event.pattern.umbrella


def root_of(events: Iterable[Event]) -> Event | None:
    """The earliest failure that is no umbrella; without such a one the earliest umbrella. Of several on one line the
    one that does not merely follow from another rank."""
    failures = [one for one in events if kind_of(one) in _FAILURES]
    return min(failures, key=_precedence, default=None)


def _precedence(event: Event) -> tuple[bool, bool, bool, int, bool, str]:
    echo = event.pattern is not None and event.pattern.echo
    return umbrella(event), group_of(event) == _INTERNAL, event.name in _LATE, event.first, echo, event.name


_Attrs = dict[str, int | str]


class _Group(msgspec.Struct):
    """What one check tells of a log: the shown events of one cause, of which one, mostly the first, stands for all."""

    first: Event
    total: int = 0
    subjects: list[str] = []


def group_of(event: Event) -> str:
    """The check that tells of an event: that of its pattern, or a common one for all other codes of its sort."""
    if event.pattern is not None:
        return event.pattern.finding
    return _INTERNAL if umbrella(event) else kind_of(event)


def _groups(ordered: Sequence[Event], root: Event | None) -> dict[str, _Group]:
    groups: dict[str, _Group] = {}
    for one in ordered:
        if kind_of(one) == "info" or not _shown(one, root):
            continue
        group = groups.setdefault(group_of(one), _Group(one))
        if group.first.name == _WRAPPER != one.name:
            group.first = one
        group.total += one.count
        for said in _about(one):
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


def facts_of(events: Iterable[Event], path: str, rank: str, tracebacks: Tracebacks) -> list[Fact]:
    """`run_event` facts, by their first line."""
    ordered = sorted(events, key=lambda one: (one.first, one.name, one.subject))
    root = root_of(ordered)
    groups = _groups(ordered, root)
    facts = []
    for one in ordered:
        frame = one.frame or (tracebacks.near(one.first) if kind_of(one) in _FAILURES else None)
        group = groups.get(group_of(one))
        first = group is not None and group.first is one
        told: _Attrs = {
            "quote": _quote(one, frame),
            "root": _flag(one is root),
            "shown": _flag(_shown(one, root)),
            "leads": _flag(first),
            "total": group.total if group and first else one.count,
            "subjects": _listed(group.subjects if group and first else _about(one)),
        }
        facts.append(_fact(one, path, rank, told | _place(frame)))
    return facts


def _listed(named: Sequence[str]) -> str:
    rest = len(named) - _NAMED
    return ", ".join(named[:_NAMED]).replace("`", "'") + (f" (+{rest})" if rest > 0 else "")


def _place(frame: TracebackFrame | None) -> _Attrs:
    if frame is None:
        return {}
    function: _Attrs = {"function": frame.function} if frame.function else {}
    return {"file": frame.file, "source_line": frame.line, **function}


def _quote(event: Event, frame: TracebackFrame | None) -> str:
    """The line, with the cause that stands below a code unless the line tells it already. What says nothing by itself
    stands behind the exception that was raised there."""
    more, trace = event.said.said_cause, event.said.trace
    more = trace if not more or SIZE in trace else more
    text = event.text if not more or more in event.text else f"{event.text} … {more}"
    if umbrella(event) and frame is not None and frame.raised and frame.raised not in text:
        text = f"{frame.raised} … {text}" if not more else text
    return quoted(text, LONGEST).replace("`", "'")


def _fact(event: Event, path: str, rank: str, told: _Attrs) -> Fact:
    pattern = event.pattern
    attrs = {
        "kind": kind_of(event),
        "count": event.count,
        "first_line": event.first,
        "last_line": event.last,
        "text": event.text,
        "code": event.code,
        "module": module_of(event.code),
        "subject": event.subject,
        "time": event.time,
        "rank": rank,
        "umbrella": _flag(umbrella(event)),
        "echo": _flag(pattern is not None and pattern.echo),
        "noise": _flag(pattern is not None and pattern.kind == "ignore"),
        "followed": _flag(event.followed),
        "known": _flag(pattern is not None),
        "cause_en": pattern.cause[0] if pattern else "",
        "cause_zh": pattern.cause[1] if pattern else "",
        "fix_en": pattern.fix[0] if pattern else "",
        "fix_zh": pattern.fix[1] if pattern else "",
        "check": pattern.check if pattern else "",
        "said_cause": event.said.said_cause,
        "said_solution": event.said.said_solution,
        "trace": event.said.trace,
        **told,
    }
    return GenericFact("run_event", event.name, path, Span.at(event.first), attrs)


def _flag(value: bool) -> str:
    return "yes" if value else "no"
