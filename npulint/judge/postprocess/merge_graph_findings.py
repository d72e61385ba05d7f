"""Merges graph findings with source findings about the same problem, or links them.

A graph finding has a `subject`, and its `program` is the graph file. Its place is in that file, or at the source line
that built the operator.
"""

from __future__ import annotations

import posixpath
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import lru_cache

import msgspec

from npulint.core.lazy_regex import lazy_compile
from npulint.core.texts import say
from npulint.facts.model import Span
from npulint.judge.catalogue.check import Catalogue
from npulint.judge.findings import CONFIDENCES, SEVERITIES, Finding, Related, SuppressedFinding
from npulint.judge.source_lines import LineProvider

_NAMES = lazy_compile(r"[A-Za-z0-9_]+")
_APART = 3  # places of one operator up to which findings stay separate
_BUILT = 3  # source places listed per graph finding


def of_graph(finding: Finding) -> bool:
    """Whether this is a graph finding."""
    return bool(finding.subject)


def in_source(finding: Finding) -> bool:
    """Whether this is a graph finding placed at the source line that built the operator."""
    return of_graph(finding) and finding.path != finding.program


def united_graphs(
    findings: Sequence[Finding], lines: LineProvider, lang: str, recorded: Collection[str] = ()
) -> list[Finding]:
    """The findings with equal ones of several graphs merged: at one source line, or with equal texts in one folder
    (checkpoints of one training). Keeps the most severe or most detailed one, which names the other graph files, except
    `recorded` graphs, which have none. Source places become whole lines, because graphs have no columns."""
    groups: dict[tuple[object, ...], list[Finding]] = {}
    before: Counter[tuple[object, ...]] = Counter()  # equal findings within one graph
    for finding in filter(of_graph, findings):
        key = _same_problem_key(finding)
        groups.setdefault((*key, before[finding.path, key]), []).append(finding)
        before[finding.path, key] += not in_source(finding)
    heads = {id(_most_severe(group)): group for group in groups.values()}
    left = [finding for finding in findings if not of_graph(finding) or id(finding) in heads]

    def united(head: Finding) -> Finding:
        places = {other.program: Span() if in_source(head) else other.span for other in heads[id(head)]}
        others = {path: span for path, span in places.items() if path not in (head.path, *recorded)}
        return _seen_in(widened(head, lines), others, lang)

    return [united(finding) if id(finding) in heads else finding for finding in left]


def _same_problem_key(finding: Finding) -> tuple[object, ...]:
    """The key of graph findings that report the same problem."""
    if in_source(finding):
        return finding.code, finding.path, finding.span.line, finding.subject
    return finding.code, posixpath.dirname(finding.path), finding.subject, finding.message


def _most_severe(group: Sequence[Finding]) -> Finding:
    def rank(finding: Finding) -> tuple[int, int, bool]:
        return SEVERITIES.index(finding.severity), CONFIDENCES.index(finding.confidence), finding.span.line > 1

    return max(sorted(group, key=lambda finding: finding.path), key=rank)


def _seen_in(finding: Finding, graphs: Mapping[str, Span], lang: str) -> Finding:
    places = tuple(Related(path, graphs[path], say(lang, "graphs.seen")) for path in sorted(graphs))
    related = (*places, *finding.related) if in_source(finding) else (*finding.related, *places)
    return msgspec.structs.replace(finding, related=related) if places else finding


def widened(finding: Finding, lines: LineProvider) -> Finding:
    """A finding without columns, extended to its whole source line."""
    span, text = finding.span, lines(finding.path)
    if span != Span.at(span.line) or finding.path.endswith(".ipynb") or not span.line <= len(text):
        return finding
    line = text[span.line - 1]
    first, end = len(line) - len(line.lstrip()) + 1, len(line.rstrip()) + 1
    return msgspec.structs.replace(finding, span=Span(span.line, first, span.line, end)) if first < end else finding


