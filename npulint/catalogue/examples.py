"""Runs the examples of checks and of readiness items: the tests that each of them carries."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec

from npulint.catalogue.check import Check, Example, Item, ItemExample
from npulint.catalogue.readiness import ABSENT, ENTRY
from npulint.findings import ChecklistItem, Finding, ProgramSummary

Judge = Callable[[dict[str, str], dict[str, str]], list[Finding]]
"""Runs the whole catalogue over files (name to text) with target versions. Paths of the findings are the
names of the files."""

Review = Callable[[dict[str, str], dict[str, str]], list[ProgramSummary]]
"""The same, for the programs with their readiness lists."""

GOOD_WORDS = ("reported", "validated")


class Place(msgspec.Struct, frozen=True, order=True):
    """A line of an example and the code that spoke, or should have spoken, there."""

    file: str
    line: int
    code: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line} {self.code}"


class Outcome(msgspec.Struct, frozen=True):
    """How one example went. `word` is ``reported`` (bad, as marked), ``validated`` (good, silent),
    ``missing`` (marked lines without a finding) or ``noisy`` (findings where none belongs); `example`
    counts from 1; `places` are the lines that were wrong."""

    code: str
    name: str
    example: int
    word: str
    places: tuple[Place, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether the example held."""
        return self.word in GOOD_WORDS

    def __str__(self) -> str:
        places = f": {', '.join(map(str, self.places))}" if self.places else ""
        return f"{self.code} {self.name} example {self.example} {self.word}{places}"


def run_examples(checks: Sequence[Check], all_checks: Sequence[Check], judge: Judge) -> list[Outcome]:
    """The outcomes of all examples of `checks`; an example that is both missing and noisy has two.
    `all_checks` tells which of the other checks are stable: those police each other's good examples."""
    stable = {check.code for check in all_checks if check.status == "stable"}
    outcomes: list[Outcome] = []
    for check in checks:
        for number, example in enumerate(check.examples, 1):
            findings = judge(example.files, example.target)
            outcomes += _outcomes(check, number, example, findings, stable)
    return outcomes


def _outcomes(
    check: Check, number: int, example: Example, findings: Sequence[Finding], stable: set[str]
) -> list[Outcome]:
    wanted = {Place(name, line, check.code) for name, line in example.expect}
    found = {Place(f.path, f.span.line, f.code) for f in findings if f.code == check.code}
    missing, noisy = wanted - found, found - wanted
    if not example.bad:
        noisy |= {Place(f.path, f.span.line, f.code) for f in findings if _intrudes(f, check, example, stable)}
    wrong = [("missing", missing), ("noisy", noisy)]
    outcomes = [Outcome(check.code, check.name, number, word, tuple(sorted(p))) for word, p in wrong if p]
    return outcomes or [Outcome(check.code, check.name, number, GOOD_WORDS[0] if example.bad else GOOD_WORDS[1])]


def _intrudes(finding: Finding, check: Check, example: Example, stable: set[str]) -> bool:
    """Whether another check's finding in a good example shows that one of the two is wrong."""
    other = finding.code != check.code and finding.code not in example.also
    return other and finding.severity == "error" and finding.code in stable


def run_item_examples(items: Sequence[Item], review: Review) -> list[Outcome]:
    """The outcomes of all examples of readiness items: does the entry script get the answer, and does its
    evidence stand where the example says?"""
    outcomes = []
    for item in items:
        for number, example in enumerate(item.examples, 1):
            listed = next((p.checklist for p in review(example.files, example.target) if p.entry == ENTRY), ())
            answer = next((one for one in listed if one.item == item.key), None)
            outcomes.append(_item_outcome(item, number, example, answer))
    return outcomes


def _item_outcome(item: Item, number: int, example: ItemExample, answer: ChecklistItem | None) -> Outcome:
    status = ABSENT if answer is None else answer.status
    place = answer.evidence if answer is not None else None
    seen = Place(ENTRY if place is None else place.path, 0 if place is None else place.span.line, status)
    wanted = {(seen.file, seen.line)} if place is not None else set()
    if status == example.answer and set(example.evidence) == wanted:
        return Outcome("readiness", item.name, number, GOOD_WORDS[1])
    return Outcome("readiness", item.name, number, "missing", (seen,))
