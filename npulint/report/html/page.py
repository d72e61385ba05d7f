"""State shared by the sections of the page: findings, their anchors, and the source."""

from __future__ import annotations

import posixpath
from collections.abc import Sequence
from typing import TYPE_CHECKING
from urllib.parse import quote

from npulint.facts.model import Span
from npulint.judge.findings import Evidence, Finding, RunResult
from npulint.judge.settings import RANK
from npulint.report.html.markup import ShortPaths, attribute, escape_html, identifier
from npulint.report.html.source import Syntax, line_of
from npulint.report.view import ReportView, visible

if TYPE_CHECKING:
    from npulint.judge.fix_results import FixResult

CARDS = 20_000  # displayed findings; more make the page too large


class Page:
    """One report. `shown` are the findings that it counts, `carried` the `CARDS` most severe ones, which it
    displays."""

    def __init__(self, result: RunResult, view: ReportView) -> None:
        self.result = result
        self.view = view
        self.lang = view.lang
        self.shown = visible(result, view)
        self.carried = _most_severe(self.shown)
        self.paths = ShortPaths(_paths(result, view.applied))
        self._syntax: tuple[str, Syntax] | None = None
        self._ids: list[str] = []
        self._at: dict[tuple[str, str, Span], str] = {}
        taken: set[str] = set()
        for number, finding in enumerate(self.carried):
            name = identifier("f", finding.fingerprint or f"{number}")
            if name in taken:
                name = identifier("f", f"{finding.fingerprint}-{number}")
            taken.add(name)
            self._ids.append(name)
            self._at.setdefault((finding.code, finding.path, finding.span), name)

    def numbered(self) -> list[tuple[str, Finding]]:
        """The displayed findings with their card ids, in the order of the run."""
        return list(zip(self._ids, self.carried, strict=True))

    def place(self, path: str, line: int) -> str:
        """``path:line`` as HTML with line break opportunities after slashes."""
        return f"{escape_html(self.paths(path)).replace('/', '/<wbr>')}:{line}"

    def link(self, evidence: Evidence) -> str:
        """The place of evidence, linked to the finding there if displayed."""
        text = f'<span class="path">{self.place(evidence.path, evidence.span.line)}</span>'
        return self.link_as(evidence, text)

    def link_as(self, evidence: Evidence, label: str) -> str:
        """`label` (HTML), linked to the finding at the place of evidence if displayed."""
        target = self._at.get((evidence.code, evidence.path, evidence.span))
        return label if target is None else f'<a href="#{target}">{label}</a>'

    def finding(self, finding: Finding) -> str:
        """A link to the card of a finding."""
        return self.link(Evidence(finding.path, finding.span, finding.name, finding.code))

    def check(self, code: str, label: str) -> str:
        """A link to the findings of a check; `label` is HTML."""
        return f'<a href="#{attribute(identifier("check", code))}">{label}</a>'

    def syntax(self, path: str) -> Syntax:
        """The syntax of a file; the last one is kept, since cards are made in the order of files."""
        if self._syntax is None or self._syntax[0] != path:
            self._syntax = path, Syntax(path, self.view.lines(path))
        return self._syntax[1]

    def source(self, path: str, line: int) -> str:
        """The URL of a line in the repository or editor; empty if there is none."""
        place = posixpath.normpath(path.replace("\\", "/")) if path else ""
        if not self.view.source_url or not place or place.startswith(("/", "..")) or ":" in place.partition("/")[0]:
            return ""
        address = quote(place.encode("utf-8", "backslashreplace"), safe="/")
        return self.view.source_url.replace("{path}", address).replace("{line}", str(line))

    def line(self, path: str, number: int) -> str:
        """A line of source as code."""
        return line_of(path, self.view.lines(path), number)


def _most_severe(findings: Sequence[Finding]) -> list[Finding]:
    if len(findings) <= CARDS:
        return list(findings)
    order = sorted(range(len(findings)), key=lambda index: (-RANK[findings[index].severity], index))
    return [findings[index] for index in sorted(order[:CARDS])]


def _paths(result: RunResult, applied: FixResult | None) -> set[str]:
    mentioned = {finding.path for finding in result.findings} | {
        suppressed_finding.finding.path for suppressed_finding in result.suppressed
    }
    mentioned |= {place.path for finding in result.findings for place in finding.related}
    mentioned |= {edit.path for finding in result.findings for edit in finding.fix.edits}
    mentioned |= {problem.path for problem in result.unreadable}
    for program in result.programs:
        mentioned.add(program.entry)
        mentioned |= {item.evidence.path for item in program.checklist if item.evidence is not None}
        mentioned |= {failure.path for item in program.checklist for failure in item.failures}
    mentioned |= {graph.path for graph in result.graphs} | {file.path for run in result.runs for file in run.files}
    if result.step is not None:
        mentioned |= {operator.path for operator in result.step.operators}
    if result.comparison is not None:
        from npulint.report.compared.rows import paths

        mentioned |= paths(result.comparison)
    if applied is not None:
        mentioned |= {fix.path for fix in applied.fixed} | {refusal.path for refusal in applied.refused}
    return mentioned