def merge_graph_findings(
    kept: Sequence[Finding], suppressed: Sequence[SuppressedFinding], catalogue: Catalogue, lang: str
) -> tuple[list[Finding], list[SuppressedFinding]]:
    """The findings and suppressed findings with graph findings merged into source findings about the same line. The
    source finding stays, with the higher severity of both, and names the graphs. Only where it is a mere note, the
    graph finding may stay instead (see `_outdone`). A comment that suppresses the source finding also suppresses the
    graph finding."""
    graphs = [finding for finding in kept if in_source(finding)]
    if not graphs:
        return list(kept), list(suppressed)
    pairs = GraphSourcePairs(catalogue)
    near = _by_path(
        [*kept, *(suppressed_finding.finding for suppressed_finding in suppressed)],
        {finding.path for finding in graphs},
    )
    by_finding = {id(suppressed_finding.finding): suppressed_finding for suppressed_finding in suppressed}
    covered: dict[int, list[Finding]] = {}
    more: list[SuppressedFinding] = []
    gone: set[int] = set()
    for graph in graphs:
        source = pairs.counterpart(graph, near.get(graph.path, ()))
        if source is None:
            continue
        gone.add(id(graph))
        if id(source) in by_finding:
            more.append(SuppressedFinding(graph, "comment", by_finding[id(source)].reason))
        else:
            covered.setdefault(id(source), []).append(graph)
    outdone = {
        id(finding) for finding in kept if id(finding) in covered and _outdone(finding, covered[id(finding)], graphs)
    }
    gone = (gone | outdone) - {id(graph) for source_id in outdone for graph in covered[source_id]}
    left = [finding for finding in kept if id(finding) not in gone]
    return [
        _confirmed(finding, covered[id(finding)], lang) if id(finding) in covered else finding for finding in left
    ], [
        *suppressed,
        *more,
    ]


def _outdone(source: Finding, graphs: Sequence[Finding], run: Sequence[Finding]) -> bool:
    """Whether more severe graph findings cover every place of a note from source; those of the whole `run` about the
    same operator count too. A note with fixes is kept."""
    if source.severity != "note" or source.fix.changes or any(graph.severity == "note" for graph in graphs):
        return False
    lines = {(graph.path, graph.span.line) for graph in graphs}
    named = {
        (finding.path, finding.span.line, _operator(finding.subject)) for finding in run if finding.severity != "note"
    }

    def covered(related: Related) -> bool:
        place = (related.path, related.span.line)
        return place in lines or any((*place, word) in named for word in _mentioned(related.message))

    others = source.related[: source.places - 1]
    return (source.path, source.span.line) in lines and all(map(covered, others))


def _by_path(findings: Iterable[Finding], paths: set[str]) -> dict[str, list[Finding]]:
    path: dict[str, list[Finding]] = {}
    for finding in findings:
        if finding.path in paths and not of_graph(finding) and finding.artifact_location is None:
            path.setdefault(finding.path, []).append(finding)
    return path


def _confirmed(source: Finding, graphs: Sequence[Finding], lang: str) -> Finding:
    severity = max((source.severity, *(finding.severity for finding in graphs)), key=SEVERITIES.index)
    confidence = max((source.confidence, *(finding.confidence for finding in graphs)), key=CONFIDENCES.index)
    places: list[Related] = []
    for graph in graphs:
        head, *rest = graph.related or (Related(graph.path, graph.span, ""),)
        text = say(lang, "graphs.confirms", message=graph.message)
        places += [msgspec.structs.replace(head, message=text), *rest]
    related = (*places, *source.related)
    return msgspec.structs.replace(source, severity=severity, confidence=confidence, related=related, wording="")


