"""The result of a check together with that of a comparison, as one answer of one run."""

from __future__ import annotations

from collections.abc import Collection

import msgspec

from npulint.catalogue.check import COMPARE, Catalogue
from npulint.findings import (
    Baseline,
    BaselineEntry,
    ChecklistItem,
    ComparedItem,
    Comparison,
    ProgramSummary,
    RunResult,
    Summary,
)

_ASKED_OF_BOTH = {
    "dataset": "data",
    "preprocessing": "preprocessing",
    "sharding": "sharding",
    "training_procedure": "training",
    "hyperparameters": "hyperparameters",
}
"""The items of a readiness list that ask for the reference, and those of a comparison that answer them."""


def merge_results(checked: RunResult, compared: RunResult, catalogue: Catalogue) -> RunResult:
    """What was `checked`, with what the checks that need a reference say of what was `compared`."""
    codes = {check.code for check in catalogue.checks if check.family == COMPARE}
    more = [one for one in compared.findings if one.code in codes]
    silenced = [one for one in compared.suppressed if one.finding.code in codes]
    return msgspec.structs.replace(
        checked,
        programs=[_answered(program, compared.comparison) for program in checked.programs],
        findings=sorted([*checked.findings, *more], key=lambda one: (one.path, one.span, one.code)),
        summary=_summed(checked.summary, compared.summary),
        notices=list(dict.fromkeys([*checked.notices, *compared.notices])),
        suppressed=[*checked.suppressed, *silenced],
        baseline=_baseline(checked.baseline, compared.baseline, codes),
        comparison=compared.comparison,
    )


def _answered(program: ProgramSummary, comparison: Comparison | None) -> ProgramSummary:
    """A program whose readiness list no longer leaves open what the comparison with its reference tells."""
    pairs = comparison.pairs if comparison is not None else ()
    told = {item.item: item for pair in pairs if pair.migrated == program.entry for item in pair.items}
    if not told:
        return program
    listed = (_decided(one, told.get(_ASKED_OF_BOTH.get(one.item, ""))) for one in program.checklist)
    return msgspec.structs.replace(program, checklist=tuple(listed))


def _decided(item: ChecklistItem, told: ComparedItem | None) -> ChecklistItem:
    if told is None or told.status == "unknown" or item.status == "failed":
        return item
    if told.status == "consistent":
        return msgspec.structs.replace(item, status="passed", evidence=None, look="")
    place = next(iter(told.failures), None)
    return msgspec.structs.replace(item, status="failed", evidence=place, look="", failures=told.failures)


def _summed(checked: Summary, compared: Summary) -> Summary:
    """The numbers of both; the files are those of the check."""
    return msgspec.structs.replace(
        checked,
        errors=checked.errors + compared.errors,
        warnings=checked.warnings + compared.warnings,
        notes=checked.notes + compared.notes,
        suppressed=checked.suppressed + compared.suppressed,
        known=checked.known + compared.known,
        hidden=checked.hidden + compared.hidden,
        seconds=checked.seconds + compared.seconds,
    )


def _baseline(checked: Baseline | None, compared: Baseline | None, codes: Collection[str]) -> Baseline | None:
    """How the baseline stands to both: of an entry the run tells whose check spoke in it."""
    if checked is None or compared is None:
        return checked

    def both(ours: list[BaselineEntry], theirs: list[BaselineEntry]) -> list[BaselineEntry]:
        return [*(one for one in ours if one.code not in codes), *(one for one in theirs if one.code in codes)]

    return Baseline(
        checked.path,
        active=both(checked.active, compared.active),
        stale=both(checked.stale, compared.stale),
        not_evaluated=both(checked.not_evaluated, compared.not_evaluated),
        fixed=both(checked.fixed, compared.fixed),
    )
