"""One side of a comparison as a program, for comparison checks and the pre-tuning checklist."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from npulint.facts.model import Fact
from npulint.facts.recipe import Side
from npulint.judge.catalogue.check import LEFT, Catalogue
from npulint.judge.findings import ChecklistItem
from npulint.model.code.index import Index, table
from npulint.recognizers.programs import Program


def sided(program: Program, side: Side, facts: Iterable[Fact] = ()) -> Program:
    """A copy of the program as the side ``reference`` or ``migrated`` of a comparison, with `facts` (kinds difference
    and ingredient)."""
    fact = msgspec.structs.replace(program.fact, side=side, trains=True)
    if fact.migration == LEFT:  # named explicitly, so it counts
        fact.migration = "none"
    index = Index([*program.index.tables, table(facts)])
    return Program(program.entry, program.root, program.paths, index, fact)


def unanswered(catalogue: Catalogue, lang: str, because: str) -> list[ChecklistItem]:
    """The pre-tuning checklist of programs that were not compared, all items undetermined."""
    return [
        ChecklistItem(item.key, (item.text.get(lang) or item.text["en"]).title, "unknown", look=because)
        for item in catalogue.pretuning
    ]
