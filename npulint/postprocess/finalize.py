"""From the findings of all programs to the answer of the run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from npulint.assemble.build import DEFAULT_ADAPTER
from npulint.catalogue.check import COMPARE, Catalogue
from npulint.errors import ConfigError
from npulint.evaluate.changes import applicability
from npulint.facts.model import FileFacts, Problem
from npulint.findings import (
    CONFIDENCES,
    Finding,
    Fix,
    GraphSummary,
    ProgramSummary,
    RunResult,
    Silenced,
    Summary,
)
from npulint.postprocess.baseline import Compared, compared_with
from npulint.postprocess.comments import Suppressed, suppress
from npulint.postprocess.engine import ENGINE_RULES, of_problems
from npulint.postprocess.identity import identified, pages
from npulint.postprocess.readiness import settled
from npulint.postprocess.scope import Scope, finding_key
from npulint.postprocess.select import Identity, specificity, unknown, wanted
from npulint.run_summary import RunSummary
from npulint.settings import RANK, Settings
from npulint.source_lines import FileLines, LineProvider
from npulint.texts import count, say

EVERYTHING = Scope()


def finalize(
    findings: Iterable[Finding],
    programs: Sequence[ProgramSummary],
    files: Sequence[FileFacts],
    problems: Sequence[Problem],
    settings: Settings,
    catalogue: Catalogue,
    seconds: float = 0.0,
    lines: LineProvider | None = None,
    scope: Scope = EVERYTHING,
    comparing: bool = False,
    graphs: Sequence[GraphSummary] = (),
    unlisted: Sequence[Problem] = (),
    runs: Sequence[RunSummary] = (),
) -> RunResult:
    """Order, unite, suppress and filter. `problems` are those of discovery; the files carry their own. `unlisted` tell
    which lists of operators the `graphs` could not be held against. `runs` is what runs left behind.

    Of the files that are silent in `scope` only what it is about is told; the rest is counted. A run is either
    `comparing` or not: of what the checks of the other kind say, nothing is known in it. Raises `ConfigError` when the
    settings select a check that does not exist.
    """
    lang = settings.language()
    lines = lines or file_lines(settings)
    rules: list[Identity] = [*catalogue.checks, *ENGINE_RULES]
    notices = _unknown_words(settings, rules, lang)
    choice = _Choice(settings, {one.code for one in catalogue.checks if (one.family == COMPARE) != comparing})
    named = [file for file in files if file.path not in scope.context_only]
    unread = _united_problems(problems, named)
    chosen = [one for one in (*findings, *_of_files(unread, lang)) if choice.speaks(one)]
    page = pages(settings.docs_url, lang, catalogue.foreign)
    of_graphs = any(one.subject for one in chosen)
    of_runs = any(one.artifact_location is not None for one in chosen)
    chosen = _at_their_lines(chosen, lines) if of_runs else chosen
    united = deduplicate(_one_for_graphs(chosen, graphs, lines, lang) if of_graphs else chosen)
    left = suppress(identified(united, lines, page), files, rules, choice.speaks, lines, lang)
    left = _joined_with_source(left, catalogue, lang) if of_graphs else left
    left = _joined_with_runs(left, lang) if of_runs else left
    complaints = deduplicate(
        one for one in left.complaints if choice.speaks(one) and one.path not in scope.context_only
    )
    candidates = sorted([*left.kept, *identified(complaints, lines, page)], key=_place)
    codes = {rule.code for rule in rules if choice.speaks(rule)}
    compared = compared_with(settings, candidates, files, codes, lines, scope.context_only)
    told = _sorted_out(compared, left.silenced, settings, scope)
    shown = mark_manual(told.shown, settings.unfixable) if settings.unfixable else told.shown
    quiet = {finding_key(one.finding) for one in left.silenced} - {finding_key(one) for one in left.kept}
    return RunResult(
        findings=shown,
        programs=settled(programs, lambda e: e.code in codes and (e.code, e.path, e.span) not in quiet),
        unreadable=unread,
        target=_target(settings, programs, graphs, lang),
        summary=_summary(told, named, unread, seconds),
        notices=[*notices, *_unusable(unlisted, lang), *_beyond(told.shown, scope, settings)],
        suppressed=sorted([*told.suppressed, *told.known], key=lambda one: _place(one.finding)),
        baseline=compared.baseline,
        graphs=sorted(graphs, key=lambda one: one.path),
        runs=sorted(runs, key=lambda one: [file.path for file in one.files]),
    )


def _one_for_graphs(
    findings: Sequence[Finding], graphs: Sequence[GraphSummary], lines: LineProvider, lang: str
) -> list[Finding]:
    from npulint.postprocess.merge_graph_findings import united_graphs  # most runs see no graph

    recorded = {graph.path for graph in graphs if graph.form.startswith("live_")}
    return united_graphs(findings, lines, lang, recorded)


def _joined_with_source(left: Suppressed, catalogue: Catalogue, lang: str) -> Suppressed:
    from npulint.postprocess.merge_graph_findings import gathered, merge_graph_findings

    kept, silenced = merge_graph_findings(left.kept, left.silenced, catalogue, lang)
    return Suppressed(gathered(kept), silenced, left.complaints)


def _at_their_lines(findings: Sequence[Finding], lines: LineProvider) -> list[Finding]:
    from npulint.postprocess.merge_run_findings import at_their_lines  # most runs of npulint see no run of training

    return at_their_lines(findings, lines)


def _joined_with_runs(left: Suppressed, lang: str) -> Suppressed:
    from npulint.postprocess.merge_run_findings import merge_run_findings

    return Suppressed(*merge_run_findings(left.kept, left.silenced, lang), left.complaints)


class _SortedFindings(msgspec.Struct, frozen=True):
    """What the report says: the findings `shown`, those that comments or the baseline keep out, and how many of the
    others fall below the thresholds (`hidden`) or lie where nobody asked (`elsewhere`)."""

    shown: list[Finding]
    suppressed: list[Silenced]
    known: list[Silenced]
    hidden: int
    elsewhere: int


def _sorted_out(compared: Compared, silenced: Sequence[Silenced], settings: Settings, scope: Scope) -> _SortedFindings:
    about = [one for one in compared.new if scope.in_scope(one)]
    shown = [one for one in about if reported(one, settings)]
    return _SortedFindings(
        shown=shown,
        suppressed=[one for one in silenced if scope.in_scope(one.finding)],
        known=[Silenced(one, "baseline") for one in compared.known if scope.in_scope(one)],
        hidden=len(about) - len(shown),
        elsewhere=sum(_worth_a_look(one, settings) and not scope.in_scope(one) for one in compared.new),
    )


def mark_manual(findings: Iterable[Finding], checks: Sequence[str]) -> list[Finding]:
    """The findings; those of `checks` say that nothing mends them but a person."""
    return [without_fix(one) if any(specificity(word, one) for word in checks) else one for one in findings]


def file_lines(settings: Settings) -> FileLines:
    """The lines of the files of a run, those of standard input included."""
    return FileLines({} if settings.stdin is None else {settings.stdin_filename: settings.stdin})


def deduplicate(findings: Iterable[Finding]) -> list[Finding]:
    """One finding for what several programs say of one place; the first program keeps it, with what has to be changed
    for the others as well. Where a rule does not hold for one of them, what it changes would spoil that program."""
    unique: dict[tuple[object, ...], Finding] = {}
    for one in findings:
        key = (one.code, one.path, one.span, one.message)
        first = unique.setdefault(key, one)
        if first is not one:
            both = bool(first.fix.changes and one.fix.changes)
            unique[key] = _joined(first, one) if both else without_fix(first)
    return sorted(unique.values(), key=_place)


def without_fix(one: Finding) -> Finding:
    """A finding that nothing mends but a person."""
    return msgspec.structs.replace(one, fix=Fix(one.fix.text)) if one.fix.changes else one


def _joined(first: Finding, other: Finding) -> Finding:
    """A finding with the changes of another that it has not."""
    more = tuple(change for change in other.fix.changes if change not in first.fix.changes)
    if not more:
        return first
    changes = (*first.fix.changes, *more)
    fix = msgspec.structs.replace(first.fix, changes=changes, applicability=applicability(changes))
    return msgspec.structs.replace(first, fix=fix)


def reported(one: Finding, settings: Settings) -> bool:
    """Whether the finding reaches the thresholds. Without `min_severity` every severity does: reports
    for people then leave notes out by themselves."""
    if CONFIDENCES.index(one.confidence) < CONFIDENCES.index(settings.min_confidence):
        return False
    return RANK[one.severity] >= RANK[settings.min_severity or "note"]


def _beyond(findings: Sequence[Finding], scope: Scope, settings: Settings) -> list[str]:
    """Why findings are told that lie in files nobody asked about."""
    paths = [one.path for one in findings if one.path in scope.context_only]
    lang, key = settings.language(), "beyond.change" if settings.consequences_since else "beyond"
    listed = say(lang, "list.and").join(dict.fromkeys(paths))
    return [count(lang, key, len(paths), list=listed)] if paths else []


def _worth_a_look(one: Finding, settings: Settings) -> bool:
    return reported(one, settings) and RANK[one.severity] >= RANK[settings.shown_from(settings.format)]


def _place(one: Finding) -> tuple[object, ...]:
    return one.path, one.span.line, one.span.column, one.code, one.span, one.message


class _Choice:
    """The checks that the settings want, decided once for each code; those that were not asked (`silent`) say
    nothing."""

    def __init__(self, settings: Settings, silent: Iterable[str]) -> None:
        self._settings = settings
        self._known = dict.fromkeys(silent, False)

    def speaks(self, rule: Identity) -> bool:
        answer = self._known.get(rule.code)
        if answer is None:
            settings = self._settings
            answer = wanted(rule, settings.select, settings.extend_select, settings.ignore)
            self._known[rule.code] = answer
        return answer


def _unknown_words(settings: Settings, rules: Sequence[Identity], lang: str) -> list[str]:
    """Complain about selected words that name nothing. An ignored one is only noted, so that a shared
    configuration survives a version that lacks the check."""
    problems = [
        f"{option}: {say(lang, 'unknown.check', word=word)}{say(lang, 'meant', word=meant) if meant else ''}"
        for option, words in (("select", settings.select), ("extend-select", settings.extend_select))
        for word, meant in unknown(words, rules)
    ]
    if problems:
        raise ConfigError(problems)
    return [
        say(lang, "unknown.ignored", option=option, word=word) + (say(lang, "meant", word=meant) if meant else "")
        for option, words in (("ignore", settings.ignore), ("unfixable", settings.unfixable))
        for word, meant in unknown(words, rules)
    ]


def _united_problems(problems: Sequence[Problem], files: Sequence[FileFacts]) -> list[Problem]:
    unique = {(p.path, p.reason, p.span): p for p in (*problems, *(p for file in files for p in file.problems))}
    return sorted(unique.values(), key=lambda p: (p.path, p.span, p.reason))


def _of_files(unread: Sequence[Problem], lang: str) -> list[Finding]:
    """A finding for every file that is there and was not read; a path that is not there is no finding."""
    return of_problems([problem for problem in unread if problem.reason != "missing"], lang)


def _unusable(lists: Sequence[Problem], lang: str) -> list[str]:
    if not lists:
        return []
    from npulint.postprocess.operators import unusable

    return unusable(lists, lang)


def _target(
    settings: Settings, programs: Sequence[ProgramSummary], graphs: Sequence[GraphSummary], lang: str
) -> dict[str, str]:
    def because(text: str, key: str) -> str:
        return text + say(lang, "aside", text=say(lang, f"target.{key}"))

    target = {key: because(settings.target[key], "given") for key in sorted(settings.target)}
    found = {p.framework for p in programs} | {graph.framework for graph in graphs}
    frameworks = sorted(found - {"", "none", "unknown"})
    if any(framework.startswith("tensorflow ") for framework in frameworks):
        frameworks = [framework for framework in frameworks if framework != "tensorflow"]
    if any(framework.startswith("tensorflow") for framework in frameworks):
        of_two = set(frameworks) <= {"tensorflow 2.x", "torch"}  # its adapter is numbered otherwise
        assumed = say(lang, "target.any") if of_two else because(DEFAULT_ADAPTER, "assumed")
        target.setdefault("adapter", assumed)
        target.setdefault("cann", say(lang, "target.any"))
        target.setdefault("soc", say(lang, "target.any"))
    if frameworks and not {"framework", "tensorflow", "torch"} & set(target):
        target["framework"] = because(say(lang, "list.and").join(frameworks), "inferred")
    if any(graph.framework == "tensorflow" for graph in graphs):
        from npulint.postprocess.operators import lists_used  # most runs see no graph

        target["operators"] = lists_used(graphs, lang)
    return dict(sorted(target.items()))


def _summary(told: _SortedFindings, files: Sequence[FileFacts], unread: Sequence[Problem], seconds: float) -> Summary:
    skipped = {problem.path for problem in unread if problem.fatal}
    everything = {file.path for file in files} | skipped
    severities = [one.severity for one in told.shown]
    return Summary(
        files=len(everything),
        read=len(everything) - len(skipped),
        skipped=len(skipped),
        errors=severities.count("error"),
        warnings=severities.count("warning"),
        notes=severities.count("note"),
        suppressed=len(told.suppressed),
        known=len(told.known),
        hidden=told.hidden,
        elsewhere=told.elsewhere,
        seconds=seconds,
    )
