"""The edits behind the fixes that an editor is offered, worked out for the texts as they are shown there."""

from __future__ import annotations

import codecs
from collections.abc import Callable, Sequence

import msgspec

from npulint.findings import Edit, Finding

TextOf = Callable[[str], str | None]
"""The text that is shown of a file; None where there is none."""


class Offer(msgspec.Struct, frozen=True):
    """Edits that mend a finding, and whether what the code does stays the same."""

    edits: tuple[Edit, ...]
    safe: bool


def offers(finding: Finding, text_of: TextOf) -> list[Offer]:
    """How a finding can be mended: safely, as far as that goes, and wholly, if more can be done otherwise."""
    fix = finding.fix
    kinds = {change.applicability for change in fix.changes} or ({fix.applicability} if fix.edits else set())
    if not kinds:
        return []
    from npulint.fix.code_actions import Files, edits_of
    from npulint.fix.model import FixRefused

    files = Files(_bytes(text_of))
    found: list[Offer] = []
    for word in ("safe", "unsafe"):
        if word in kinds:
            try:
                found.append(Offer(edits_of(finding, files, word == "unsafe"), word == "safe"))
            except FixRefused:
                continue
    return found


def all_safe(findings: Sequence[Finding], text_of: TextOf) -> Sequence[Edit]:
    """Every safe fix of a file, whose findings these are, that goes together with the others and leaves other files
    alone."""
    mending = [one for one in findings if one.fix.edits or one.fix.changes]
    if not mending:
        return ()
    from npulint.fix.code_actions import Files, safe_edits

    return safe_edits(mending, Files(_bytes(text_of), only=mending[0].path))


def _bytes(text_of: TextOf) -> Callable[[str], bytes | None]:
    """Texts as files in UTF-8 that say so, whatever encoding they declare."""

    def bytes_of(path: str) -> bytes | None:
        text = text_of(path)
        return None if text is None else codecs.BOM_UTF8 + text.removeprefix("\ufeff").encode("utf-8", "replace")

    return bytes_of
