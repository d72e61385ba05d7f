"""Records of the differences, and of compared equal values, between two training configs."""

from __future__ import annotations

import msgspec

from npulint.facts.model import Span
from npulint.facts.recipe import ProvenanceStep


class SideValue(msgspec.Struct, frozen=True):
    """One side of a difference: the value as displayed, where it is written, and its provenance (empty: written in
    place)."""

    text: str
    path: str
    span: Span
    provenance: tuple[ProvenanceStep, ...] = ()


class Difference(msgspec.Struct, frozen=True):
    """One thing that differs or (`change` is ``none``) is equal. `part` is a part in `npulint.facts.recipe.ITEMS`,
    `what` the operation or setting, `argument` its parameter. `change`: changed, removed, added, reordered, none or
    unknown (undetermined). A side that lacks it is None; `near` is then where it would be in that program. `count`
    places have the same difference. `named`: the value has a name of its own, wherever it is used."""

    part: str
    change: str
    what: str
    argument: str = ""
    reference: SideValue | None = None
    migrated: SideValue | None = None
    near: SideValue | None = None
    certain: bool = True
    adapter: bool = False
    count: int = 1
    function: str = ""
    named: bool = False
    evaluates: bool = False

    @property
    def place(self) -> SideValue | None:
        """The place to report: in the migrated program if it has one."""
        return self.migrated or self.near or self.reference
