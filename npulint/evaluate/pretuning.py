"""One side of a comparison: a program with what was found by it, for the checks and the pre-tuning checklist."""

from __future__ import annotations

from collections.abc import Iterable

from npulint.assemble.index import Index, table
from npulint.assemble.programs import Program
from npulint.catalogue.check import LEFT, Catalogue
from npulint.facts.model import Fact
from npulint.findings import ChecklistItem


def sided(program: Program, side: str, facts: Iterable[Fact] = ()) -> Program:
    """The program as the side ``reference`` or ``migrated`` of a comparison that found `facts` (of the kinds difference
    and ingredient). The program itself stays as it is."""
    attrs = {**program.attrs, "side": side, "trains": "yes"}
    if attrs["migration"] == LEFT:  # it was chosen to be compared
        attrs["migration"] = "none"
    index = Index([*program.index.tables, table(facts)])
    return Program(program.entry, program.root, program.paths, index, attrs)


def unanswered(catalogue: Catalogue, lang: str, because: str) -> list[ChecklistItem]:
    """The pre-tuning checklist of programs that were not compared."""
    return [
        ChecklistItem(item.key, (item.text.get(lang) or item.text["en"]).title, "unknown", look=because)
        for item in catalogue.pretuning
    ]
