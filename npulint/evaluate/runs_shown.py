"""What is said of a run, at the line of the source that it comes from where that is known, else at the artifact."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from npulint.assemble.run.operators import operators
from npulint.assemble.run.origins import Origin
from npulint.catalogue.check import Query
from npulint.facts.model import Fact, Span
from npulint.findings import ArtifactLocation, Finding, Related
from npulint.lazy_regex import lazy_compile
from npulint.texts import say

_MEASURED = frozenset(("run_wait", "run_line", "run_host"))
"""Kinds of facts that are about a line of code itself; a traceback only passes through the lines that it names."""

_OPERATORS = frozenset(
    ("run_op", "run_op_total", "run_aicpu", "run_compared", "run_overflow", "run_fusion", "run_event")
)
"""Kinds of facts whose names people know; those of others are words of ours."""

_SHARES = frozenset(
    "share free_share exchange_share bubble_share data_share refresh_share lost_share step_share".split()
)
"""Attributes that are parts of the time of a step or run, or of computing."""

_NUMBERED = lazy_compile(r"\w*\d\w*")

_FACTS = 3  # facts of a finding of which the lines that they come from are told


def shown(one: Finding, facts: Sequence[Fact], find: Query, lang: str) -> Finding:
    """A finding about the facts of a run, for which a check asks with `find`, with what they cost and with their places
    in the artifact and in the code."""
    fact = facts[0]
    origins = list(dict.fromkeys(origin for some in facts[:_FACTS] for origin in _origins(some)))
    about = operators(fact)
    row = ArtifactLocation(
        path=fact.path,
        span=fact.span,
        about=_about(fact),
        operator=tuple(dict.fromkeys(word for one in about for word in one if word)),
        several=fact.kind == "run_event" and len(about) > 1,
        origins=tuple((origin.path, origin.span.line) for origin in origins),
        exact=fact.kind in _MEASURED and "file" in fact.attrs,
    )
    at = _at(fact)
    path, span = at or (fact.path, fact.span)
    told = [] if at is None else [Related(fact.path, fact.span, say(lang, "joined.row"))]
    told += [_related(origin, lang) for origin in origins if (origin.path, origin.span.line) != (path, span.line)]
    others = [_moved(place, some, lang) for place, some in zip(one.related, facts[1:], strict=False)]
    known = {(path, span.line), *((place.path, place.span.line) for place in told)}
    more = (place for place in one.related[len(others) :] if (place.path, place.span.line) not in known)
    cost = max(_cost(some, find) for some in facts)
    return msgspec.structs.replace(
        one, path=path, span=span, related=(*told, *others, *more), artifact_location=row, cost=cost
    )


def _cost(fact: Fact, find: Query) -> float:
    """What a fact takes of the time of the run, in percent: the largest of the shares that the check looks at."""
    if fact.kind == "run_series":
        return 0.0  # its share is one of the number of steps
    shares = [fact.attrs.get(name) for name in _shares(find)]
    whole = fact.attrs.get("of_step", 100)
    return max((one * whole / 100 for one in shares if isinstance(one, (int, float))), default=0.0)


def _shares(find: Query) -> set[str]:
    names = {name for name in find.where if name in _SHARES}
    return names.union(*(_shares(one) for one in (*find.any, *find.all)))


def _about(fact: Fact) -> str:
    """What the fact is about; of a message of a log also what it says, without times, numbers and addresses."""
    if fact.kind != "run_event":
        return fact.name
    said = _NUMBERED.sub("", str(fact.attrs.get("text", "")))
    return " ".join(f"{fact.name} {fact.attrs.get('subject', '')} {said}".split())


def _origins(fact: Fact) -> tuple[Origin, ...]:
    return fact.get("origins") or ()


def _at(fact: Fact) -> tuple[str, Span] | None:
    """The line of the project's code that the fact names, if it has it."""
    path, line = fact.attrs.get("at"), fact.attrs.get("at_line")
    return (path, Span.at(line)) if isinstance(path, str) and isinstance(line, int) else None


def _moved(place: Related, fact: Fact, lang: str) -> Related:
    path, span = _at(fact) or (place.path, place.span)
    return Related(path, span, place.message if fact.kind in _OPERATORS else say(lang, "joined.again"))


def _related(origin: Origin, lang: str) -> Related:
    return Related(origin.path, origin.span, say(lang, f"joined.{origin.how}", word=origin.word))
