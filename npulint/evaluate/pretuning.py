"""One side of a comparison: a program with what was found by it, for the checks and the pre-tuning checklist."""

from __future__ import annotations

from collections.abc import Iterable

from npulint.assemble.index import Index, table
from npulint.assemble.programs import Program
from npulint.catalogue.check import LEFT, Catalogue
from npulint.evaluate.checks import ProgramVerdict, evaluate
from npulint.facts.model import Fact
from npulint.findings import ChecklistItem

STATUSES = {"passed": "consistent", "failed": "differs", "unknown": "unknown"}
"""What the answers to a question of the checklist are called in a comparison."""


def sided(program: Program, side: str, facts: Iterable[Fact] = ()) -> Program:
    """The program as the side ``reference`` or ``migrated`` of a comparison that found `facts` (of the kinds difference
    and ingredient). The program itself stays as it is."""
    attrs = {**program.attrs, "side": side, "trains": "yes"}
    if attrs["migration"] == LEFT:  # it was chosen to be compared
        attrs["migration"] = "none"
    index = Index([*program.index.tables, table(facts)])
    return Program(program.entry, program.root, program.paths, index, attrs)


def pretuning(catalogue: Catalogue, program: Program, target: dict[str, str], lang: str) -> ProgramVerdict:
    """What the checks of comparisons and the pre-tuning checklist say of one side (see `sided`). Of the checklist these
    are the items that concern the side, apart from what findings decide (see `status`)."""
    return evaluate(catalogue, program, target, lang)


def unanswered(catalogue: Catalogue, lang: str, because: str) -> list[ChecklistItem]:
    """The pre-tuning checklist of programs that were not compared."""
    return [
        ChecklistItem(item.key, (item.text.get(lang) or item.text["en"]).title, "unknown", look=because)
        for item in catalogue.pretuning
    ]


def status(item: ChecklistItem) -> str:
    """How an item stands: ``differs`` when something fails it, else as its own questions say: ``consistent``,
    ``differs`` or ``unknown``."""
    return "differs" if item.failures else STATUSES[item.status]
