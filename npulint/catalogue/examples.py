"""Runs the examples of checks and of readiness items: the tests that each of them carries."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import msgspec

from npulint.catalogue.check import Check, Example, Item, ItemExample
from npulint.catalogue.readiness import ABSENT, ENTRY
from npulint.findings import ChecklistItem, ComparedItem, Comparison, Evidence, Finding, ProgramSummary

Judge = Callable[[dict[str, str], dict[str, str]], list[Finding]]
"""Runs the whole catalogue over files (name to text) with target versions. Paths of the findings are the
names of the files."""

Review = Callable[[dict[str, str], dict[str, str]], list[ProgramSummary]]
"""The same, for the programs with their readiness lists."""

Compare = Callable[[dict[str, str], dict[str, str]], Comparison | None]
"""The same, for what the comparison of the two programs says."""

Mend = Callable[[dict[str, str], dict[str, str], str], tuple[dict[str, str], Sequence[str]]]
"""Lets the fixes of the check with a code mend files (name to text) with target versions: the texts that changed, and
why others did not."""

GOOD_WORDS = ("reported", "validated")
_TALL = 40  # lines of a difference


class Place(msgspec.Struct, frozen=True, order=True):
    """A line of an example and the code that spoke, or should have spoken, there."""

    file: str
    line: int
    code: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line} {self.code}"


class Outcome(msgspec.Struct, frozen=True):
    """How one example went. `word` is ``reported`` (bad, as marked), ``validated`` (good, silent),
    ``missing`` (marked lines without a finding) or ``noisy`` (findings where none belongs); of its fixes ``unfixed``
    (they change nothing), ``misfixed`` (they make something else of it) or ``restless`` (they go on changing it).
    `example` counts from 1; `places` are the lines that were wrong; `difference` tells what was made otherwise."""

    code: str
    name: str
    example: int
    word: str
    places: tuple[Place, ...] = ()
    difference: str = ""

    @property
    def ok(self) -> bool:
        """Whether the example held."""
        return self.word in GOOD_WORDS

    def __str__(self) -> str:
        places = f": {', '.join(map(str, self.places))}" if self.places else ""
        return f"{self.code} {self.name} example {self.example} {self.word}{places}{self.difference}"


def run_examples(
    checks: Sequence[Check], all_checks: Sequence[Check], judge: Judge, mend: Mend | None = None
) -> list[Outcome]:
    """The outcomes of all examples of `checks`; an example that is both missing and noisy has two. `all_checks` tells
    which of the other checks are stable: those police each other's good examples. With `mend` it is tried whether the
    fixes of a check make of its examples what stands there."""
    stable = {check.code for check in all_checks if check.status == "stable"}
    outcomes: list[Outcome] = []
    for check in checks:
        for number, example in enumerate(check.examples, 1):
            findings = judge(example.files, example.target)
            told = _outcomes(check, number, example, findings, stable)
            if mend is not None and example.fixed and all(outcome.ok for outcome in told):
                told = _mended(check, number, example, mend) or told
            outcomes += told
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


def _mended(check: Check, number: int, example: Example, mend: Mend) -> list[Outcome]:
    """What is wrong with the fixes of a bad example, if anything is. A good one has no findings to be mended."""
    made, refused = mend(example.files, example.target, check.code)
    wanted = {name: text for name, text in example.fixed.items() if example.files.get(name) != text}
    if made != wanted:
        why = "".join(f"\n  refused: {reason}" for reason in refused)
        word, difference = "misfixed" if made else "unfixed", why + _difference(wanted, made, example.files)
    else:
        again, _ = mend({**example.files, **made}, example.target, check.code)
        word, difference = "restless", _difference(made, again, made) if again else ""
    return [Outcome(check.code, check.name, number, word, difference=difference)] if difference else []


def _difference(wanted: Mapping[str, str], made: Mapping[str, str], before: Mapping[str, str]) -> str:
    """The lines that are wanted (-) and were not made, and the other way round (+)."""
    from difflib import unified_diff

    lines: list[str] = []
    for name in sorted({*wanted, *made}):
        old, new = (some.get(name, before.get(name, "")).split("\n") for some in (wanted, made))
        lines += unified_diff(old, new, f"{name} as wanted", f"{name} as made", lineterm="", n=1)
    return "".join(f"\n  {line}" for line in lines[:_TALL])


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
            outcomes.append(_item_outcome("readiness", item, number, example, answer))
    return outcomes


def run_pretuning_examples(items: Sequence[Item], compare: Compare) -> list[Outcome]:
    """The outcomes of all examples of items of the pre-tuning checklist: does the pair of entry scripts get the answer,
    and does the gravest place that makes it differ stand where the example says?"""
    outcomes = []
    for item in items:
        for number, example in enumerate(item.examples, 1):
            comparison = compare(example.files, example.target)
            pairs = comparison.pairs if comparison is not None else ()
            listed = next((pair.items for pair in pairs if pair.migrated.endswith(ENTRY)), ())
            answer = next((_answer(one) for one in listed if one.item == item.key), None)
            outcomes.append(_item_outcome("pretuning", item, number, example, answer))
    return outcomes


def _answer(item: ComparedItem) -> ChecklistItem:
    """An item of a comparison in the words of examples."""
    word = {"consistent": "passed", "differs": "failed"}.get(item.status, item.status)
    place: Evidence | None = next(iter(item.failures), None)
    return ChecklistItem(item.item, item.title, word, place if word == "failed" else None)


def _item_outcome(listed: str, item: Item, number: int, example: ItemExample, answer: ChecklistItem | None) -> Outcome:
    status = ABSENT if answer is None else answer.status
    place = answer.evidence if answer is not None else None
    seen = Place(ENTRY if place is None else place.path, 0 if place is None else place.span.line, status)
    wanted = {(seen.file, seen.line)} if place is not None else set()
    if status == example.answer and set(example.evidence) == wanted:
        return Outcome(listed, item.name, number, GOOD_WORDS[1])
    return Outcome(listed, item.name, number, "missing", (seen,))
