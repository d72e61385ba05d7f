"""Compiled queries over the facts of a program."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

from npulint.facts.model import Fact
from npulint.facts.values import PossibleValues
from npulint.judge.catalogue.check import Query
from npulint.judge.evaluate.conditions import Answer, Test, both, either, opposite, tester
from npulint.judge.findings import FixEdit

_UNSEEN = PossibleValues()
_COSTLY = {
    "in_input": 1,
    "matters": 2,
    "active": 3,
    "place": 4,
    "evaluates": 5,
    "feeds_model": 6,
    "loads": 7,
}  # attributes that follow calls and values through the project


class CompiledQuery:
    """A query compiled for evaluation with many programs, cheapest tests first. A leaf queries facts, other queries
    combine their parts."""

    def __init__(self, query: Query) -> None:
        self.kind = query.kind
        self.names = query.names
        self.anywhere = query.anywhere
        self.any = tuple(CompiledQuery(part) for part in query.any)
        self.all = tuple(CompiledQuery(part) for part in query.all)
        self.negated = None if query.negated is None else CompiledQuery(query.negated)
        self.leaf = not self.any and not self.all and self.negated is None
        self.cheap: bool = self.kind == "program" if self.leaf else all(part.cheap for part in self.parts())
        self._least = query.at_least
        self._active = query.active
        self._conditions = sorted(self.all, key=lambda part: not part.cheap)
        self._query = query
        self._tests: _Tests | None = None  # most queries never see a fact

    def parts(self) -> Iterator[CompiledQuery]:
        """The queries that this one combines."""
        yield from self.any
        yield from self.all
        if self.negated is not None:
            yield self.negated

    def leaves(self) -> Iterator[CompiledQuery]:
        """The leaf queries in it, in order."""
        if self.leaf:
            yield self
        for part in self.parts():
            yield from part.leaves()

    def sources(self) -> Iterator[CompiledQuery]:
        """The leaves whose facts `find` reports."""
        if self.leaf:
            yield self
        for part in self.any or self.all[:1]:
            yield from part.sources()

    def find(self, candidates: Candidates) -> list[Fact]:
        """The facts found by a check's ``find``; `all` returns those of its first part if the other parts hold."""
        if self.any:
            return [fact for part in self.any for fact in part.find(candidates)]
        if self.all:
            first = self.all[0]
            holds = all(part.true_of(candidates) is True for part in self._conditions if part is not first)
            return first.find(candidates) if holds else []
        facts = candidates.get(self)
        return candidates.counting(candidates.fitting(self, facts)) if facts else []

    def among(self, facts: list[Fact], answers: Answers) -> list[Fact]:
        """The facts that a leaf finds among some."""
        return [fact for fact in facts if self._answer(fact, answers) is True and self._runs(fact)]

    def asks(self, attribute: str) -> bool:
        """Whether a leaf asks for an attribute."""
        return attribute in self._query.where

    def is_in_step(self) -> bool:
        """Whether a leaf finds only what runs in training steps."""
        condition = self._query.where.get("step")
        answers = [] if condition is None else [tester(condition)(word) for word in ("yes", "no", "host")]
        return answers == [True, False, False]

    def finds(self, fact: Any) -> bool:
        """Whether a leaf finds a fact of its kind and names, which need not be one of the program."""
        return self.fits(fact) is True and self._runs(fact)

    def true_of(self, candidates: Candidates) -> Answer:
        """Whether the query holds for the program; None when only uncertain facts match."""
        if self.negated is not None:
            return opposite(self.negated.true_of(candidates))
        if self.all:
            return both(part.true_of(candidates) for part in self._conditions)
        if self.any:
            return either(part.true_of(candidates) for part in self.any)
        sure = doubtful = 0
        facts = candidates.get(self, ())
        answers = candidates.answers(self) if facts else {}
        for fact in facts:
            answer = self._answer(fact, answers)
            if answer is False or not candidates.counting([fact]):
                continue
            sure += answer is True
            doubtful += answer is None
            if sure >= self._least:
                return True
        return None if sure + doubtful >= self._least else False

    def answer(self, fact: Fact, candidates: Candidates) -> Answer:
        """`fits` of a fact of the program."""
        return self._answer(fact, candidates.answers(self))

    def _answer(self, fact: Fact, answers: Answers) -> Answer:
        """`fits`, cached for the other programs of the project that contain the fact."""
        key = id(fact)
        if key not in answers:
            answers[key] = self.fits(fact)
        return answers[key]

    def _runs(self, fact: Any) -> bool:
        return not self._active or fact.get("active") != "no"

    def fits(self, fact: Any) -> Answer:
        """Whether a fact passes the filters of the query."""
        tests = self._tests = self._tests or _Tests(self._query)
        doubt = False
        for attribute, test in tests.where:
            answer = test(fact.get(attribute))
            if answer is False:
                return False
            doubt = doubt or answer is None
        for argument in tests.args:
            answer = argument(fact)
            if answer is False:
                return False
            doubt = doubt or answer is None
        return None if doubt else True


