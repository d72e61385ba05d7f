"""Edits for quick fixes, computed for the text in the editor."""

from __future__ import annotations

import codecs
from collections.abc import Callable, Sequence

import msgspec

from npulint.judge.findings import Edit, Finding

TextOf = Callable[[str], str | None]
"""From a path to the text in the editor or on disk; None without one."""


class Offer(msgspec.Struct, frozen=True):
    """Edits that fix a finding, and whether they are safe."""

    edits: tuple[Edit, ...]
    safe: bool


def offers(finding: Finding, text_of: TextOf) -> list[Offer]:
    """The fixes of a finding: the safe part, and all of it if that needs unsafe edits."""
    fix = finding.fix
    kinds = {change.applicability for change in fix.changes} or ({fix.applicability} if fix.edits else set())
    if not kinds:
        return []
    from npulint.fix.code_actions import DecodedFiles, edits_of
    from npulint.fix.model import FixRefused

    files = DecodedFiles(_bytes(text_of))
    found: list[Offer] = []
    for word in ("safe", "unsafe"):
        if word in kinds:
            try:
                found.append(Offer(edits_of(finding, files, word == "unsafe"), word == "safe"))
            except FixRefused:
                continue
    return found


def all_safe(findings: Sequence[Finding], text_of: TextOf) -> Sequence[Edit]:
    """All safe, compatible fixes of the findings of one file, without those that change other files."""
    fixable = [finding for finding in findings if finding.fix.edits or finding.fix.changes]
    if not fixable:
        return ()
    from npulint.fix.code_actions import DecodedFiles, safe_edits

    return safe_edits(fixable, DecodedFiles(_bytes(text_of), only=fixable[0].path))


def _bytes(text_of: TextOf) -> Callable[[str], bytes | None]:
    """A function from path to UTF-8 bytes, their coding declaration adjusted, so that they decode whatever encoding the
    text declares."""

    def bytes_of(path: str) -> bytes | None:
        text = text_of(path)
        return None if text is None else codecs.BOM_UTF8 + text.removeprefix("\ufeff").encode("utf-8", "replace")

    return bytes_of
