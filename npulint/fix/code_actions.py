"""The edits that mend one finding, for people who look before they leap, and those of a whole file at once."""

from __future__ import annotations

import codecs
import os
from collections.abc import Callable, Iterable

from npulint.discover.kinds import is_mixlist, kinds_by_content, kinds_of
from npulint.facts.model import Span
from npulint.findings import Edit, Finding
from npulint.fix.fix_pass import Documents, made, proposals
from npulint.fix.imports import united
from npulint.fix.model import FixRefused, Plan
from npulint.fix.plan import planned
from npulint.fix.source import SourceDocument


class Files:
    """Files as they are now, each decoded once. `bytes_of` gives the bytes at a path, None where there are none; `only`
    is the one file that may change (empty: any)."""

    def __init__(self, bytes_of: Callable[[str], bytes | None], only: str = "") -> None:
        self._bytes_of = bytes_of
        self._only = only
        self._known: dict[str, SourceDocument] = {}

    def __call__(self, path: str) -> SourceDocument:
        """The file. Raises `FixRefused`: ``not-named``, ``unreadable``, ``encoding``."""
        if self._only and path != self._only:
            raise FixRefused("not-named")
        known = self._known.get(path)
        if known is None:
            data = self._bytes_of(path)
            if data is None:
                raise FixRefused("unreadable")
            known = self._known[path] = SourceDocument(path, _kind(path, data), data)
        return known


def _kind(path: str, data: bytes) -> str:
    """As what a file is read."""
    kinds = kinds_of(os.path.basename(path)) or kinds_by_content(data.removeprefix(codecs.BOM_UTF8))
    if kinds == ("mixlist",) and not is_mixlist(data):
        return "other"
    return next(iter(kinds), "other")


def edits_of(finding: Finding, documents: Documents, unsafe: bool) -> tuple[Edit, ...]:
    """What mends the places that a finding speaks for, as far as that can be done; with `unsafe` also what may change
    results. Raises `FixRefused` when nothing of it can be."""
    if finding.fix.edits and not finding.fix.changes:
        if finding.fix.applicability == "unsafe" and not unsafe:
            raise FixRefused("nothing")
        return finding.fix.edits
    edits, reasons = _worked_out([finding], documents, unsafe)
    if not edits:
        raise FixRefused(next(iter(reasons), "nothing"))
    return edits


def safe_edits(findings: Iterable[Finding], documents: Documents) -> tuple[Edit, ...]:
    """All safe fixes of some findings that go together."""
    return _worked_out(findings, documents, False)[0]


def _worked_out(findings: Iterable[Finding], documents: Documents, unsafe: bool) -> tuple[tuple[Edit, ...], list[str]]:
    wanted, denied = proposals(findings, unsafe, documents, planned, _willing)
    done = made(wanted, documents, united)
    edits = tuple(edit for path in done.data for edit in done.edits[path])
    return edits, [one.reason for one in (*denied, *done.denied)]


def _willing(finding: Finding, path: str, place: Span, plan: Plan) -> str:
    return ""