class _Tests:
    """The filters of a query, cheapest first."""

    def __init__(self, query: Query) -> None:
        where = sorted(query.where.items(), key=lambda item: _COSTLY.get(item[0], 0))
        self.where = [(attribute, tester(condition)) for attribute, condition in where]
        self.args = [_argument(spec, tester(condition)) for spec, condition in query.args.items()]


Answers = dict[int, Answer]
"""The answers of facts to one query, by ``id()`` of the fact."""


class Candidates(dict[CompiledQuery, list[Fact]]):
    """The facts of a program by leaf query, matched by kind and name; queries without any are absent. Answers are
    shared by the programs of a project, which have most facts in common."""

    def __init__(
        self,
        facts: Mapping[CompiledQuery, list[Fact]],
        shared: dict[Any, Any],
        of_one_file: Collection[CompiledQuery] = (),
    ) -> None:
        """`shared` are answers for all programs of the project; the facts of the leaves `of_one_file` are the very list
        that other programs with this file have."""
        super().__init__(facts)
        self._of_one_file = of_one_file
        self._known = shared
        self._holding: dict[CompiledQuery, Answer] = {}
        self._found: dict[CompiledQuery, list[Fact]] = {}
        self._narrowed: Candidates | None = None
        self._unwanted: Callable[[Fact], bool] | None = None

    def without(self, unwanted: Callable[[Fact], bool]) -> Candidates:
        """The same facts without those that are `unwanted`, which must be the same function each time. Only facts that
        match a query are asked about."""
        if self._narrowed is None:
            self._narrowed = Candidates(self, self._known, self._of_one_file)
            self._narrowed._unwanted = unwanted
        return self._narrowed

    def counting(self, facts: list[Fact]) -> list[Fact]:
        """The facts, all of which match a query, without those that are unwanted."""
        return facts if self._unwanted is None else [fact for fact in facts if not self._unwanted(fact)]

    def answers(self, query: CompiledQuery) -> Answers:
        """The cached answers of a query."""
        cached: Answers = self._known.setdefault(query, {})
        return cached

    def fitting(self, leaf: CompiledQuery, facts: list[Fact]) -> list[Fact]:
        """`CompiledQuery.among` of the facts of a leaf; do not modify the list."""
        answers = self.answers(leaf)
        if leaf not in self._of_one_file:
            return leaf.among(facts, answers)
        cached: dict[int, list[Fact]] = self._known.setdefault((leaf, "fitting"), {})
        if id(facts) not in cached:
            cached[id(facts)] = leaf.among(facts, answers)
        return cached[id(facts)]

    def changes(self, fix: object) -> dict[int, FixEdit | None]:
        """The cached changes of a fix that depend on nothing but the fact, by ``id()`` of the fact."""
        cached: dict[int, FixEdit | None] = self._known.setdefault(fix, {})
        return cached

    def holds(self, query: CompiledQuery) -> Answer:
        """`CompiledQuery.true_of`, worked out once for a program: the fixes of every found fact ask."""
        if query not in self._holding:
            self._holding[query] = query.true_of(self)
        return self._holding[query]

    def found(self, query: CompiledQuery) -> list[Fact]:
        """`CompiledQuery.find`, worked out once for a program; do not modify the list."""
        if query not in self._found:
            self._found[query] = query.find(self)
        return self._found[query]


def _argument(spec: str, test: Test) -> Callable[[Fact], Answer]:
    """The test of a call argument, written ``name``, ``position`` or ``name|position``."""
    name, _, place = spec.partition("|")
    position = int(place) if place else int(name) if name.isdigit() else -1
    name = "" if name.isdigit() else name

    def answer(fact: Fact) -> Answer:
        if fact.args is None:
            return False
        value = fact.args.argument_value(name, position)
        if value is not None or not fact.args.starred:
            return test(value)
        answers = {test(None), test(_UNSEEN)}  # not given, or given by a star
        return answers.pop() if len(answers) == 1 else None

    return answer
