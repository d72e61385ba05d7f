"""The passes from raw results to reported findings. Each is a function from run data to new run data with one purpose.
`npulint.judge.postprocess.finalize` lists them in order."""

from __future__ import annotations

import posixpath
from collections import Counter
from collections.abc import Callable, Iterable, Sequence

import msgspec

from npulint.core.lazy_regex import lazy_compile
from npulint.core.texts import count, say
from npulint.facts.model import FileFacts, Problem
from npulint.judge.evaluate.applicability import applicability
from npulint.judge.findings import (
    CONFIDENCES,
    ChecklistItem,
    Evidence,
    Finding,
    Fix,
    ProgramSummary,
    Related,
    SuppressedFinding,
)
from npulint.judge.postprocess.baseline import compared_with
from npulint.judge.postprocess.comments import suppress
from npulint.judge.postprocess.engine import of_problems
from npulint.judge.postprocess.identity import identified, pages
from npulint.judge.postprocess.merge_advice import merge_advice
from npulint.judge.postprocess.merge_programs import merge_programs
from npulint.judge.postprocess.record import RunContext, RunData, finding_key, severity_of
from npulint.judge.postprocess.select import specificity, unknown_words
from npulint.judge.settings import RANK, Settings

# The order of programs in reports: what the project is about first, its tests and tools last.

_APART = frozenset(("test", "documentation", "ci", "benchmark"))
_STARTED = ("console_script", "launcher", "")
_MAIN = frozenset(("train", "main", "__main__", "pretrain", "finetune", "run"))
_TRAINS = lazy_compile(
    r"(?:^|_)(?:pre|re|post)?(?:train|tune)(?:ing|er)?(?=_|\d|$)|(?:^|_)fine_?tun(?:e|ing)(?=_|\d|$)"
)
_SIDE = lazy_compile(
    r"(?:^|/)(?:tools?|utils?|contrib|extensions?|third_?party|community|research(?:_projects)?|deprecated|legacy)/"
)


def ranked(programs: Sequence[ProgramSummary]) -> list[ProgramSummary]:
    """The programs as a maintainer would list them: those that train before others, tests, benchmarks and tools that
    no launcher starts last; launchers before those that have a counterpart for the NPU; then scripts before trainings
    that are only configured, those that installed commands start, those whose name says that they are the main script,
    those with most launchers and variants (``train_net_lora.py`` of ``train_net.py``), those in few folders, with the
    shortest name, with most files."""
    variants = Counter(prefix for program in programs for prefix in _prefixes(_stem(program)))
    return sorted(programs, key=lambda program: _rank(program, variants[_stem(program)]))


def _stem(program: ProgramSummary) -> str:
    return posixpath.basename(program.entry).rpartition(".")[0].lower()


def _prefixes(stem: str) -> list[str]:
    """The stem and its beginnings: ``train``, ``train_net`` and ``train_net_lora`` of the last."""
    parts = stem.split("_")
    return ["_".join(parts[: end + 1]) for end in range(len(parts))]


def _rank(program: ProgramSummary, variants: int) -> tuple[object, ...]:
    stem = _stem(program)
    apart = 2 if program.file_role in _APART else 1 if program.file_role else 0
    return (
        apart == 2,
        "train" not in program.roles,
        program.counterpart != "",
        apart,
        _SIDE.search(program.entry) is not None and not program.launches,
        program.configured_by != "",
        program.started_by != _STARTED[0],
        stem not in _MAIN,
        -program.launches - variants,
        program.entry.count("/"),
        _TRAINS.search(stem) is None,
        len(stem),
        -program.files,
        program.entry,
    )


changed = msgspec.structs.replace


Pass = Callable[[RunData, RunContext], RunData]
"""One step from the raw results to what is reported."""


def note_unknown_words(data: RunData, context: RunContext) -> RunData:
    """Add notices about ignored words that name no check. Raises `ConfigError` when a selected word names none."""
    return changed(data, notices=[*data.notices, *unknown_words(context.settings, context.rules)])


def note_unusable_lists(data: RunData, context: RunContext) -> RunData:
    """Add notices about operator lists that could not be used."""
    if not data.raw.unlisted:
        return data
    from npulint.judge.postprocess.operators import unusable  # rarely needed

    return changed(data, notices=[*data.notices, *unusable(data.raw.unlisted, context.lang)])


