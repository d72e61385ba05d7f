"""Evaluates the checks of a catalogue for a program."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

import msgspec

from npulint.core.lazy_regex import lazy_compile
from npulint.core.wings import service
from npulint.facts.model import Fact, Span
from npulint.facts.roles import Role
from npulint.judge.catalogue.check import COMPARE, GRAPH, LEFT, MACHINE, RUN, Applies, Catalogue, Check, Query
from npulint.judge.catalogue.severity import IF_REACHED, where_unsure
from npulint.judge.evaluate.applicability import applicability
from npulint.judge.evaluate.captures import fill, with_open_places
from npulint.judge.evaluate.changes import CompiledFix, changes
from npulint.judge.evaluate.chips import TargetChips, for_chips, holds, target_chips
from npulint.judge.evaluate.demoted import Demoted
from npulint.judge.evaluate.distance import distance
from npulint.judge.evaluate.fact_index import FactIndex
from npulint.judge.evaluate.match import Candidates, CompiledQuery
from npulint.judge.evaluate.open_releases import (
    SETTING,
    SUPPOSED,
    UNKNOWN,
    asks_of_target,
    of_arguments,
    of_settings,
)
from npulint.judge.evaluate.readiness import CompiledItem, ReportedCheck, checklist
from npulint.judge.findings import ChecklistItem, Finding, Fix, FixEdit, OpenRelease, Related
from npulint.recognizers.file_role import APART, NOT_JUDGED
from npulint.recognizers.programs import Program

# Version ranges such as ``>=1.15,<2`` for versions that need not follow PEP 440 (``7.0.RC1.alpha003``).

_PART = lazy_compile(r"\d+|[a-z]+", re.IGNORECASE)
_CLAUSE = lazy_compile(r"^\s*(>=|<=|==|!=|>|<)?\s*(\S+)\s*$")
_RANKS = {"alpha": -3, "alph": -3, "a": -3, "beta": -2, "b": -2, "rc": -1}


def key(version: str) -> tuple[int, ...]:
    """A sort key: numbers by value, pre-release words below them."""
    return tuple(int(p) if p.isdigit() else _RANKS.get(p.lower(), 0) for p in _PART.findall(version.lstrip("rv")))


@lru_cache(maxsize=512)
def within(version: str, versions: str) -> bool:
    """Whether `version` is in the range; a shorter version stands for all that begin with it."""
    return all(_clause(key(version), clause) for clause in versions.split(",") if clause.strip())


def _clause(version: tuple[int, ...], clause: str) -> bool:
    match = _CLAUSE.match(clause)
    if match is None:
        raise ValueError(f"not a version range: {clause!r}")
    bound = key(match[2])
    if len(version) == 1 and len(bound) > 1 and version[0] == bound[0]:
        return True
    width = max(len(version), len(bound))
    left = version + (0,) * (width - len(version))
    right = bound + (0,) * (width - len(bound))
    return {
        ">=": left >= right,
        "<=": left <= right,
        ">": left > right,
        "<": left < right,
        "!=": left != right,
        "==": left[: len(bound)] == bound,
    }[match[1] or "=="]


_SPEED = frozenset(("much-slower", "slower"))
"""Consequences that a run has only where it comes to the NPU at all."""
_LEFT_BY_THE_NPU = frozenset(("unsupported_op",))
"""Topics of what costs time on the NPU only, because it has no kernel for it: whoever plans a port must know it."""
_RELATED = 24  # facts of `related` listed; covered places are always listed


class ProgramVerdict(msgspec.Struct, frozen=True):
    """The findings of one program, those in files that take no part in the training, its readiness checklist if it
    trains, and the checks that would find something if a release or the chip were known."""

    findings: list[Finding]
    demoted: list[Demoted]
    checklist: tuple[ChecklistItem, ...]
    open_releases: list[OpenRelease] = []


def evaluate(
    catalogue: Catalogue,
    program: Program,
    target: dict[str, str],
    lang: str,
    chips: TargetChips | None = None,
    roles: Mapping[str, Role] = {},
) -> ProgramVerdict:
    """The findings and checklist of one program. `target` holds declared versions and the SoC family; `chips` are those
    that the project may run on, if they are not just the declared one; `roles` are those of files that take no part in
    the training. A side of a comparison (`npulint.judge.evaluate.pretuning`) is evaluated with comparison checks only,
    a graph with graph checks, a run with run checks, and other programs with none of these."""
    chips = chips or target_chips(target)
    ready = _check_set(catalogue, program.fact.framework, _family(program))
    candidates = ready.candidates(program)
    findings: list[Finding] = []
    demoted: list[Demoted] = []
    reported: list[ReportedCheck] = []
    for compiled in ready.concerned(candidates):
        own = compiled.check
        once_ported = for_chips(own, chips, lang) if applies(own.applies, program, target, chips) else None
        if once_ported is None or (compiled.is_in_step and program.entry and not program.fact.trains):
            continue
        check = _today(once_ported, program)
        facts = compiled.find(candidates)
        if program.entry and check.once != "program":  # the fixes of these change other scripts too
            facts = [fact for fact in facts if fact.path == program.entry or not program.is_of_other_script(fact)]
        if not facts:
            continue
        unused_apart = program.fact.framework == "torch" and check.severity != "error" and not check.opt_in
        ours, others = _by_role(facts, roles, unused_apart, check.severe_in if check.opt_in else ())
        related = [] if compiled.related is None else compiled.related.find(candidates)
        role = roles.get(program.entry)
        finder = _Finder(compiled.fixes, related, candidates, program, lang, role)
        for loud, part in compiled.by_severity(check, ours, candidates):
            for sure, reached in _by_reach(loud, part, program):
                findings += [finding for finding, _ in finder.findings(sure, reached)] if reached else []
        alike = ours if role is None else ours + others.get(role, [])  # a benchmark is ready or not by itself
        for loud, part in compiled.by_severity(once_ported, alike, candidates):
            reported.append(ReportedCheck(loud, part, own if once_ported is not own else None))
        for other, apart in others.items():
            if other not in check.except_in and not (other == "unused" and check.category == "performance"):
                demoted += [Demoted(check, other, *finding) for finding in finder.findings(check.in_role(other), apart)]
    listed = ready.items if _listed(program, roles) else []
    items = [item for item in listed if applies(item.item.applies, program, target, chips)]
    opened = _open_releases(ready, program, target, chips, candidates, roles)
    answers = checklist(items, program, candidates, reported, opened, lang)
    return ProgramVerdict(findings, demoted, answers, [release for _, release in opened])


def _open_releases(
    ready: _CheckSet,
    program: Program,
    target: dict[str, str],
    chips: TargetChips,
    candidates: Candidates,
    roles: Mapping[str, Role],
) -> list[tuple[Check, OpenRelease]]:
    """The checks that would find something in the program if a release or the chip were known, and what that is."""
    if program.entry in roles:
        return []
    unknown = program.index.of_kind(UNKNOWN)
    opened: list[tuple[Check, OpenRelease]] = []
    for compiled in ready.about(SUPPOSED) if unknown else ():
        if compiled.holds_around(candidates) and applies(compiled.check.applies, program, target, chips):
            releases = of_arguments(compiled.check, compiled.subject, unknown, candidates, roles)
            opened += [(compiled.check, release) for release in releases]
    for compiled in ready.concerned(candidates) if program.index.of_kind(SETTING) else ():
        if not compiled.asks_of_target:
            continue
        if applies(compiled.check.applies, program, target, chips) and compiled.holds_around(candidates):
            releases = of_settings(compiled.check, compiled.subject, candidates, roles)
            opened += [(compiled.check, release) for release in releases]
    return [(check, release) for check, release in opened if not (release.key == "soc" and chips.named)]


def _today(check: Check, program: Program) -> Check:
    """The check as it is told of the program before it comes to the NPU: how to be fast there is a note until then."""
    if _family(program) or program.fact.state != "not_started":
        return check
    return check.as_note() if check.consequence in _SPEED and check.topic not in _LEFT_BY_THE_NPU else check


def _family(program: Program) -> str:
    """The family of checks for this program; empty for all checks of code."""
    if program.fact.side is not None:
        return COMPARE
    return GRAPH if program.fact.graph is not None else RUN if program.fact.run else ""


def _by_role(
    facts: list[Fact], roles: Mapping[str, Role], unused_apart: bool, like_any: Sequence[str]
) -> tuple[list[Fact], dict[Role, list[Fact]]]:
    """The facts in code that may take part in the training, and the others by the roles of their files, and
    (`unused_apart`) those in functions and classes that nothing uses. Files of the roles `like_any` are not apart."""
    ours: list[Fact] = []
    others: dict[Role, list[Fact]] = {}
    for fact in facts:
        role = roles.get(fact.path)
        if role is None and unused_apart and fact.get("unused") == "yes":
            role = "unused"
        if role not in NOT_JUDGED:
            (ours if role is None or role in like_any else others.setdefault(role, [])).append(fact)
    return ours, others


def _by_reach(check: Check, facts: list[Fact], program: Program) -> list[tuple[Check, list[Fact]]]:
    """The facts with the check that reports them: less severe in code that the entry script of a PyTorch program does
    not surely reach, or that no training program of the project reaches. A finding about a whole program stays as
    severe; another one that covers several places is as severe as the surest of them. Arguments of trainings that a
    script gets which trains nothing, such as one that converts weights, are notes, those of an example no errors."""
    if facts and facts[0].kind == "training_argument":
        if program.is_tool:
            return [(check.as_note(), facts)]
        if program.is_example and check.severity == "error":
            return [(check.as_severe("warning"), facts)]
    unsure = where_unsure(check.severity, check.occurs)
    if unsure == check.severity or (program.fact.framework != "torch" and check.occurs != IF_REACHED):
        return [(check, facts)]
    quiet = check.as_severe(unsure)
    if check.once == "program" and check.occurs != IF_REACHED:  # it says something of the whole program
        return [(quiet if program.is_left_over else check, facts)]
    reached = {_covered_by(check, fact) for fact in facts if program.surely_runs(fact)}
    sure = [fact for fact in facts if _covered_by(check, fact) in reached]
    return [(check, sure), (quiet, [fact for fact in facts if fact not in sure])]


def _covered_by(check: Check, fact: Fact) -> object:
    """What distinguishes the finding of a check that covers a fact from its other findings in the program."""
    keys: dict[str, object] = {"program": "", "file": fact.path, "project": fact.name}
    return keys.get(check.once, (fact.path, fact.span, fact.name))


def _listed(program: Program, roles: Mapping[str, Role]) -> bool:
    """Whether the program gets a readiness checklist: it trains, and is no test."""
    if roles.get(program.entry) in APART:
        return False
    return bool(program.entry) and program.fact.trains and _family(program) not in (GRAPH, RUN)


class _CompiledCheck:
    """A check with compiled queries."""

    def __init__(self, check: Check) -> None:
        self.check = check
        self.subject = CompiledQuery(check.find)
        self.needs = None if check.needs is None else CompiledQuery(check.needs)
        self.unless = None if check.unless is None else CompiledQuery(check.unless)
        self.related = None if check.related is None else CompiledQuery(check.related)
        self.minor = None if check.minor is None else CompiledQuery(check.minor)
        self.asks_of_target = asks_of_target(self.subject)
        self.is_in_step = all(leaf.is_in_step() for leaf in self.subject.sources())
        kinds = frozenset(part.kind for part in self.subject.sources()) if check.fixes else frozenset()
        only = () if check.safe is None else check.safe.only
        self.fixes = [CompiledFix(rule, kinds, only) for rule in check.fixes]

    def queries(self) -> list[CompiledQuery]:
        own = [self.subject, self.needs, self.unless, self.related, self.minor]
        of_fixes = (query for fix in self.fixes for query in fix.queries())
        return [query for query in (*own, *of_fixes) if query is not None]

    def holds_around(self, candidates: Candidates) -> bool:
        """Whether `needs` certainly holds and `unless` certainly does not."""
        needed = self.needs is None or self.needs.true_of(candidates) is True
        return needed and (self.unless is None or self.unless.true_of(candidates) is False)

    def find(self, candidates: Candidates) -> list[Fact]:
        """The facts that the check reports; empty unless `needs` certainly holds and `unless` certainly does not."""
        if self.needs is not None and self.needs.true_of(candidates) is not True:
            return []
        facts = self.subject.find(candidates)
        if facts and self.unless is not None and self.unless.true_of(candidates) is not False:
            return []
        return facts

    def by_severity(self, check: Check, facts: list[Fact], candidates: Candidates) -> list[tuple[Check, list[Fact]]]:
        """The facts that the check reports with its severity, and those that it reports as a note."""
        if self.minor is None or check.severity == "note":
            return [(check, facts)] if facts else []
        minor = {id(fact) for fact in self.minor.find(candidates)}
        loud = [fact for fact in facts if id(fact) not in minor]
        quiet = [fact for fact in facts if id(fact) in minor]
        return [(each, part) for each, part in ((check, loud), (check.as_note(), quiet)) if part]


class _CheckSet:
    """The checks of a family (see `_family`) for one framework, and its checklist; built once per run. A check is
    compiled when a program has facts of a kind that it may report, which most never come across."""

    def __init__(self, catalogue: Catalogue, framework: str, family: str) -> None:
        families = (family, MACHINE) if family == RUN else (family,)
        of_family = [
            check for check in catalogue.checks if (check.family in families if family else _about_code(check))
        ]
        items = catalogue.pretuning if family == COMPARE else catalogue.items
        self._checks = [check for check in of_family if _applies_to(check.applies, framework)]
        self._waiting: dict[str, list[int]] = {}  # by kind, the checks that may report facts of it
        for place, check in enumerate(self._checks):
            for kind in set(_reported_kinds(check.find)):
                self._waiting.setdefault(kind, []).append(place)
        self._compiled: dict[int, _CompiledCheck] = {}
        self._by_source: dict[CompiledQuery, list[int]] = {}
        self.items = [CompiledItem(item) for item in items if _applies_to(item.applies, framework)]
        self._index = FactIndex(query for item in self.items for query in item.queries())
        self._compile("program")

    def candidates(self, program: Program) -> Candidates:
        """The facts of a program that the checks and the checklist ask for."""
        for kind in program.index.kinds():
            for needed in (kind, SUPPOSED) if kind == UNKNOWN else (kind,):
                if needed in self._waiting:
                    self._compile(needed)
        return self._index.candidates(program)

    def _compile(self, kind: str) -> None:
        """Compiles the checks that may report facts of a kind."""
        queries: list[CompiledQuery] = []
        for place in self._waiting.pop(kind, ()):
            if place not in self._compiled:
                check = self._compiled[place] = _CompiledCheck(self._checks[place])
                queries += check.queries()
                for source in check.subject.sources():
                    self._by_source.setdefault(source, []).append(place)
        self._index.add(queries)

    def about(self, kind: str) -> list[_CompiledCheck]:
        """The compiled checks, in order, that may report facts of a kind."""
        places = {place for leaf, found in self._by_source.items() if leaf.kind == kind for place in found}
        return [self._compiled[place] for place in sorted(places)]

    def concerned(self, candidates: Candidates) -> list[_CompiledCheck]:
        """The checks, in order, with a candidate among the facts of the program."""
        places = {place for leaf in candidates for place in self._by_source.get(leaf, ())}
        return [self._compiled[place] for place in sorted(places)]


def _reported_kinds(query: Query) -> Iterator[str]:
    """The kinds of the facts that a query may report."""
    parts = query.any or query.all[:1]
    if not parts:
        yield query.kind
    for part in parts:
        yield from _reported_kinds(part)


def _about_code(check: Check) -> bool:
    """Whether a check can find facts in code: not comparison and graph checks, nor checks that only query run facts."""
    return check.family not in (COMPARE, GRAPH, MACHINE) and not (check.family == RUN and _of_runs(check.find))


def _of_runs(query: Query) -> bool:
    parts = (*query.any, *query.all)
    return any(map(_of_runs, parts)) if query.all else all(map(_of_runs, parts)) if parts else query.kind[:4] == "run_"


def _applies_to(rule: Applies, framework: str) -> bool:
    return not rule.frameworks or framework in rule.frameworks


_LATEST: list[tuple[Catalogue, dict[tuple[str, str], _CheckSet]]] = []


def _check_set(catalogue: Catalogue, framework: str, family: str) -> _CheckSet:
    """The compiled checks of the latest catalogue; those of an earlier one are dropped."""
    if not _LATEST or _LATEST[0][0] is not catalogue:
        _LATEST[:] = [(catalogue, {})]
    check_sets, kind = _LATEST[0][1], (framework, family)
    if kind not in check_sets:
        check_sets[kind] = _CheckSet(catalogue, framework, family)
    return check_sets[kind]


def applies(rule: Applies, program: Program, target: dict[str, str], chips: TargetChips | None = None) -> bool:
    """Whether a check applies to the program and target."""
    fact = program.fact
    if rule.frameworks and fact.framework not in rule.frameworks:
        return False
    if rule.states and fact.state not in rule.states:
        return False
    if fact.migration == LEFT and LEFT not in rule.migrations:  # only checks that name this way apply
        return False
    if rule.migrations and fact.migration not in rule.migrations:
        return False
    if rule.modes and not set(rule.modes) & set(fact.mode.split()):
        return False
    if rule.trains is not None and fact.trains != rule.trains:
        return False
    if rule.soc and holds(rule.soc, chips or target_chips(target)) == "no":
        return False
    for key, versions in rule.versions.items():
        version = target.get(key) or fact.get_text(key)
        if version and not within(version, versions):
            return False
    return True


class _Finder:
    """Makes findings of what a check found in a program."""

    def __init__(
        self,
        fixes: list[CompiledFix],
        related: list[Fact],
        candidates: Candidates,
        program: Program,
        lang: str,
        role: Role | None = None,
    ) -> None:
        self._fixes = fixes
        self._related = related[:_RELATED]
        self._candidates = candidates
        self._program = program
        self._lang = lang
        self._takes_part = bool(program.entry) and role is None

    def findings(self, check: Check, facts: list[Fact]) -> list[tuple[Finding, list[Fact]]]:
        """The findings about these facts, each with those that it covers."""
        program = self._program
        graph = _family(program) in (GRAPH, RUN)
        unique = {_place(f, graph): f for f in sorted(facts, key=lambda f: (f.path, f.span))}
        ordered = list(unique.values())
        if program.fact.run:
            ordered.sort(key=_weight)
        if not check.once:
            seen: set[tuple[str, Span, str]] = program.answers.setdefault(check.code, set())
            fresh = [fact for fact in ordered if _place(fact, graph) not in seen]
            seen.update(_place(fact, graph) for fact in fresh)
            return [self._finding(check, [fact]) for fact in fresh]
        groups: dict[object, list[Fact]] = {}
        for fact in ordered:
            groups.setdefault(_covered_by(check, fact), []).append(fact)
        if program.entry and not graph:
            groups = {key: sorted(group, key=lambda fact: distance(fact, program)) for key, group in groups.items()}
        return [self._finding(check, group) for group in groups.values()]

    def _finding(self, check: Check, group: list[Fact]) -> tuple[Finding, list[Fact]]:
        """The finding about these facts. One about a program does not cover those of other scripts, though its fix
        changes them too."""
        program = self._program
        edits_and_reason = (
            changes(self._fixes, group, program, self._candidates, self._lang) if self._fixes else ((), "")
        )
        own = check.once == "program" and self._takes_part
        shown = [fact for fact in group if not program.is_of_other_script(fact)] if own else []
        return _finding(check, self._lang, shown or group, self._related, program, *edits_and_reason), shown or group


def _weight(fact: Fact) -> tuple[str, float]:
    """Sort key for choosing the place of a finding that covers several run facts: the highest rank in the artifact."""
    rank = fact.get("rank")
    return fact.path, rank if isinstance(rank, (int, float)) else 0


def _place(fact: Fact, graph: bool) -> tuple[str, Span, str]:
    """The key that distinguishes found places; in graphs and runs it includes the name, since many facts share a
    line."""
    return fact.path, fact.span, fact.name if graph else ""


def _others(related: list[Fact], covered: list[Fact]) -> list[Fact]:
    """The related facts at places that a finding does not cover itself."""
    places = {(fact.path, fact.span) for fact in covered}
    return [fact for fact in related if (fact.path, fact.span) not in places]


def _finding(
    check: Check,
    lang: str,
    facts: list[Fact],
    related: list[Fact],
    program: Program,
    edits: tuple[FixEdit, ...],
    because: str,
) -> Finding:
    fact = facts[0]
    text = check.text.get(lang) or check.text["en"]
    counts = {"count": str(len(facts)), "files": str(len({fact.path for fact in facts}))} if check.once else {}
    finding = Finding(
        code=check.code,
        name=check.name,
        topic=check.topic,
        category=check.category,
        severity=check.severity,
        confidence=check.confidence,
        path=fact.path,
        span=fact.span,
        message=fill(text.message, fact, counts),
        wording=with_open_places(text.message, fact),
        about=fact.name,
        why=fill(text.why, fact, counts),
        fix=Fix(fill(text.fix, fact, counts), applicability(edits), changes=edits, because=because),
        related=tuple(Related(f.path, f.span, f.name) for f in [*facts[1:], *_others(related, facts)]),
        program=program.entry or program.root,
        places=len(facts),
        subject=fact.name if program.fact.graph is not None else "",
        project=program.root,
        consequence=check.consequence,
        distance=distance(fact, program) if program.entry else 0,
    )
    if not program.fact.run:
        return finding
    with_places: Finding = service("shown")(finding, facts, check.find, program.origins, lang)
    return with_places
