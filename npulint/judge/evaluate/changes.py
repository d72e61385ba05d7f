"""Fixes of a check: the steps of the first matching rule for each found fact, or its reason to edit nothing."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from npulint.core.lazy_regex import lazy_compile
from npulint.facts.model import Fact, Span
from npulint.judge.catalogue.check import FixRule, StepRule
from npulint.judge.evaluate.captures import fill, sure
from npulint.judge.evaluate.conditions import Answer, both, either, opposite
from npulint.judge.evaluate.fact_index import matches
from npulint.judge.evaluate.match import Candidates, CompiledQuery
from npulint.judge.findings import FixEdit, FixStep
from npulint.recognizers.npu_need import is_caught
from npulint.recognizers.programs import Program

_CAPTURE = lazy_compile(r"(?<!\$)\{((?:at\.)?[a-z_][a-z0-9_]*)\}")


class CompiledFix:
    """A fix rule with compiled queries. `kinds` are the fact kinds that its check finds; a safe rule is so `only` under
    these conditions, and unsafe elsewhere."""

    def __init__(self, rule: FixRule, kinds: frozenset[str] = frozenset(), only: Collection[str] = ()) -> None:
        self._applicability = rule.applicability
        self._only = frozenset(only if rule.applicability == "safe" else ())
        self._kinds = kinds
        self._when = None if rule.when is None else CompiledQuery(rule.when)
        self._steps = [(step, None if step.at is None else CompiledQuery(step.at)) for step in rule.steps]
        self._because = rule.because
        self._named = None if rule.at is None else CompiledQuery(rule.at)
        self._of_fact_alone = not any(self.queries()) and not any(step.entry for step in rule.steps)

    def queries(self) -> Iterator[CompiledQuery]:
        """The queries that need candidates of the program; those about the found fact itself do not."""
        for leaf in () if self._when is None else self._when.leaves():
            if leaf.anywhere or leaf.kind not in self._kinds:
                yield leaf
        yield from (place for _, place in self._steps if place is not None)
        if self._named is not None:
            yield self._named

    def change(self, fact: Fact, program: Program, candidates: Candidates) -> FixEdit | None:
        """The fix of a fact; None if the rule does not match, a capture or place is not certain, or
        the place cannot be edited."""
        if self._because:
            return None
        if not self._of_fact_alone:
            return self._change(fact, program, candidates)
        cached = candidates.changes(self)
        key = id(fact)
        if key not in cached:
            cached[key] = self._change(fact, program, candidates)
        return cached[key]

    def _change(self, fact: Fact, program: Program, candidates: Candidates) -> FixEdit | None:
        if not self._holds(fact, program, candidates):
            return None
        happening = _happening(fact, program, candidates)
        steps = [_step(rule, place, fact, program, happening) for rule, place in self._steps]
        sure = tuple(step for step in steps if step is not None)
        return FixEdit(self._applicability_of(fact, program), sure) if len(sure) == len(steps) else None

    def _applicability_of(self, fact: Fact, program: Program) -> str:
        if ("uncaught" in self._only and is_caught(fact)) or ("npu" in self._only and program.may_lack_npu(fact)):
            return "unsafe"
        return self._applicability

    def reason(self, fact: Fact, program: Program, candidates: Candidates, lang: str) -> str:
        """Why nothing is edited for a fact, if the rule matches and says so."""
        text = self._because.get(lang) or self._because.get("en", "")
        if not text or not self._holds(fact, program, candidates):
            return ""
        named = [] if self._named is None else _happening(fact, program, candidates).found(self._named)
        at = min(named, key=lambda candidate: _distance(candidate, fact), default=fact)
        return fill(text, at, {"place": f"{at.path}:{at.span.line}"})

    def _holds(self, fact: Fact, program: Program, candidates: Candidates) -> bool:
        if self._when is None:
            return True
        return _answer(self._when, fact, self._kinds, _happening(fact, program, candidates)) is True


def _happening(fact: Fact, program: Program, candidates: Candidates) -> Candidates:
    """The facts that matter for what a fix of a fact does: not what another script does only when it is started."""
    return candidates if program.runs_elsewhere(fact) else candidates.without(program.runs_elsewhere)


def changes(
    fixes: list[CompiledFix], facts: list[Fact], program: Program, candidates: Candidates, lang: str
) -> tuple[tuple[FixEdit, ...], str]:
    """The fixes of the facts that a finding covers, where a rule matches, and the first reason why one gets none."""
    fix_edits, because = [], ""
    for fact in facts:
        for fix in fixes:
            change = fix.change(fact, program, candidates)
            reason = "" if change is not None else fix.reason(fact, program, candidates, lang)
            if change is not None:
                fix_edits.append(change)
            if change is not None or reason:
                because = because or reason
                break
    return tuple(fix_edits), because


def _answer(query: CompiledQuery, fact: Fact, kinds: frozenset[str], candidates: Candidates) -> Answer:
    """Whether a condition holds; its queries about one of `kinds` are answered for this fact alone."""
    if query.negated is not None:
        return opposite(_answer(query.negated, fact, kinds, candidates))
    if query.all:
        return both(_answer(part, fact, kinds, candidates) for part in query.all)
    if query.any:
        return either(_answer(part, fact, kinds, candidates) for part in query.any)
    if query.kind in kinds and not query.anywhere:
        return query.answer(fact, candidates) if query.kind == fact.kind and _named(query, fact) else False
    return candidates.holds(query)


def _named(query: CompiledQuery, fact: Fact) -> bool:
    return not query.names or any(matches(pattern, fact.name) for pattern in query.names)


def _step(
    rule: StepRule, place: CompiledQuery | None, fact: Fact, program: Program, candidates: Candidates
) -> FixStep | None:
    at = fact
    if place is not None:
        facts = candidates.found(place)
        if not facts:
            return None
        at = min(facts, key=lambda candidate: _distance(candidate, fact))
    if not at.is_editable:
        return None
    words = {}
    for word, text in rule.words.items():
        filled = _filled(text, fact, at)
        if filled is None:
            return None
        words[word] = filled
    if rule.entry:
        return FixStep(rule.verb, program.entry, Span(), words) if program.entry else None
    return FixStep(rule.verb, at.path, at.span, words)


def _distance(candidate: Fact, fact: Fact) -> tuple[bool, bool, str, Span]:
    """Sort key by distance from a fact: overlapping places first, then the same file, then other files."""
    begin, end = (candidate.span.line, candidate.span.column), (candidate.span.end_line, candidate.span.end_column)
    apart = end <= (fact.span.line, fact.span.column) or begin >= (fact.span.end_line, fact.span.end_column)
    return candidate.path != fact.path, apart, candidate.path, candidate.span


def _filled(text: str, fact: Fact, at: Fact) -> str | None:
    """`text` with captures filled, those with ``at.`` from the fact `at` the place of the step; None when one is not
    certain."""
    if "{" not in text:
        return text
    captured = {
        match[1]: sure(match[1].removeprefix("at."), at if match[1].startswith("at.") else fact)
        for match in _CAPTURE.finditer(text)
    }
    if None in captured.values():
        return None
    return _CAPTURE.sub(lambda match: captured[match[1]] or "", text)
