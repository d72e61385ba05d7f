"""Differences between two recipes, and what was found equal, as plain records."""

from __future__ import annotations

import msgspec

from npulint.facts.model import Span
from npulint.facts.recipe import Station


class SideValue(msgspec.Struct, frozen=True):
    """One side: the value as it is shown, where it is written, and the way that it came (empty: as it stands)."""

    text: str
    path: str
    span: Span
    stations: tuple[Station, ...] = ()


class Difference(msgspec.Struct, frozen=True):
    """One thing in which the programs differ, or (`change` is ``none``) do not. `part` is a word of
    `npulint.facts.recipe.ITEMS`, `what` names the operation or setting, `argument` the parameter that it is about.
    `change`: changed, removed, added, reordered, none or unknown (it cannot be told). A side that lacks it is None;
    `near` is then the place of the other program where it would stand. `count` places differ alike. `named`: it is
    about a value that has a name, wherever that is used."""

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
        """Where it is reported: in the migrated program where there is such a place."""
        return self.migrated or self.near or self.reference
