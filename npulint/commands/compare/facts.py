"""Differences as facts that checks query."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, cast

from npulint.commands.compare.evidence import EvidenceAnswer, PartEvidence
from npulint.facts.attributes import Flag, attribute, flag
from npulint.facts.comparison.difference import Difference, SideValue
from npulint.facts.kinds import fact_kind
from npulint.facts.model import Fact, Span
from npulint.facts.recipe import ITEM_OF, Item, Side

Change = Literal["changed", "removed", "added", "reordered"]
NONE = "-"
"""The value of a side that lacks the thing."""


class ComparisonFact(Fact, dict=True):
    """A fact about a value or step that was compared."""

    _compared: Difference
    _place: SideValue

    @property
    def name(self) -> str:
        """The part of the training config."""
        return self._compared.part

    @property
    def path(self) -> str:
        """The path of the file."""
        return self._place.path

    @property
    def span(self) -> Span:
        """Where it is written."""
        return self._place.span

    @attribute
    def item(self) -> Item:
        """The item of the pre-tuning checklist that covers it."""
        return ITEM_OF[self._compared.part]


@fact_kind("difference", names=ITEM_OF)
class DifferenceFact(ComparisonFact, dict=True):
    """Two programs differ in a part of their training config; the name is the part (`learning_rate`, `layer`,
    `transform` …: `npulint/facts/recipe.py`). The place is in the migrated program, if it has one."""

    @attribute
    def change(self) -> Change:
        """How they differ; removed and added are seen from the migrated program."""
        return cast("Change", self._compared.change)  # what is equal or undetermined has no such fact

    @attribute
    def what(self) -> str:
        """The operation or setting."""
        return self._compared.what

    @attribute
    def argument(self) -> str:
        """The argument of the operation, or `-`."""
        return self._compared.argument or NONE

    @attribute
    def reference(self) -> str:
        """The value in the reference, or `-`."""
        return _text(self._compared.reference)

    @attribute
    def migrated(self) -> str:
        """The value in the migrated program, or `-`."""
        return _text(self._compared.migrated)

    @attribute
    def numeric(self) -> bool:
        """Whether both values are numbers."""
        return all(map(_is_number, (_text(self._compared.reference), _text(self._compared.migrated))))

    @attribute
    def reference_place(self) -> str:
        """Where the reference has it, as `path:line`, or `-`."""
        difference = self._compared
        return _place(difference.reference or (difference.near if difference.migrated is None else None))

    @attribute
    def migrated_place(self) -> str:
        """Where the migrated program has it, or would have it, as `path:line`, or `-`."""
        return _place(self._compared.migrated or self._compared.near)

    @attribute
    def certain(self) -> bool:
        """Whether they certainly differ."""
        return self._compared.certain

    @attribute
    def adapter(self) -> bool:
        """Whether the NPU requires the change."""
        return self._compared.adapter

    @attribute
    def evaluates(self) -> bool:
        """Whether it is in code that only evaluates."""
        return self._compared.evaluates


@fact_kind("ingredient", names=ITEM_OF)
class IngredientFact(ComparisonFact, dict=True):
    """A value or step of a training config was compared; the name is the part of the config. Each side has its
    own fact."""

    side: Side
    """The side that it is on."""

    @attribute
    def same(self) -> Flag:
        """Whether it is the same on both sides."""
        change = self._compared.change
        return flag(None if change == "unknown" else change == "none")


@fact_kind("compared_part", names=ITEM_OF)
class PartFact(Fact, dict=True):
    """A part of the training config was looked for in both programs; the name is the part."""

    _seen: PartEvidence

    @property
    def name(self) -> str:
        """The part of the training config."""
        return self._seen.part

    @property
    def path(self) -> str:
        """The path of the file."""
        return self._seen.place.path if self._seen.place is not None else ""

    @property
    def span(self) -> Span:
        """Where it is written."""
        return self._seen.place.span if self._seen.place is not None else Span()

    @attribute
    def item(self) -> Item:
        """The item of the pre-tuning checklist that covers it."""
        return ITEM_OF[self._seen.part]

    @attribute
    def answer(self) -> EvidenceAnswer:
        """The result: same, differs, note (a difference that the NPU requires), unknown, found (on some side, and not
        comparable), or unused (on either side)."""
        return self._seen.answer

    @attribute
    def in_reference(self) -> bool:
        """Whether the reference has it."""
        return self._seen.in_reference

    @attribute
    def by_trainer(self) -> bool:
        """Whether an argument of a training framework switches it on in the reference."""
        return self._seen.by_trainer


def difference_facts(differences: Iterable[Difference]) -> list[Fact]:
    """One fact of the kind ``difference`` for each difference."""
    return [
        DifferenceFact(difference, difference.place)
        for difference in differences
        if difference.change not in ("none", "unknown") and difference.place is not None
    ]


def ingredient_facts(differences: Iterable[Difference]) -> list[Fact]:
    """One fact of the kind ``ingredient`` for each side of each compared value."""
    facts: list[Fact] = []
    for difference in differences:
        if difference.reference is not None:
            facts.append(IngredientFact(difference, difference.reference, "reference"))
        if difference.migrated is not None:
            facts.append(IngredientFact(difference, difference.migrated, "migrated"))
    return facts


def part_facts(part_evidences: Iterable[PartEvidence]) -> list[Fact]:
    """One fact of the kind ``compared_part`` for each part."""
    return [PartFact(part_evidence) for part_evidence in part_evidences]


def _text(mark: SideValue | None) -> str:
    return NONE if mark is None or not mark.text else mark.text


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _place(mark: SideValue | None) -> str:
    return NONE if mark is None else f"{mark.path}:{mark.span.line}"
