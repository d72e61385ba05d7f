"""Places run findings at the source line they come from, if known, else at the artifact."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec

from npulint.core.lazy_regex import lazy_compile
from npulint.core.texts import say
from npulint.facts.model import Fact, Span
from npulint.judge.catalogue.check import Query
from npulint.judge.findings import ArtifactLocation, Finding, Related
from npulint.model.code.origin import Origin
from npulint.runs.facts.operators import operators
from npulint.runs.read.host_lines import HostWait
from npulint.runs.read.interfaces import HostActivity
from npulint.runs.read.python_lines import CostlyLine

Origins = Callable[[Fact], Sequence[Origin]]

_MEASURED = (HostWait, CostlyLine, HostActivity)
"""Facts about one line of code, unlike tracebacks, which pass through several."""

_OPERATORS = frozenset(
    ("run_op", "run_op_total", "run_aicpu", "run_compared", "run_overflow", "run_fusion", "run_event")
)
"""Fact kinds whose names users know; other names are npulint's."""

_SHARES = frozenset(
    "share free_share idle_share exchange_share bubble_share data_share refresh_share lost_share step_share".split()
)
"""Attributes that are shares of the time of a step or run, or of compute time."""

_NUMBERED = lazy_compile(r"\w*\d\w*")

_FACTS = 3  # facts per finding whose source lines are listed


def shown(finding: Finding, facts: Sequence[Fact], find: Query, origins_of: Origins, lang: str) -> Finding:
    """A finding about run facts with cost, artifact location and source line; `find` is the query of its check."""
    fact = facts[0]
    origins = list(dict.fromkeys(origin for some in facts[:_FACTS] for origin in origins_of(some)))
    about = operators(fact)
    row = ArtifactLocation(
        path=fact.path,
        span=fact.span,
        about=_about(fact),
        operator=tuple(dict.fromkeys(word for operator in about for word in operator if word)),
        several=fact.kind == "run_event" and len(about) > 1,
        origins=tuple((origin.path, origin.span.line) for origin in origins),
        exact=isinstance(fact, _MEASURED) and fact.file is not None,
    )
    at = _at(fact)
    path, span = at or (fact.path, fact.span)
    places = [] if at is None else [Related(fact.path, fact.span, say(lang, "merged.row"))]
    places += [_related(origin, lang) for origin in origins if (origin.path, origin.span.line) != (path, span.line)]
    others = [_moved(place, some, lang) for place, some in zip(finding.related, facts[1:], strict=False)]
    listed = {(path, span.line), *((place.path, place.span.line) for place in places)}
    more = (place for place in finding.related[len(others) :] if (place.path, place.span.line) not in listed)
    cost = max(_cost(some, find) for some in facts)
    return msgspec.structs.replace(
        finding, path=path, span=span, related=(*places, *others, *more), artifact_location=row, cost=cost
    )


def _cost(fact: Fact, find: Query) -> float:
    """The share of the run's time that a fact takes, in percent: the largest share that the check queries."""
    if fact.kind == "run_series":
        return 0.0  # its share is of the number of steps, not of time
    shares = [fact.get(name) for name in _shares(find)]
    of_step = fact.get("of_step")
    base_share = 100 if of_step is None else of_step
    return max((share * base_share / 100 for share in shares if isinstance(share, (int, float))), default=0.0)


def _shares(find: Query) -> set[str]:
    names = {name for name in find.where if name in _SHARES}
    return names.union(*(_shares(query) for query in (*find.any, *find.all)))


def _about(fact: Fact) -> str:
    """The identity of a fact across runs; for a log message, its text without times, numbers and addresses."""
    if fact.kind != "run_event":
        return fact.name
    text = _NUMBERED.sub("", fact.get_text("text"))
    return " ".join(f"{fact.name} {fact.get_text('subject')} {text}".split())


def _at(fact: Fact) -> tuple[str, Span] | None:
    """The line of project code that the fact names, if any."""
    path, line = fact.get("at"), fact.get("at_line")
    return (path, Span.at(line)) if isinstance(path, str) and isinstance(line, int) else None


def _moved(place: Related, fact: Fact, lang: str) -> Related:
    path, span = _at(fact) or (place.path, place.span)
    return Related(path, span, place.message if fact.kind in _OPERATORS else say(lang, "merged.again"))


def _related(origin: Origin, lang: str) -> Related:
    return Related(origin.path, origin.span, say(lang, f"merged.{origin.how}", word=origin.word))
