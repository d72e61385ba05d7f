"""Converts findings to LSP diagnostics."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

import msgspec
from lsprotocol.types import (
    CodeDescription,
    Diagnostic,
    DiagnosticRelatedInformation,
    DiagnosticSeverity,
    DiagnosticTag,
    Location,
    Range,
)

from npulint.facts.model import Span
from npulint.hosts.server.positions import TextPositions
from npulint.judge.findings import Finding
from npulint.report.terminal import escape_control_chars

SOURCE = "npulint"
_SEVERITY = {
    "error": DiagnosticSeverity.Error,
    "warning": DiagnosticSeverity.Warning,
    "note": DiagnosticSeverity.Information,
}
_FADED = "unused-suppression"
_OUTDATED = "deprecated_api"
_RELATED = 20  # related locations per finding; editors show all of them

Sight = Callable[[str], tuple[str, TextPositions, Sequence[str]]]
"""From an absolute path to URI, positions and lines."""


class Abilities(msgspec.Struct, frozen=True):
    """The optional diagnostic features that the client supports."""

    tags: tuple[DiagnosticTag, ...] = ()
    related: bool = False
    links: bool = False


def diagnostic(finding: Finding, sight: Sight, can: Abilities) -> Diagnostic:
    """The diagnostic of a finding. Its `data` identifies the finding in code action requests."""
    related = None
    if can.related and finding.related:
        related = [
            DiagnosticRelatedInformation(
                Location(sight(r.path)[0], place(r.path, r.span, "", sight)), escape_control_chars(r.message)
            )
            for r in finding.related[:_RELATED]
        ]
    return Diagnostic(
        range=place(finding.path, finding.span, finding.name, sight),
        message=escape_control_chars(finding.message),
        severity=DiagnosticSeverity.Hint if finding.name == _FADED else _SEVERITY[finding.severity],
        code=finding.name,
        code_description=CodeDescription(finding.url) if can.links and finding.url else None,
        source=SOURCE,
        tags=[tag for tag in _tags(finding) if tag in can.tags] or None,
        related_information=related,
        data={
            "fingerprint": finding.fingerprint,
            "code": finding.code,
            "fix": {"text": finding.fix.text, "applicability": finding.fix.applicability},
        },
    )


def _tags(finding: Finding) -> list[DiagnosticTag]:
    tags = [DiagnosticTag.Unnecessary] if finding.name == _FADED else []
    return [*tags, DiagnosticTag.Deprecated] if finding.topic == _OUTDATED else tags


def place(path: str, span: Span, check: str, sight: Sight) -> Range:
    """The LSP range of a span. In a notebook opened as text, columns count in the code of a cell line, which the
    document holds as a JSON string."""
    _, places, lines = sight(path)
    if path.endswith(".ipynb") and check != "file-not-read":
        span = Span(
            span.line,
            _in_json(lines, span.line, span.column),
            span.end_line,
            _in_json(lines, span.end_line, span.end_column),
        )
    return places.range(span)


def _in_json(lines: Sequence[str], number: int, column: int) -> int:
    """The column in a line of a JSON file for a column in the text that the line encodes."""
    line = lines[number - 1] if 0 < number <= len(lines) else ""
    start = len(line) - len(line.lstrip())
    if not line.startswith('"', start):
        return column if start < column else start + 1
    at, rest = start + 1, column - 1
    while rest > 0 and at < len(line) and line[at] != '"':
        at, rest = at + _escaped(line, at), rest - 1
    return at + 1


def _escaped(line: str, at: int) -> int:
    """The number of characters in a JSON string that encode the character beginning at `at`."""
    if line[at] != "\\":
        return 1
    if line[at + 1 : at + 2] != "u":
        return 2
    pair = line[at : at + 12]
    try:
        wide = len(pair) == 12 and pair[6:8] == "\\u" and len(json.loads(f'"{pair}"')) == 1
    except ValueError:
        wide = False
    return 12 if wide else 6
