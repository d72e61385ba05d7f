"""Runs the examples of checks and checklist items."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import msgspec

from npulint.judge.catalogue.check import Check, Example, ItemDefinition, ItemExample
from npulint.judge.catalogue.readiness import ABSENT, ENTRY
from npulint.judge.findings import ChecklistItem, ComparedItem, Comparison, Evidence, Finding, ProgramSummary

Judge = Callable[[dict[str, str], dict[str, str]], list[Finding]]
"""Evaluates the whole catalogue for files (name to text) and target versions. Paths of the findings are the
names of the files."""

Review = Callable[[dict[str, str], dict[str, str]], list[ProgramSummary]]
"""As `Judge`, for programs with their readiness checklists."""

Compare = Callable[[dict[str, str], dict[str, str]], Comparison | None]
"""As `Judge`, for the comparison of two programs."""

ApplyFixes = Callable[[dict[str, str], dict[str, str], str], tuple[dict[str, str], Sequence[str]]]
"""Applies the fixes of the check with a code to files (name to text) with target versions: the changed texts, and
refusals."""

GOOD_WORDS = ("reported", "validated")
_TALL = 40  # lines of a diff


class ReportedLine(msgspec.Struct, frozen=True, order=True):
    """A line of an example and the code that reported, or should have reported, there."""

    file: str
    line: int
    code: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line} {self.code}"


class Outcome(msgspec.Struct, frozen=True):
    """The result of one example. `word` is ``reported`` (bad, as marked), ``validated`` (good, no finding), ``missing``
    (marked lines without a finding) or ``noisy`` (unexpected findings); for fixes ``unfixed`` (nothing changed),
    ``misfixed`` (unexpected result) or ``restless`` (not idempotent). `example` counts from 1; `places` are the wrong
    lines; `difference` is a diff of expected and actual fix."""

    code: str
    name: str
    example: int
    word: str
    places: tuple[ReportedLine, ...] = ()
    difference: str = ""

    @property
    def ok(self) -> bool:
        """Whether the example passed."""
        return self.word in GOOD_WORDS

    def __str__(self) -> str:
        places = f": {', '.join(map(str, self.places))}" if self.places else ""
        return f"{self.code} {self.name} example {self.example} {self.word}{places}{self.difference}"


def run_examples(
    checks: Sequence[Check], all_checks: Sequence[Check], judge: Judge, apply_fixes: ApplyFixes | None = None
) -> list[Outcome]:
    """The outcomes of all examples of `checks`; an example can be both missing and noisy. Stable checks among
    `all_checks` must not report in good examples of others. With `apply_fixes`, the fixes of bad examples are tested
    too."""
    stable = {check.code for check in all_checks if check.status == "stable"}
    outcomes: list[Outcome] = []
    for check in checks:
        for number, example in enumerate(check.examples, 1):
            findings = judge(example.files, example.target)
            of_example = _outcomes(check, number, example, findings, stable)
            if apply_fixes is not None and example.fixed and all(outcome.ok for outcome in of_example):
                of_example = _fix_outcomes(check, number, example, apply_fixes) or of_example
            outcomes += of_example
    return outcomes


def _outcomes(
    check: Check, number: int, example: Example, findings: Sequence[Finding], stable: set[str]
) -> list[Outcome]:
    expected = {ReportedLine(name, line, check.code) for name, line in example.expect}
    reported_lines = {ReportedLine(f.path, f.span.line, f.code) for f in findings if f.code == check.code}
    missing, noisy = expected - reported_lines, reported_lines - expected
    if not example.bad:
        noisy |= {ReportedLine(f.path, f.span.line, f.code) for f in findings if _intrudes(f, check, example, stable)}
    wrong = [("missing", missing), ("noisy", noisy)]
    outcomes = [Outcome(check.code, check.name, number, word, tuple(sorted(p))) for word, p in wrong if p]
    return outcomes or [Outcome(check.code, check.name, number, GOOD_WORDS[0] if example.bad else GOOD_WORDS[1])]


def _fix_outcomes(check: Check, number: int, example: Example, apply_fixes: ApplyFixes) -> list[Outcome]:
    """The outcomes of the fixes of a bad example; empty if they are as expected, and for good examples."""
    made, refused = apply_fixes(example.files, example.target, check.code)
    expected = {name: text for name, text in example.fixed.items() if example.files.get(name) != text}
    if made != expected:
        why = "".join(f"\n  refused: {reason}" for reason in refused)
        word, difference = "misfixed" if made else "unfixed", why + _difference(expected, made, example.files)
    else:
        again, _ = apply_fixes({**example.files, **made}, example.target, check.code)
        word, difference = "restless", _difference(made, again, made) if again else ""
    return [Outcome(check.code, check.name, number, word, difference=difference)] if difference else []


def _difference(expected: Mapping[str, str], made: Mapping[str, str], before: Mapping[str, str]) -> str:
    """A diff of expected (-) and actual (+) lines."""
    from difflib import unified_diff

    lines: list[str] = []
    for name in sorted({*expected, *made}):
        old, new = (some.get(name, before.get(name, "")).split("\n") for some in (expected, made))
        lines += unified_diff(old, new, f"{name} as wanted", f"{name} as made", lineterm="", n=1)
    return "".join(f"\n  {line}" for line in lines[:_TALL])


def _intrudes(finding: Finding, check: Check, example: Example, stable: set[str]) -> bool:
    """Whether a finding of another check in a good example shows that one of the two is wrong."""
    other = finding.code != check.code and finding.code not in example.also
    return other and finding.severity == "error" and finding.code in stable


def run_item_examples(items: Sequence[ItemDefinition], review: Review) -> list[Outcome]:
    """The outcomes of all examples of readiness items: status of the entry script and places of evidence."""
    outcomes = []
    for item in items:
        for number, example in enumerate(item.examples, 1):
            reviewed = review(example.files, example.target)
            entry = ENTRY if ENTRY in example.files else next((p.entry for p in reviewed), ENTRY)
            listed = next((p.checklist for p in reviewed if p.entry == entry), ())
            answer = next((checklist_item for checklist_item in listed if checklist_item.item == item.key), None)
            outcomes.append(_item_outcome("readiness", item, number, example, answer))
    return outcomes


def run_pretuning_examples(items: Sequence[ItemDefinition], compare: Compare) -> list[Outcome]:
    """The outcomes of all examples of pre-tuning items: status of the pair of entry scripts, and the place of the most
    severe finding that makes the item differ."""
    outcomes = []
    for item in items:
        for number, example in enumerate(item.examples, 1):
            comparison = compare(example.files, example.target)
            pairs = comparison.pairs if comparison is not None else ()
            listed = next((pair.items for pair in pairs if pair.migrated.endswith(ENTRY)), ())
            answer = next((_answer(compared_item) for compared_item in listed if compared_item.item == item.key), None)
            outcomes.append(_item_outcome("pretuning", item, number, example, answer))
    return outcomes


def _answer(item: ComparedItem) -> ChecklistItem:
    """A comparison item with the statuses used in examples."""
    word = {"consistent": "passed", "differs": "failed"}.get(item.status, item.status)
    place: Evidence | None = next(iter(item.failures), None)
    return ChecklistItem(item.item, item.title, word, place if word == "failed" else None)


def _item_outcome(
    listed: str, item: ItemDefinition, number: int, example: ItemExample, answer: ChecklistItem | None
) -> Outcome:
    status = ABSENT if answer is None else answer.status
    place = answer.evidence if answer is not None else None
    seen = ReportedLine(ENTRY if place is None else place.path, 0 if place is None else place.span.line, status)
    expected = {(seen.file, seen.line)} if place is not None else set()
    if status == example.answer and set(example.evidence) == expected:
        return Outcome(listed, item.name, number, GOOD_WORDS[1])
    return Outcome(listed, item.name, number, "missing", (seen,))
