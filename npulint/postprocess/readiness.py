"""Decides readiness items after suppression: suppressed and deselected findings fail none."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec

from npulint.findings import ChecklistItem, Evidence, ProgramSummary


def settled(programs: Sequence[ProgramSummary], counts: Callable[[Evidence], bool]) -> list[ProgramSummary]:
    """The programs with decided items: an item failed at the most severe of its places that still `counts`."""
    return [
        msgspec.structs.replace(program, checklist=tuple(_decided(item, counts) for item in program.checklist))
        for program in programs
    ]


def _decided(item: ChecklistItem, counts: Callable[[Evidence], bool]) -> ChecklistItem:
    live = tuple(place for place in item.failures if counts(place))
    if live:
        return msgspec.structs.replace(item, status="failed", evidence=live[0], look="", failures=live)
    return msgspec.structs.replace(item, look=item.look if item.status == "unknown" else "", failures=())
