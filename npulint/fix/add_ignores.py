"""Suppression comments for all findings of a run, as file changes; `npulint.fix.write` writes the files."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence

import msgspec

from npulint.discover.paths import local
from npulint.discover.safe_open import read_regular
from npulint.fix.ignoring import Style, ignore_here, style_of
from npulint.fix.model import FixRefused
from npulint.fix.source import SourceDocument
from npulint.judge.findings import Finding
from npulint.judge.fix_results import FileChange

REASON = "TODO: say why"
"""The placeholder for the reason: ASCII, because a comment must not change the encoding of a file."""
_LIMIT = 20_000_000  # bytes


class AddedIgnores(msgspec.Struct, frozen=True):
    """The changed files, the number of suppressed findings by path, and the findings that no comment can suppress."""

    files: list[FileChange] = []
    suppressed: dict[str, int] = {}
    left: list[Finding] = []


def add_ignores(findings: Iterable[Finding], named: Sequence[str]) -> AddedIgnores:
    """A comment at the place of each finding, in files below the `named` paths. Comments that are there get further
    names. Each edit is proved to suppress its finding and to leave the code as it is."""
    by_path: dict[str, list[Finding]] = {}
    for finding in findings:
        by_path.setdefault(finding.path, []).append(finding)
    files: list[FileChange] = []
    left: list[Finding] = []
    suppressed: dict[str, int] = {}
    for path, some in sorted(by_path.items()):
        root = _root(path, named)
        change, without = _changed(path, some, root) if root else (None, some)
        files += [change] if change is not None else []
        left += without
        suppressed[path] = len(some) - len(without)
    return AddedIgnores(files, suppressed, left)


def _root(path: str, named: Sequence[str]) -> str:
    """The folder that the file must lie in: the named path, or that of the named file; empty if none is above it."""
    place = os.path.abspath(local(path))
    folders = {os.path.abspath(one) for one in named}
    if place in folders:
        return os.path.dirname(place)
    return max((folder for folder in folders if place.startswith(os.path.join(folder, ""))), key=len, default="")


def _changed(path: str, findings: Sequence[Finding], root: str) -> tuple[FileChange | None, list[Finding]]:
    """The change of one file, None if there is none, and the findings without a comment."""
    location = local(path)
    try:
        before = read_regular(location, _LIMIT)
    except OSError:
        return None, list(findings)
    style = style_of(path, before[:200])
    after, left = before, list[Finding]()
    for finding in sorted(findings, key=lambda one: (-one.span.line, one.code)):  # lines above keep their numbers
        commented = _with_comment(path, finding, after, style)
        if commented is None:
            left.append(finding)
        else:
            after = commented
    change = FileChange(path, before, after, location=location, root=root) if after != before else None
    return change, left


def _with_comment(path: str, finding: Finding, data: bytes, style: Style | None) -> bytes | None:
    """The bytes of a file with a comment about a finding; None where no comment can be."""
    try:
        document = SourceDocument(path, style.kind if style else "", data)
        alone = msgspec.structs.replace(finding, related=(), places=1, wording="")
        edit = ignore_here(alone, document.text.text.split("\n"), style, REASON)
        return document.edited([edit]) if edit is not None else None
    except FixRefused:
        return None