def add_unreadable_files(data: RunData, context: RunContext) -> RunData:
    """Add a finding for every existing file that could not be read."""
    unread = _unread(data.raw.problems, named_files(data, context))
    findings = of_problems([problem for problem in unread if problem.reason != "missing"], context.lang)
    return changed(data, unread=unread, findings=[*data.findings, *findings])


def keep_selected(data: RunData, context: RunContext) -> RunData:
    """Keep only findings of selected checks."""
    return changed(data, findings=[finding for finding in data.findings if context.selection.includes(finding)])


def apply_severities(data: RunData, context: RunContext) -> RunData:
    """Give findings the severities of the settings."""
    table = context.settings.severity
    if not table:
        return data
    levels = {finding.code: severity_of(finding, table) for finding in data.findings}
    return changed(
        data,
        findings=[changed(finding, severity=levels[finding.code] or finding.severity) for finding in data.findings],
    )


def place_run_findings(data: RunData, context: RunContext) -> RunData:
    """Place run findings at whole source lines, or at the artifact where the source has no such line."""
    if not data.has_runs:
        return data
    from npulint.judge.postprocess.merge_run_findings import at_their_lines  # rarely needed

    return changed(data, findings=at_their_lines(data.findings, context.lines))


def merge_graphs(data: RunData, context: RunContext) -> RunData:
    """Merge findings of several graphs about the same problem."""
    if not data.has_graphs:
        return data
    from npulint.judge.postprocess.merge_graph_findings import united_graphs  # rarely needed

    recorded = {graph.path for graph in data.raw.graphs if graph.form.startswith("live_")}
    return changed(data, findings=united_graphs(data.findings, context.lines, context.lang, recorded))


def remove_duplicates(data: RunData, context: RunContext) -> RunData:
    """Merge findings of several programs at one place, and sort."""
    return changed(data, findings=unite(data.findings))


def add_fingerprints(data: RunData, context: RunContext) -> RunData:
    """Add fingerprints and documentation URLs."""
    return changed(data, findings=_identified(data.findings, context))


def apply_comments(data: RunData, context: RunContext) -> RunData:
    """Remove findings that comments suppress, and collect complaints about the comments."""
    left = suppress(
        data.findings, data.raw.files, context.rules, context.selection.includes, context.lines, context.lang
    )
    complaints = [complaint for complaint in left.complaints if context.selection.includes(complaint)]
    return changed(data, findings=left.kept, suppressed=left.suppressed, complaints=complaints)


def apply_per_file_ignores(data: RunData, context: RunContext) -> RunData:
    """Remove findings, and complaints about comments, that the settings ignore in their files."""
    ignores = context.per_file
    if not ignores:
        return data
    left = [kept for kept in map(ignores.left, data.findings) if kept is not None]
    return changed(
        data, findings=left, complaints=[complaint for complaint in data.complaints if ignores.left(complaint)]
    )


def merge_graphs_with_source(data: RunData, context: RunContext) -> RunData:
    """Merge graph findings with source findings, and findings of one operator at many places."""
    if not data.has_graphs:
        return data
    from npulint.judge.postprocess.merge_graph_findings import gathered, merge_graph_findings

    kept, suppressed = merge_graph_findings(data.findings, data.suppressed, context.catalogue, context.lang)
    return changed(data, findings=gathered(kept), suppressed=suppressed)


def merge_runs_with_source(data: RunData, context: RunContext) -> RunData:
    """Merge run findings with source findings."""
    if not data.has_runs:
        return data
    from npulint.judge.postprocess.merge_run_findings import merge_run_findings

    findings, suppressed = merge_run_findings(data.findings, data.suppressed, context.lang)
    return changed(data, findings=findings, suppressed=suppressed)


def decide_checklists(data: RunData, context: RunContext) -> RunData:
    """Decide readiness items; suppressed findings and deselected checks fail none."""
    partly = {finding.fingerprint for finding in data.findings}  # only some of their places are suppressed
    suppressed = (
        suppressed_finding.finding
        for suppressed_finding in data.suppressed
        if suppressed_finding.finding.fingerprint not in partly
    )
    quiet = {finding_key(finding) for finding in suppressed} - {finding_key(finding) for finding in data.findings}

    def reports(place: Evidence) -> bool:
        if place.code not in context.codes or (place.code, place.path, place.span) in quiet:
            return False
        return not context.per_file or not context.per_file.ignores(context.by_code[place.code], place.path)

    return changed(data, programs=settled(data.programs, reports, context.lang))


