"""Merges the results of a check and of a comparison into one."""

from __future__ import annotations

from collections.abc import Collection

import msgspec

from npulint.judge.catalogue.check import COMPARE, Catalogue
from npulint.judge.findings import (
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
"""Readiness items that depend on the reference, and the comparison items that decide them."""


def merge_results(checked: RunResult, compared: RunResult, catalogue: Catalogue) -> RunResult:
    """The `checked` result with the findings of comparison checks from `compared`."""
    codes = {check.code for check in catalogue.checks if check.family == COMPARE}
    more = [finding for finding in compared.findings if finding.code in codes]
    suppressed = [
        suppressed_finding for suppressed_finding in compared.suppressed if suppressed_finding.finding.code in codes
    ]
    return msgspec.structs.replace(
        checked,
        programs=[_answered(program, compared.comparison) for program in checked.programs],
        findings=sorted([*checked.findings, *more], key=lambda finding: (finding.path, finding.span, finding.code)),
        summary=_summed(checked.summary, compared.summary),
        notices=list(dict.fromkeys([*checked.notices, *compared.notices])),
        suppressed=[*checked.suppressed, *suppressed],
        baseline=_baseline(checked.baseline, compared.baseline, codes),
        comparison=compared.comparison,
    )


def _answered(program: ProgramSummary, comparison: Comparison | None) -> ProgramSummary:
    """A program whose readiness items that the comparison decides are no longer undetermined."""
    pairs = comparison.pairs if comparison is not None else ()
    items = {item.item: item for pair in pairs if pair.migrated == program.entry for item in pair.items}
    if not items:
        return program
    listed = (
        _decided(checklist_item, items.get(_ASKED_OF_BOTH.get(checklist_item.item, "")))
        for checklist_item in program.checklist
    )
    return msgspec.structs.replace(program, checklist=tuple(listed))


def _decided(item: ChecklistItem, compared: ComparedItem | None) -> ChecklistItem:
    if compared is None or compared.status in ("unknown", "unused") or item.status == "failed":
        return item
    if compared.status == "consistent":
        return msgspec.structs.replace(item, status="passed", evidence=None, look="")
    place = next(iter(compared.failures), None)
    return msgspec.structs.replace(item, status="failed", evidence=place, look="", failures=compared.failures)


def _summed(checked: Summary, compared: Summary) -> Summary:
    """The counts of both results; those of files come from the check."""
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
    """The baseline state of both results: each entry from the result that evaluated its check."""
    if checked is None or compared is None:
        return checked

    def both(ours: list[BaselineEntry], theirs: list[BaselineEntry]) -> list[BaselineEntry]:
        return [*(our for our in ours if our.code not in codes), *(their for their in theirs if their.code in codes)]

    return Baseline(
        checked.path,
        active=both(checked.active, compared.active),
        stale=both(checked.stale, compared.stale),
        not_evaluated=both(checked.not_evaluated, compared.not_evaluated),
        fixed=both(checked.fixed, compared.fixed),
    )
