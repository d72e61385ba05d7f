"""A run and the source speak of the same thing: one finding for both, where the source can be mended.

A finding about a run is `shown` by an artifact. Its check names the checks of the source that say the same (`joins`).
Where one finding of these in the project fits, it stays, with the graver judgement of the two and what the run says as
a related place: its line is the one to change, and its comments and baselines hold. Where several fit alike nobody
knows which of them the run saw, and what a run says of several operators has several places: all stay as they are, and
the finding about the run, which alone knows what it costs, names their places.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

import msgspec

from npulint.catalogue.check import Catalogue
from npulint.data.op_apis import api_words, apis_of, plain
from npulint.facts.model import Span
from npulint.findings import CONFIDENCES, SEVERITIES, ArtifactLocation, Finding, MatchCandidate, Related, Silenced
from npulint.lazy_regex import lazy_compile
from npulint.postprocess.merge_graph_findings import of_graph, widened
from npulint.source_lines import LineProvider
from npulint.texts import say

_MOST = 24  # counterparts that a finding remembers
_QUOTED = lazy_compile(r"`([^`\n]{1,300})`")
_WORD = lazy_compile(r"[A-Za-z_]\w*")


def of_run(one: Finding) -> bool:
    """Whether a run says it."""
    return one.artifact_location is not None


def with_counterparts(
    findings: Sequence[Finding], catalogue: Catalogue, beside: Collection[str] | None = None
) -> list[Finding]:
    """The findings of one project, those about its run with the places of the findings about the source that may say
    the same: what stands in one of the files `beside` it, where these are known, or in none of Python."""
    joins = {one.code: one.joins for one in catalogue.checks if one.joins}
    source: dict[str, list[Finding]] = {}
    for one in findings:
        elsewhere = beside is not None and one.path.endswith(".py") and one.path not in beside
        if not of_run(one) and not of_graph(one) and not elsewhere:
            source.setdefault(one.code, []).append(one)
    return [_paired(one, source, joins.get(one.code, ())) for one in findings]


def _paired(run: Finding, source: Mapping[str, Sequence[Finding]], joins: Sequence[str]) -> Finding:
    shown = run.artifact_location
    if shown is None or not joins:
        return run
    ranks = {code: rank for rank, code in enumerate(reversed(joins))}
    found: dict[tuple[str, str, Span], int] = {}
    for one in (one for code in ranks for one in source.get(code, ())):
        fit = _fit(run, shown, one)
        if fit:
            found[one.code, one.path, one.span] = -fit * len(joins) - ranks[one.code]
    same = sorted((MatchCandidate(*place, rank) for place, rank in found.items()), key=_likelihood)
    return msgspec.structs.replace(run, artifact_location=msgspec.structs.replace(shown, same=tuple(same[:_MOST])))


def _likelihood(one: MatchCandidate) -> tuple[int, str, Span]:
    return one.rank, one.path, one.span


def _fit(run: Finding, shown: ArtifactLocation, source: Finding) -> int:
    """How well a finding about the source fits: 4 where it stands at the line that the artifact names, 3 at one that
    builds the operator, 2 where it is about the same operator, 1 where it may be, 0 where it surely is not."""
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
    other = named & api_words() if apis else named  # what is no operator (an option) may be anything that is named
    return 0 if other else 1


def _holds(one: Finding, path: str, line: int) -> bool:
    """Whether the line is one of the places that a finding speaks for."""
    places = [(one.path, one.span), *((place.path, place.span) for place in one.related[: one.places - 1])]
    return any(path == there and span.line <= line <= max(span.line, span.end_line) for there, span in places)


def _apis(operator: Iterable[str]) -> Iterable[str]:
    for name in operator:
        for names in apis_of(name):
            yield from (api.rpartition(".")[2] for api in names)


def at_their_lines(findings: Sequence[Finding], lines: LineProvider) -> list[Finding]:
    """The findings; one about a run that stands in the source stands at the whole line, or back at the artifact where
    the file has no such line (any more)."""
    return [
        _at_its_line(one, one.artifact_location, lines) if one.artifact_location is not None else one
        for one in findings
    ]


def _at_its_line(one: Finding, shown: ArtifactLocation, lines: LineProvider) -> Finding:
    if one.path == shown.path:
        return one
    text, number = lines(one.path), one.span.line
    if number <= len(text) and text[number - 1].strip():
        return widened(one, lines)
    related = tuple(place for place in one.related if (place.path, place.span) != (shown.path, shown.span))
    return msgspec.structs.replace(one, path=shown.path, span=shown.span, related=related)


def merge_run_findings(
    kept: Sequence[Finding], silenced: Sequence[Silenced], lang: str
) -> tuple[list[Finding], list[Silenced]]:
    """The findings where those about runs are one with those about the source that say the same; see above. What
    comments silence of all that fit, they silence for the run as well."""
    live, quiet = _by_place(kept), _by_place(one.finding for one in silenced)
    reasons = {id(one.finding): one.reason for one in silenced}
    told: dict[int, list[Finding]] = {}
    named: dict[int, list[Finding]] = {}
    gone: set[int] = set()
    more: list[Silenced] = []
    for run in filter(of_run, kept):
        fitting, dropped = _fitting(run.artifact_location, live, quiet)
        if len(fitting) == 1 and not _several(run):
            told.setdefault(id(fitting[0]), []).append(run)
            gone.add(id(run))
        elif fitting:
            named[id(run)] = fitting
        elif dropped and not _several(run):
            more.append(Silenced(run, "comment", reasons[id(dropped[0])]))
            gone.add(id(run))
    found = []
    for one in kept:
        if id(one) in told:
            found.append(_confirmed(one, told[id(one)], lang))
        elif id(one) in named:
            found.append(_explained(one, named[id(one)], lang))
        elif id(one) not in gone:
            found.append(one)
    return found, [*silenced, *more]


def _several(run: Finding) -> bool:
    return run.artifact_location is not None and run.artifact_location.several


_Places = Mapping[tuple[str, str, Span], Finding]


def _by_place(findings: Iterable[Finding]) -> _Places:
    found: dict[tuple[str, str, Span], Finding] = {}
    for one in findings:
        if not of_run(one) and not of_graph(one):
            found.setdefault((one.code, one.path, one.span), one)
    return found


def _fitting(shown: ArtifactLocation | None, live: _Places, quiet: _Places) -> tuple[list[Finding], list[Finding]]:
    """The likeliest counterparts that are left, and those of the same rank that are silenced."""
    rank: int | None = None
    fitting: list[Finding] = []
    dropped: list[Finding] = []
    for one in shown.same if shown is not None else ():
        place = (one.code, one.path, one.span)
        if rank is not None and one.rank != rank:
            break
        if place in live:
            fitting.append(live[place])
        elif place in quiet:
            dropped.append(quiet[place])
        rank = one.rank if fitting or dropped else None
    return fitting, dropped


def _confirmed(source: Finding, runs: Sequence[Finding], lang: str) -> Finding:
    severity = max((source.severity, *(one.severity for one in runs)), key=SEVERITIES.index)
    confidence = max((source.confidence, *(one.confidence for one in runs)), key=CONFIDENCES.index)
    places = [place for one in runs for place in _evidence(one, source, lang, one is runs[0])]
    known = {(place.path, place.span.line) for place in places}
    others = [place for place in source.related if (place.path, place.span.line) not in known]
    message = say(lang, "joined.measured", source=source.message, run=runs[0].message)
    return msgspec.structs.replace(
        source,
        severity=severity,
        confidence=confidence,
        message=message,
        related=(*places, *others),
        cost=max(one.cost for one in runs),
    )


def _evidence(run: Finding, source: Finding, lang: str, told: bool) -> Iterable[Related]:
    """What a run says, at its artifact, unless it is `told` by the finding itself, and the other places it names."""
    shown = run.artifact_location
    if shown is None:
        return
    said = "" if told else say(lang, "joined.said", message=run.message)
    message = say(lang, "joined.confirms", name=run.name, said=said)
    yield Related(shown.path, shown.span, message)
    if run.path != shown.path and not _holds(source, run.path, run.span.line):
        yield Related(run.path, run.span, say(lang, "joined.line"))
    for place in run.related:
        if (place.path, place.span) != (shown.path, shown.span) and not _holds(source, place.path, place.span.line):
            yield place


def _explained(run: Finding, sources: Sequence[Finding], lang: str) -> Finding:
    """A finding about a run with the places of the source that may be meant."""
    told = {(one.path, one.span.line): one for one in reversed(sources)}
    related = [one for one in run.related if (one.path, one.span.line) not in told]
    row = [one for one in related if run.artifact_location is not None and one.path == run.artifact_location.path]
    rest = [one for one in related if one not in row]
    places = (told[place] for place in sorted(told) if place != (run.path, run.span.line))
    more = (Related(one.path, one.span, say(lang, "joined.told", name=one.name)) for one in places)
    return msgspec.structs.replace(run, related=(*row, *more, *rest))