def merge_source(data: RunData, context: RunContext) -> RunData:
    """Merge findings of source checks on one line that are about one change."""
    from npulint.judge.postprocess.merge_source_findings import merge_source_findings

    return changed(data, findings=merge_source_findings(data.findings, context.catalogue, context.lang))


def rank_programs(data: RunData, context: RunContext) -> RunData:
    """Sort the programs: what the project is about first."""
    return changed(data, programs=ranked(data.programs))


def add_complaints(data: RunData, context: RunContext) -> RunData:
    """Add complaints about suppression comments, except in context files."""
    complaints = unite(complaint for complaint in data.complaints if complaint.path not in context.scope.context_only)
    findings = sorted([*data.findings, *_identified(complaints, context)], key=place_of)
    return changed(data, findings=findings, complaints=[])


def merge_findings_of_programs(data: RunData, context: RunContext) -> RunData:
    """Merge findings of several programs that share places."""
    codes = context.catalogue.told_once("program")
    findings = merge_programs(data.findings, codes, data.programs)
    return changed(data, findings=sorted(findings, key=place_of))


def merge_advice_of_projects(data: RunData, context: RunContext) -> RunData:
    """Merge advice that is the same all over a project."""
    findings = merge_advice(data.findings, context.catalogue, data.programs)
    return changed(data, findings=sorted(findings, key=place_of))


def apply_baseline(data: RunData, context: RunContext) -> RunData:
    """Remove findings that the baseline accepts. Raises `ConfigError` for an unreadable baseline."""
    codes, context_only = context.codes, context.scope.context_only
    compared = compared_with(context.settings, data.findings, data.raw.files, codes, context.lines, context_only)
    accepted = [SuppressedFinding(finding, "baseline") for finding in compared.known]
    return changed(data, findings=sorted(compared.new, key=place_of), known=accepted, baseline=compared.baseline)


def account_for_verdict(data: RunData, context: RunContext) -> RunData:
    """Note the findings that the verdict is from, before any are hidden."""
    return changed(data, accounted=data.findings)


def limit_to_scope(data: RunData, context: RunContext) -> RunData:
    """Keep findings in the scope of the run, and count others that would be shown."""
    scope, settings = context.scope, context.settings
    return changed(
        data,
        findings=sorted((scope.shown(finding) for finding in data.findings if scope.in_scope(finding)), key=place_of),
        suppressed=[
            suppressed_finding for suppressed_finding in data.suppressed if scope.in_scope(suppressed_finding.finding)
        ],
        known=[suppressed_finding for suppressed_finding in data.known if scope.in_scope(suppressed_finding.finding)],
        elsewhere=sum(_visible(finding, settings) and not scope.in_scope(finding) for finding in data.findings),
    )


def apply_thresholds(data: RunData, context: RunContext) -> RunData:
    """Keep findings that reach the minimum severity and confidence, and count the others."""
    shown = [finding for finding in data.findings if reported(finding, context.settings)]
    return changed(data, findings=shown, hidden=len(data.findings) - len(shown))


def note_other_files(data: RunData, context: RunContext) -> RunData:
    """Add a notice why findings in context files are reported."""
    paths = [finding.path for finding in data.findings if finding.path in context.scope.context_only]
    if not paths:
        return data
    key = "beyond.change" if context.settings.consequences_since else "beyond"
    listed = say(context.lang, "list.and").join(dict.fromkeys(paths))
    return changed(data, notices=[*data.notices, count(context.lang, key, len(paths), list=listed)])


def drop_unfixable(data: RunData, context: RunContext) -> RunData:
    """Remove the fixes of checks that the settings call unfixable."""
    words = context.settings.unfixable
    findings = [
        left_as_it_is(finding) if any(specificity(word, finding) for word in words) else finding
        for finding in data.findings
    ]
    return changed(data, findings=findings)


