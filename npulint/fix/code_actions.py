"""The edits for a single finding (editor quick fixes) and all safe edits of a file."""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterable

import msgspec

from npulint.discover.kinds import is_mixlist, kinds_by_content, kinds_of
from npulint.discover.safe_open import read_regular
from npulint.facts.model import Span
from npulint.fix.fix_pass import Documents, made, proposals
from npulint.fix.imports import merged_imports
from npulint.fix.model import FixRefused, Plan
from npulint.fix.plan import planned
from npulint.fix.source import SourceDocument
from npulint.judge.findings import Edit, Finding, RunResult
from npulint.judge.settings import Settings
from npulint.read.files import LIMIT


class DecodedFiles:
    """The current files, each decoded once. `bytes_of` returns the bytes of a path, None if missing; `only` is the one
    file that may change (empty: any)."""

    def __init__(self, bytes_of: Callable[[str], bytes | None], only: str = "") -> None:
        self._bytes_of = bytes_of
        self._only = only
        self._known: dict[str, SourceDocument] = {}

    def __call__(self, path: str) -> SourceDocument:
        """The document at a path. Raises `FixRefused`: ``not-named``, ``unreadable``, ``encoding``."""
        if self._only and path != self._only:
            raise FixRefused("not-named")
        source_document = self._known.get(path)
        if source_document is None:
            data = self._bytes_of(path)
            if data is None:
                raise FixRefused("unreadable")
            source_document = self._known[path] = SourceDocument(path, _kind(path, data), data)
        return source_document


def _kind(path: str, data: bytes) -> str:
    """The kind that a file is edited as."""
    kinds = kinds_of(path) or kinds_by_content(data.removeprefix(codecs.BOM_UTF8))
    if kinds == ("mixlist",) and not is_mixlist(data):
        return "other"
    return next(iter(kinds), "other")


def edits_of(finding: Finding, documents: Documents, unsafe: bool) -> tuple[Edit, ...]:
    """The edits that fix the places of a finding as far as possible; with `unsafe`, unsafe fixes too. Raises
    `FixRefused` if nothing can be fixed."""
    if finding.fix.edits and not finding.fix.changes:
        if finding.fix.applicability == "unsafe" and not unsafe:
            raise FixRefused("nothing")
        return finding.fix.edits
    edits, reasons = _worked_out([finding], documents, unsafe)
    if not edits:
        raise FixRefused(next(iter(reasons), "nothing"))
    return edits


def safe_edits(findings: Iterable[Finding], documents: Documents) -> tuple[Edit, ...]:
    """All compatible safe fixes of some findings."""
    return _worked_out(findings, documents, False)[0]


def _worked_out(findings: Iterable[Finding], documents: Documents, unsafe: bool) -> tuple[tuple[Edit, ...], list[str]]:
    proposed, denied = proposals(findings, unsafe, documents, lambda _: planned, _willing)
    done = made(proposed, documents, merged_imports)
    edits = tuple(edit for path in done.data for edit in done.edits[path])
    return edits, [refused_fix.reason for refused_fix in (*denied, *done.denied)]


def _willing(finding: Finding, path: str, place: Span, plan: Plan) -> None:
    return None


# The edits of findings, for reports that show them.


def with_edits(result: RunResult, settings: Settings) -> RunResult:
    """The result with the fix edits of each finding, computed for the current files."""
    files = DecodedFiles(_reading(settings.piped()))
    findings: list[Finding] = []
    for finding in result.findings:
        if finding.fix.changes:
            try:
                edits = edits_of(finding, files, unsafe=True)
            except FixRefused:
                edits = ()
            finding = msgspec.structs.replace(finding, fix=msgspec.structs.replace(finding.fix, edits=edits))
        findings.append(finding)
    return msgspec.structs.replace(result, findings=findings)


def _reading(piped: dict[str, bytes]) -> Callable[[str], bytes | None]:
    def bytes_of(path: str) -> bytes | None:
        if path in piped:
            return piped[path]
        try:
            return read_regular(path, LIMIT)
        except (OSError, ValueError):
            return None

    return bytes_of
