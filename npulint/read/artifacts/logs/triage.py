"""Which of the events of a log is the cause, and which only follow from it."""

from __future__ import annotations

from collections.abc import Iterable

from npulint.facts.model import Fact, Span
from npulint.read.artifacts.logs.codes import module_of
from npulint.read.artifacts.logs.events import Event

_KINDS = {"note": "info", "context": "info", "ignore": "info"}
_FAILURES = ("fatal", "error")
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


def _precedence(event: Event) -> tuple[bool, bool, int, bool, str]:
    echo = event.pattern is not None and event.pattern.echo
    return umbrella(event), event.name in _LATE, event.first, echo, event.name


def facts_of(events: Iterable[Event], path: str, rank: str) -> list[Fact]:
    """`run_event` facts, by their first line."""
    ordered = sorted(events, key=lambda one: (one.first, one.name, one.subject))
    root = root_of(ordered)
    only = root is not None and umbrella(root)
    return [_fact(one, path, rank, one is root, only) for one in ordered]


def _fact(event: Event, path: str, rank: str, root: bool, only: bool) -> Fact:
    pattern = event.pattern
    covers = umbrella(event)
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
        "umbrella": _flag(covers),
        "shown": _flag(root or only or not covers),
        "root": _flag(root),
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
    }
    return Fact("run_event", event.name, path, Span(event.first, 1, event.first, 1), attrs)


def _flag(value: bool) -> str:
    return "yes" if value else "no"
