"""Merges run findings with source findings about the same problem.

A run finding has an `artifact_location`, and its check names the source checks that report the same problem (`joins`).
If exactly one of their findings matches best, it stays, with the higher severity of both and the run as related
location, because its line is to be changed and its comments and baseline entries apply; if it has no fixes, it gets
those of the run finding. If several match equally well, or the run finding covers several operators, all findings stay,
and the run finding, which has the cost, lists the others' places.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

import msgspec

from npulint.core.lazy_regex import lazy_compile
from npulint.core.texts import say
from npulint.data.op_apis import api_words, apis_of, plain
from npulint.facts.model import Span
from npulint.judge.catalogue.check import Catalogue
from npulint.judge.evaluate.applicability import applicability
from npulint.judge.findings import (
    CONFIDENCES,
    SEVERITIES,
    ArtifactLocation,
    Finding,
    MatchCandidate,
    Related,
    SuppressedFinding,
)
from npulint.judge.postprocess.merge_graph_findings import of_graph, widened
from npulint.judge.source_lines import LineProvider

_MOST = 24  # candidates kept per finding
_QUOTED = lazy_compile(r"`([^`\n]{1,300})`")
_WORD = lazy_compile(r"[A-Za-z_]\w*")


def of_run(finding: Finding) -> bool:
    """Whether this is a run finding."""
    return finding.artifact_location is not None


def with_counterparts(
    findings: Sequence[Finding], catalogue: Catalogue, related_files: Collection[str] | None = None
) -> list[Finding]:
    """The findings of one project, run findings with the places of source findings that may match: in one of the
    `related_files`, if known, or in a file that is not Python."""
    joins = {check.code: check.joins for check in catalogue.checks if check.joins}
    source: dict[str, list[Finding]] = {}
    for finding in findings:
        elsewhere = related_files is not None and finding.path.endswith(".py") and finding.path not in related_files
        if not of_run(finding) and not of_graph(finding) and not elsewhere:
            source.setdefault(finding.code, []).append(finding)
    return [_paired(run, source, joins.get(run.code, ())) for run in findings]


def _paired(run: Finding, source: Mapping[str, Sequence[Finding]], joins: Sequence[str]) -> Finding:
    shown = run.artifact_location
    if shown is None or not joins:
        return run
    ranks = {code: rank for rank, code in enumerate(reversed(joins))}
    ranked: dict[tuple[str, str, Span], int] = {}
    for finding in (finding for code in ranks for finding in source.get(code, ())):
        fit = _fit(run, shown, finding)
        if fit:
            ranked[finding.code, finding.path, finding.span] = -fit * len(joins) - ranks[finding.code]
    same = sorted((MatchCandidate(*place, rank) for place, rank in ranked.items()), key=_likelihood)
    return msgspec.structs.replace(run, artifact_location=msgspec.structs.replace(shown, same=tuple(same[:_MOST])))


def _likelihood(match_candidate: MatchCandidate) -> tuple[int, str, Span]:
    return match_candidate.rank, match_candidate.path, match_candidate.span


def _fit(run: Finding, shown: ArtifactLocation, source: Finding) -> int:
    """How well a source finding matches: 4 at the line that the artifact names, 3 at a line that builds the operator, 2
    about the same operator, 1 possibly, 0 not."""
    if run.path != shown.path and _holds(source, run.path, run.span.line):
        return 4
    if shown.exact:
        return 0
    if any(_holds(source, path, line) for path, line in shown.origins):
        return 3
    if not shown.operator:
        return 1
    apis = {plain(word) for word in _apis(shown.operator)}
    named = {plain(word) for text in _QUOTED.findall(source.message) for word in _WORD.findall(text)}
    if named & (apis | {plain(word) for word in shown.operator}):
        return 2
    other = named & api_words() if apis else named  # a name that is not an operator (an option) may match any name
    return 0 if other else 1


def _holds(finding: Finding, path: str, line: int) -> bool:
    """Whether the line is one of the places that a finding covers."""
    places = [
        (finding.path, finding.span),
        *((place.path, place.span) for place in finding.related[: finding.places - 1]),
    ]
    return any(path == there and span.line <= line <= max(span.line, span.end_line) for there, span in places)


def _apis(operator: Iterable[str]) -> Iterable[str]:
    for name in operator:
        for names in apis_of(name):
            yield from (api.rpartition(".")[2] for api in names)


def at_their_lines(findings: Sequence[Finding], lines: LineProvider) -> list[Finding]:
    """The findings; run findings in source cover the whole line, or return to the artifact where the line no longer
    exists."""
    return [
        _at_its_line(finding, finding.artifact_location, lines) if finding.artifact_location is not None else finding
        for finding in findings
    ]


def _at_its_line(finding: Finding, shown: ArtifactLocation, lines: LineProvider) -> Finding:
    if finding.path == shown.path:
        return finding
    text, number = lines(finding.path), finding.span.line
    if number <= len(text) and text[number - 1].strip():
        return widened(finding, lines)
    related = tuple(place for place in finding.related if (place.path, place.span) != (shown.path, shown.span))
    return msgspec.structs.replace(finding, path=shown.path, span=shown.span, related=related)


def merge_run_findings(
    kept: Sequence[Finding], suppressed: Sequence[SuppressedFinding], lang: str
) -> tuple[list[Finding], list[SuppressedFinding]]:
    """The findings and suppressed findings with run findings merged (see above). If comments suppress all matching
    source findings, the run finding is suppressed too."""
    live, suppressed_places = (
        _by_place(kept),
        _by_place(suppressed_finding.finding for suppressed_finding in suppressed),
    )
    reasons = {id(suppressed_finding.finding): suppressed_finding.reason for suppressed_finding in suppressed}
    covered: dict[int, list[Finding]] = {}
    named: dict[int, list[Finding]] = {}
    gone: set[int] = set()
    more: list[SuppressedFinding] = []
    for run in filter(of_run, kept):
        fitting, dropped = _fitting(run.artifact_location, live, suppressed_places)
        if len(fitting) == 1 and not _several(run):
            covered.setdefault(id(fitting[0]), []).append(run)
            gone.add(id(run))
        elif fitting:
            named[id(run)] = fitting
        elif dropped and not _several(run):
            more.append(SuppressedFinding(run, "comment", reasons[id(dropped[0])]))
            gone.add(id(run))
    findings = []
    for finding in kept:
        if id(finding) in covered:
            findings.append(_confirmed(finding, covered[id(finding)], lang))
        elif id(finding) in named:
            findings.append(_explained(finding, named[id(finding)], lang))
        elif id(finding) not in gone:
            findings.append(finding)
    return findings, [*suppressed, *more]


def _several(run: Finding) -> bool:
    return run.artifact_location is not None and run.artifact_location.several


_Places = Mapping[tuple[str, str, Span], Finding]


def _by_place(findings: Iterable[Finding]) -> _Places:
    place: dict[tuple[str, str, Span], Finding] = {}
    for finding in findings:
        if not of_run(finding) and not of_graph(finding):
            place.setdefault((finding.code, finding.path, finding.span), finding)
    return place


def _fitting(
    shown: ArtifactLocation | None, live: _Places, suppressed_places: _Places
) -> tuple[list[Finding], list[Finding]]:
    """The best matching findings that remain, and the suppressed ones of the same rank."""
    rank: int | None = None
    fitting: list[Finding] = []
    dropped: list[Finding] = []
    for match_candidate in shown.same if shown is not None else ():
        place = (match_candidate.code, match_candidate.path, match_candidate.span)
        if rank is not None and match_candidate.rank != rank:
            break
        if place in live:
            fitting.append(live[place])
        elif place in suppressed_places:
            dropped.append(suppressed_places[place])
        rank = match_candidate.rank if fitting or dropped else None
    return fitting, dropped


def _confirmed(source: Finding, runs: Sequence[Finding], lang: str) -> Finding:
    severity = max((source.severity, *(run.severity for run in runs)), key=SEVERITIES.index)
    confidence = max((source.confidence, *(run.confidence for run in runs)), key=CONFIDENCES.index)
    places = [place for run in runs for place in _evidence(run, source, lang, run is runs[0])]
    shown = {(place.path, place.span.line) for place in places}
    others = [place for place in source.related if (place.path, place.span.line) not in shown]
    message = say(lang, "merged.measured", source=source.message, run=runs[0].message)
    changes = source.fix.changes or next((run.fix.changes for run in runs if run.fix.changes), ())
    fix = msgspec.structs.replace(source.fix, changes=changes, applicability=applicability(changes))
    return msgspec.structs.replace(
        source,
        fix=fix if changes else source.fix,
        severity=severity,
        confidence=confidence,
        message=message,
        related=(*places, *others),
        cost=max(run.cost for run in runs),
        wording="",
    )


def _evidence(run: Finding, source: Finding, lang: str, covered: bool) -> Iterable[Related]:
    """The run as related location, with its message unless that of the finding has it (`covered`), and the places it
    names but the finding's own: of several that the finding covers, they tell which is meant."""
    shown = run.artifact_location
    if shown is None:
        return
    detail = "" if covered else say(lang, "merged.message", message=run.message)
    message = say(lang, "merged.confirms", name=run.name, detail=detail)
    yield Related(shown.path, shown.span, message)
    own = msgspec.structs.replace(source, places=1)
    if run.path != shown.path and not _holds(own, run.path, run.span.line):
        yield Related(run.path, run.span, say(lang, "merged.line"))
    for place in run.related:
        if (place.path, place.span) != (shown.path, shown.span) and not _holds(own, place.path, place.span.line):
            yield place


def _explained(run: Finding, sources: Sequence[Finding], lang: str) -> Finding:
    """A run finding with the possible source places as related locations."""
    covered = {(source.path, source.span.line): source for source in reversed(sources)}
    related = [related for related in run.related if (related.path, related.span.line) not in covered]
    row = [place for place in related if run.artifact_location is not None and place.path == run.artifact_location.path]
    rest = [place for place in related if place not in row]
    places = (covered[place] for place in sorted(covered) if place != (run.path, run.span.line))
    more = (Related(place.path, place.span, say(lang, "merged.cause", name=place.name)) for place in places)
    return msgspec.structs.replace(run, related=(*row, *more, *rest))