def gathered(findings: Sequence[Finding]) -> list[Finding]:
    """The findings with graph findings about one operator at many source places merged into the first, the others as
    related locations: a large model repeats the same call."""
    groups: dict[tuple[str, ...], list[Finding]] = {}
    for finding in filter(in_source, findings):
        if not finding.fix.changes:
            key = (
                finding.program,
                finding.code,
                finding.subject,
                finding.severity,
                finding.confidence,
                finding.fix.text,
            )
            groups.setdefault(key, []).append(finding)
    heads: dict[int, Finding] = {}
    gone: set[int] = set()
    for group in groups.values():
        if len(group) > _APART:
            first, *others = sorted(group, key=lambda finding: (finding.path, finding.span))
            more = tuple(Related(other.path, other.span, other.subject) for other in others)
            places = sum(finding.places for finding in group)
            heads[id(first)] = msgspec.structs.replace(first, related=(*more, *first.related), places=places)
            gone.update(map(id, others))
    return [heads.get(id(finding), finding) for finding in findings if id(finding) not in gone]


def related_to_source(findings: Sequence[Finding], catalogue: Catalogue, lang: str) -> list[Finding]:
    """The findings of one project, graph findings with the places of matching source findings as related locations; for
    graphs without line information."""
    source = [finding for finding in findings if not of_graph(finding) and finding.artifact_location is None]
    if not source:
        return list(findings)
    pairs = GraphSourcePairs(catalogue)
    return [
        _built_by(finding, source, pairs, lang) if of_graph(finding) and finding.path == finding.program else finding
        for finding in findings
    ]


def _built_by(graph: Finding, source: Sequence[Finding], pairs: GraphSourcePairs, lang: str) -> Finding:
    same = sorted(
        (finding for finding in source if pairs.same(graph, finding)),
        key=lambda finding: (finding.path, finding.span, finding.code),
    )
    places = {(finding.path, finding.span): finding for finding in reversed(same)}
    if not same or len({finding.program for finding in same}) > 1:
        return graph
    built = (places[key] for key in sorted(places)[:_BUILT])
    more = tuple(Related(finding.path, finding.span, say(lang, "graphs.built", name=finding.name)) for finding in built)
    return msgspec.structs.replace(graph, related=(*graph.related, *more))


class GraphSourcePairs:
    """Decides which graph and source findings match: the graph check names the other check (`joins`), or both have the
    same topic and operator name."""

    def __init__(self, catalogue: Catalogue) -> None:
        self._joins: Mapping[str, Sequence[str]] = {check.code: check.joins for check in catalogue.checks}

    def same(self, graph: Finding, source: Finding) -> bool:
        """Whether the two findings report the same problem."""
        if source.code in self._joins.get(graph.code, ()):
            return True
        return source.topic == graph.topic and _operator(graph.subject) in _mentioned(source.message)

    def counterpart(self, graph: Finding, sources: Iterable[Finding]) -> Finding | None:
        """The source finding at the same line that reports the same problem: by operator name first, then in the order
        of `joins`; None without one."""
        line, operator = graph.span.line, _operator(graph.subject)
        near = [source for source in sources if source.span.line <= line <= max(source.span.line, source.span.end_line)]

        def strange(finding: Finding) -> int:
            words = _mentioned(finding.message)
            return 0 if operator in words else 1 if any(word.startswith(operator) for word in words) else 2

        same = [finding for finding in near if self.same(graph, finding)]
        joins = self._joins.get(graph.code, ())
        first = {code: place for place, code in enumerate(joins)}
        order = [
            (strange(finding), first.get(finding.code, len(joins)), _lines_of(finding), finding.span, finding.code)
            for finding in same
        ]
        return same[order.index(min(order))] if same else None


def _lines_of(finding: Finding) -> int:
    return finding.span.end_line - finding.span.line


def _operator(name: str) -> str:
    """The normalized operator name: equal for ``aten.huber_loss`` and ``HuberLoss``."""
    parts = name.split(".")
    return _plain(parts[1] if len(parts) > 1 else name)


@lru_cache(maxsize=4096)
def _mentioned(text: str) -> frozenset[str]:
    return frozenset(map(_plain, _NAMES.findall(text)))


def _plain(word: str) -> str:
    return word.replace("_", "").casefold()
