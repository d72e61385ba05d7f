"""Converts results to diagnostics by URI: documents, notebook cells, other files, configuration files."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence

import msgspec
from lsprotocol.types import Diagnostic, DiagnosticSeverity

from npulint.discover.paths import Boundary
from npulint.facts.model import Span
from npulint.hosts.server.configuration import ConfigProblem
from npulint.hosts.server.diagnostics import SOURCE, Abilities, diagnostic
from npulint.hosts.server.document_store import DocumentStore, StoredResult
from npulint.hosts.server.positions import TextPositions
from npulint.hosts.server.publishing import shown_elsewhere
from npulint.hosts.server.uris import uri_of
from npulint.judge.findings import Finding
from npulint.judge.source_lines import FileLines, cell_line


class PublishedDiagnostics(msgspec.Struct, frozen=True):
    """The diagnostics of one URI. `version` is that of the document, None when it is not open."""

    uri: str
    version: int | None
    diagnostics: list[Diagnostic]


class Screen:
    """Converts the results of a document store for one client. Create one per run, because it caches lines."""

    def __init__(self, store: DocumentStore, encoding: str, can: Abilities) -> None:
        self._store = store
        self._encoding = encoding
        self._can = can
        near = [*store.folders, *(os.path.dirname(document.path) for document in store.documents.values())]
        self._lines = FileLines(boundary=Boundary(near))
        self._open: dict[str, StoredResult] = {result.seen.path: result for result in store.results.values()}

    def opened(self) -> Iterator[PublishedDiagnostics]:
        """The diagnostics of every open document with a result."""
        for uri in self._store.documents:
            result = self._store.results.get(uri)
            if result is not None:
                yield from self.of(result)

    def of(self, result: StoredResult) -> list[PublishedDiagnostics]:
        """The diagnostics of one open document; of a notebook, of each cell."""
        if result.seen.cells:
            return self._cells(result)
        own = [self._problem(problem, result.seen.lines) for problem in self._problems().get(result.seen.path, ())]
        return [PublishedDiagnostics(result.seen.uri, result.seen.version, [*own, *self.diagnostics(result.findings)])]

    def elsewhere(self) -> Iterator[PublishedDiagnostics]:
        """The diagnostics of files that are not open, by path."""
        store, problems = self._store, self._problems()
        opened = {document.path for document in store.documents.values()}
        others = shown_elsewhere(store.answer.findings, opened, store.answer.near, store.client.scope)
        for path in sorted({*others, *problems} - opened):
            own = [self._problem(problem, self._lines(path)) for problem in problems.get(path, ())]
            yield PublishedDiagnostics(uri_of(path), None, [*own, *self.diagnostics(others.get(path, ()))])

    def diagnostics(self, findings: Sequence[Finding]) -> list[Diagnostic]:
        return [diagnostic(finding, self.sight, self._can) for finding in findings]

    def sight(self, path: str) -> tuple[str, TextPositions, Sequence[str]]:
        """URI, positions and lines of a file as checked."""
        path = os.path.abspath(path)
        result = self._open.get(path)
        lines = self._lines(path) if result is None else result.seen.lines
        uri = uri_of(path) if result is None else result.seen.uri
        return uri, TextPositions(lines, self._encoding), lines

    def _cells(self, result: StoredResult) -> list[PublishedDiagnostics]:
        seen = result.seen
        texts: dict[str, list[str]] = {}
        versions: dict[str, int] = {}
        for number, (address, version, _) in sorted(seen.cells.items()):
            texts.setdefault(address, []).append(cell_line(seen.lines[number - 1]))
            versions[address] = version
        diagnostics: dict[str, list[Diagnostic]] = {address: [] for address in texts}
        for finding, shown in zip(result.findings, self.diagnostics(result.findings), strict=True):
            at = seen.cells.get(finding.span.line)
            if at is not None:
                shown.range = TextPositions(texts[at[0]], self._encoding).range(in_cell(finding.span, seen.cells))
                diagnostics[at[0]].append(shown)
        return [PublishedDiagnostics(address, versions[address], diagnostics[address]) for address in texts]

    def _problems(self) -> dict[str, list[ConfigProblem]]:
        by_path: dict[str, list[ConfigProblem]] = {}
        for problem in self._store.answer.problems:
            if problem.path:
                by_path.setdefault(problem.path, []).append(problem)
        return by_path

    def _problem(self, problem: ConfigProblem, lines: Sequence[str]) -> Diagnostic:
        end = len(lines[problem.line - 1]) + 1 if 0 < problem.line <= len(lines) else 1
        span = Span(problem.line, problem.column, problem.line, max(end, problem.column))
        return Diagnostic(
            range=TextPositions(lines, self._encoding).range(span),
            message=problem.message,
            severity=DiagnosticSeverity.Error,
            code="configuration",
            source=SOURCE,
        )


def in_cell(span: Span, cells: Mapping[int, tuple[str, int, int]]) -> Span:
    """A span in a notebook file as a span in the cell where it begins."""
    address, _, line = cells[span.line]
    last = cells.get(span.end_line)
    if last is None or last[0] != address:
        return Span(line, span.column, line, span.column)
    return Span(line, span.column, last[2], span.end_column)
