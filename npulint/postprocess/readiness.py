"""The last word on readiness lists: what was silenced or deselected fails nothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec

from npulint.findings import ChecklistItem, Evidence, ProgramSummary


def settled(programs: Sequence[ProgramSummary], speaks: Callable[[Evidence], bool]) -> list[ProgramSummary]:
    """The programs with every item decided: it failed at the gravest place about which a check `speaks`."""
    return [
        msgspec.structs.replace(program, checklist=tuple(_decided(item, speaks) for item in program.checklist))
        for program in programs
    ]


def _decided(item: ChecklistItem, speaks: Callable[[Evidence], bool]) -> ChecklistItem:
    live = tuple(place for place in item.failures if speaks(place))
    if live:
        return msgspec.structs.replace(item, status="failed", evidence=live[0], look="", failures=live)
    return msgspec.structs.replace(item, look=item.look if item.status == "unknown" else "", failures=())