def named_files(data: RunData, context: RunContext) -> list[FileFacts]:
    """The files in the scope of the run."""
    return [file for file in data.raw.files if file.path not in context.scope.context_only]


def unite(findings: Iterable[Finding]) -> list[Finding]:
    """The findings sorted, with those of several programs at one place merged: the first one stays, with the related
    locations and the fixes of the others added, or without fixes if one of these programs lacks the finding, because
    the fix would break it."""
    unique: dict[tuple[object, ...], Finding] = {}
    further: dict[tuple[object, ...], dict[Related, None]] = {}  # the related locations of merged findings, in order
    for finding in findings:
        key = (finding.code, finding.path, finding.span, finding.message)
        first = unique.setdefault(key, finding)
        if first is not finding:
            both = bool(first.fix.changes and finding.fix.changes)
            merged = _joined(first, finding) if both else left_as_it_is(first)
            unique[key] = changed(merged, distance=min(first.distance, finding.distance))
            if finding.related:
                further.setdefault(key, dict.fromkeys(first.related)).update(dict.fromkeys(finding.related))
    for place, related in further.items():
        unique[place] = changed(unique[place], related=tuple(related))
    return sorted(unique.values(), key=place_of)


def left_as_it_is(finding: Finding) -> Finding:
    """The finding without automatic fixes."""
    return changed(finding, fix=Fix(finding.fix.text, because=finding.fix.because)) if finding.fix.changes else finding


def reported(finding: Finding, settings: Settings) -> bool:
    """Whether the finding reaches the thresholds. Without `min_severity` every severity does; reports for people hide
    notes themselves."""
    if CONFIDENCES.index(finding.confidence) < CONFIDENCES.index(settings.min_confidence):
        return False
    return RANK[finding.severity] >= RANK[settings.min_severity or "note"]


def place_of(finding: Finding) -> tuple[object, ...]:
    """The sort key of findings in reports."""
    return finding.path, finding.span.line, finding.span.column, finding.code, finding.span, finding.message


def _joined(first: Finding, other: Finding) -> Finding:
    """A finding with additional fixes of another."""
    more = tuple(change for change in other.fix.changes if change not in first.fix.changes)
    if not more:
        return first
    changes = (*first.fix.changes, *more)
    return changed(first, fix=changed(first.fix, changes=changes, applicability=applicability(changes)))


def _identified(findings: Sequence[Finding], context: RunContext) -> list[Finding]:
    page = pages(context.settings.docs_url, context.lang, context.catalogue.foreign)
    return identified(findings, context.lines, page)


def _unread(problems: Sequence[Problem], files: Sequence[FileFacts]) -> list[Problem]:
    """The problems of discovery and of files, without duplicates, by path."""
    unique = {(p.path, p.reason, p.span): p for p in (*problems, *(p for file in files for p in file.problems))}
    return sorted(unique.values(), key=lambda p: (p.path, p.span, p.reason))


def _visible(finding: Finding, settings: Settings) -> bool:
    """Whether the report in the format of the settings would show the finding."""
    return reported(finding, settings) and RANK[finding.severity] >= RANK[settings.shown_from(settings.format)]


def settled(programs: Sequence[ProgramSummary], counts: Callable[[Evidence], bool], lang: str) -> list[ProgramSummary]:
    """The programs with decided items, by those of their places that still `counts`."""
    return [
        msgspec.structs.replace(program, checklist=tuple(_decided(item, counts, lang) for item in program.checklist))
        for program in programs
    ]


def _decided(item: ChecklistItem, counts: Callable[[Evidence], bool], lang: str) -> ChecklistItem:
    """The item failed at the most severe of its places; undetermined where only findings that may not run are left."""
    live = tuple(place for place in item.failures if counts(place))
    doubts = tuple(place for place in item.doubts if counts(place))
    if live:
        return changed(item, status="failed", evidence=live[0], look="", failures=live, doubts=doubts)
    if doubts:
        key = "readiness.doubt.runs" if doubts[0].surely_runs else "readiness.doubt"
        look = say(lang, key, check=doubts[0].check)
        return changed(item, status="unknown", evidence=doubts[0], look=look, failures=(), doubts=doubts)
    return changed(item, look=item.look if item.status == "unknown" else "", failures=(), doubts=())
