"""Questions over the facts of a program."""

from __future__ import annotations

from npulint.assemble.programs import Program
from npulint.catalogue.check import Query
from npulint.evaluate.conditions import Answer, holds
from npulint.evaluate.patterns import last_segment, matches
from npulint.facts.model import Fact


def find(query: Query, program: Program) -> list[Fact]:
    """The facts that answer a check's ``find``: `all` reports its first part when the others hold."""
    if query.any:
        return [f for part in query.any for f in find(part, program)]
    if query.all:
        rest = query.all[1:]
        return find(query.all[0], program) if all(true_of(part, program) is True for part in rest) else []
    return [f for f in candidates(query, program) if _runs(query, f) and fits(query, f) is True]


def true_of(query: Query, program: Program) -> Answer:
    """Whether a condition holds for the program: yes, no, or unknown when only doubtful facts fit."""
    if query.negated is not None:
        answer = true_of(query.negated, program)
        return None if answer is None else not answer
    if query.all:
        answers = [true_of(part, program) for part in query.all]
        return False if False in answers else None if None in answers else True
    if query.any:
        answers = [true_of(part, program) for part in query.any]
        return True if True in answers else None if None in answers else False
    sure = doubtful = 0
    for fact in candidates(query, program):
        answer = fits(query, fact)
        sure += answer is True
        doubtful += answer is None
        if sure >= query.at_least:
            return True
    return None if sure + doubtful >= query.at_least else False


def candidates(query: Query, program: Program) -> list[Fact]:
    """The facts of the right kind and name."""
    if query.kind == "program":
        return [program.fact]
    if not query.names:
        return program.index.of_kind(query.kind)
    named = program.index.by_last(query.kind)
    found: list[Fact] = []
    for pattern in query.names if named else ():
        last = last_segment(pattern)
        if not last:
            found += program.index.matching(query.kind, pattern, matches)
        elif last in named:
            found += [f for f in named[last] if matches(pattern, f.name)]
    return found


def _runs(query: Query, fact: Fact) -> bool:
    return not query.active or fact.get("active") != "no"


def fits(query: Query, fact: Fact) -> Answer:
    """Whether a fact meets the filters of a question."""
    doubt = False
    for attribute, condition in query.where.items():
        answer = holds(condition, fact.get(attribute))
        if answer is False:
            return False
        doubt = doubt or answer is None
    for spec, condition in query.args.items():
        answer = _argument(fact, spec, condition)
        if answer is False:
            return False
        doubt = doubt or answer is None
    return None if doubt else True


def _argument(fact: Fact, spec: str, condition: object) -> Answer:
    if fact.args is None:
        return False
    name, _, place = spec.partition("|")
    position = int(place) if place else int(name) if name.isdigit() else -1
    value = fact.args.get("" if name.isdigit() else name, position)
    if value is None and fact.args.starred():
        return None
    return holds(condition, value)
