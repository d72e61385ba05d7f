"""Runs a comparison: reads two projects, extracts their training configs, lists differences, fills the checklist."""

from __future__ import annotations

import time
from collections.abc import Container, Iterable, Mapping, Sequence
from itertools import accumulate

import msgspec

from npulint.commands.check.temp_project import materialize
from npulint.commands.compare.compare_inputs import (
    UNMANAGEABLE,
    ComparedProject,
    ReadOnce,
    SideSources,
    below,
    discovered,
    project,
)
from npulint.commands.compare.evidence import PartEvidence
from npulint.commands.compare.facts import difference_facts, ingredient_facts, part_facts
from npulint.commands.compare.matching.matches import Side, counterparts
from npulint.commands.compare.program_diff import ProgramComparison, Start, compared
from npulint.commands.compare.program_pairs import ProgramPairs, pairs_of
from npulint.commands.training_config.program import TrainingConfig
from npulint.commands.training_config.repeatability import random_facts
from npulint.commands.training_config.starts import paired_starts, trained_scripts
from npulint.core.budget import within
from npulint.core.progress import Progress, progress_counter
from npulint.core.texts import say
from npulint.facts.comparison.difference import Difference, SideValue
from npulint.facts.model import Fact, Span
from npulint.facts.recipe import ITEM_OF
from npulint.judge.catalogue.check import SIDES, Catalogue
from npulint.judge.catalogue.load import load_catalogue
from npulint.judge.evaluate.checks import evaluate
from npulint.judge.evaluate.pretuning import sided, unanswered
from npulint.judge.findings import (
    ChecklistItem,
    ComparedItem,
    ComparedPair,
    ComparedPart,
    ComparedRow,
    ComparedSide,
    Comparison,
    Finding,
    Related,
    RunResult,
)
from npulint.judge.postprocess.finalize import finalize
from npulint.judge.postprocess.merge_results import merge_results
from npulint.judge.postprocess.record import RawResults, RunContext
from npulint.judge.settings import Settings
from npulint.judge.source_lines import FileLines, LineProvider
from npulint.recognizers.programs import Program

# Compared values as rows of the pre-tuning checklist.

STATUSES = {"passed": "consistent", "failed": "differs", "unknown": "unknown", "unused": "unused"}
"""Item statuses, and what they are called in a comparison."""
_COUNTED = frozenset(("layer", "operation", "transform", "arithmetic", "setting", "initialisation"))
_NOTED = "note"

FindingPlace = tuple[str, Span]
"""The place of a finding: path and span."""


def items_of(
    answers: Sequence[ChecklistItem],
    differences: Sequence[Difference],
    findings: Sequence[Finding],
    parts: Sequence[PartEvidence] = (),
) -> tuple[ComparedItem, ...]:
    """The checklist items with their rows. A difference without a finding (it may be suppressed) does not count as a
    difference."""
    by_place: dict[FindingPlace, list[Finding]] = {}
    for finding in findings:
        by_place.setdefault((finding.path, finding.span), []).append(finding)
    rows: dict[str, list[ComparedRow]] = {}
    same: dict[str, int] = {}
    items = {failure.code: answer.item for answer in answers for failure in answer.failures}
    for difference in differences:
        item: str = ITEM_OF[difference.part]
        if difference.change == "none":
            row = _equal(difference)
            same[item] = same.get(item, 0) + 1
        else:
            item, row = _differing(difference, by_place, items)
        if row is not None:
            rows.setdefault(item, []).append(row)
    live = {(finding.code, finding.path, finding.span) for finding in findings}
    seen: dict[str, list[ComparedPart]] = {}
    for part in parts:
        own = seen.setdefault(part.item, [])
        own.append(ComparedPart(part.part, part.answer, _side(part.reference), _side(part.migrated)))
    return tuple(
        _item(answer, rows.get(answer.item, []), same.get(answer.item, 0), live, tuple(seen.get(answer.item, ())))
        for answer in answers
    )


def _item(
    answer: ChecklistItem,
    rows: list[ComparedRow],
    same: int,
    live: Container[tuple[str, str, Span]],
    parts: tuple[ComparedPart, ...],
) -> ComparedItem:
    failures = tuple(failure for failure in answer.failures if (failure.code, failure.path, failure.span) in live)
    differs = failures or any(row.answer == "differs" for row in rows)
    status = "differs" if differs else STATUSES[answer.status]
    look = answer.look if status == "unknown" else ""
    return ComparedItem(answer.item, answer.title, status, tuple(rows), look, failures, same, parts)


def _equal(difference: Difference) -> ComparedRow | None:
    return (
        None
        if difference.part in _COUNTED
        else ComparedRow(difference.part, _what(difference), "same", *_sides(difference))
    )


def _differing(
    difference: Difference, findings: Mapping[FindingPlace, Iterable[Finding]], items: Mapping[str, str]
) -> tuple[str, ComparedRow | None]:
    """The row of a reported difference and the name of its item; None for one without a finding."""
    item = ITEM_OF[difference.part]
    place = difference.place
    reported = list(findings.get((place.path, place.span), ())) if place is not None else []
    finding = _reporting_finding(difference, reported, items)
    if finding is None:
        return item, None
    answer = _NOTED if finding.severity == _NOTED else "differs"
    near = _side(difference.near) if difference.migrated is None else None
    also = tuple((_side(left), _side(right)) for left, right in difference.also)
    row = ComparedRow(
        difference.part, _what(difference), answer, *_sides(difference), finding.code, near, difference.effect, also
    )
    return items.get(finding.code, item) if answer == "differs" else item, row


def _reporting_finding(difference: Difference, reported: Sequence[Finding], items: Mapping[str, str]) -> Finding | None:
    """The finding that reports a difference: one that names it, else one that makes its item differ, else a note."""
    important = [finding for finding in reported if finding.severity != _NOTED]
    named = [finding for finding in important if f"`{_what(difference)}`" in finding.message]
    own = [finding for finding in important if items.get(finding.code) == ITEM_OF[difference.part]]
    notes = [finding for finding in reported if finding.severity == _NOTED]
    both = [finding for finding in named if finding in own]
    return next(iter((*both, *named, *own, *notes)), None)


def _what(difference: Difference) -> str:
    return f"{difference.what}({difference.argument})" if difference.argument else difference.what


def _sides(difference: Difference) -> tuple[ComparedSide | None, ComparedSide | None]:
    return _side(difference.reference), _side(difference.migrated)


def _side(mark: SideValue | None) -> ComparedSide | None:
    if mark is None:
        return None
    way = tuple(Related(step.path, step.span, step.name) for step in mark.provenance)
    return ComparedSide(mark.text, mark.path, mark.span, way)


_REPORTED_CODES = ("NPU0", "NPU6")  # codes of unreadable files and of comparisons
_MODULES = 10_000  # of all compared pairs together; more would take minutes
_FILE = 20_000  # bytes of a usual file
_STARTS = 4  # launch configurations compared per pair of programs


class PairAnswer(msgspec.Struct, frozen=True, eq=False):
    """The comparison of two programs before postprocessing: the pair without its items, the results of the checklist,
    the compared rows, and the findings. `notice` says why nothing could be compared."""

    pair: ComparedPair
    answers: list[ChecklistItem]
    differences: list[Difference]
    findings: list[Finding]
    notice: str = ""
    parts: Sequence[PartEvidence] = ()

    def because(self, why: str) -> PairAnswer:
        """The same answer with the reason why the two programs were compared."""
        return msgspec.structs.replace(self, pair=msgspec.structs.replace(self.pair, why=why))


def compare(settings: Settings, reference: str, progress: Progress | None = None) -> RunResult:
    """The result of comparing the project (or entry script) at `reference` with that of ``settings.paths``. Raises
    `CatalogueError` for a broken check file."""
    begun = time.perf_counter()
    catalogue = load_catalogue(settings.checks, whole=False)
    left, right = (discovered(path, settings.discovery()) for path in (reference, settings.paths[0]))
    first, second = read_sides((left, right), settings, progress)
    return ProjectComparer(first, second, settings, catalogue).result(begun)


def read_sides(
    sides: tuple[SideSources, SideSources], settings: Settings, progress: Progress | None
) -> tuple[ComparedProject, ComparedProject]:
    """Both sides, read and assembled."""
    advance = progress_counter(sum(len(side.sources) for side in sides), progress)
    budget = settings.limits()
    reader = ReadOnce(budget)
    left, right = (project(side, settings.declared(), advance, budget, reader) for side in sides)
    return left, right


def add_comparison(result: RunResult, settings: Settings, progress: Progress | None = None) -> RunResult:
    """The result of a check, merged with the comparison with ``settings.reference``."""
    selected = settings if settings.select else msgspec.structs.replace(settings, select=_REPORTED_CODES[1:])
    catalogue = load_catalogue(settings.checks, whole=False)
    return merge_results(result, compare(selected, settings.reference, progress), catalogue)


def compare_sources(files: dict[str, str], target: dict[str, str], catalogue: Catalogue, lang: str = "en") -> RunResult:
    """The result of comparing source texts by file name; names begin with ``reference/`` or ``migrated/``."""
    settings = Settings(target=target, cache=False, lang=lang)
    with materialize(files, configurations=True) as (_, sources):
        reference, migrated = (project(below(sources, side), settings.declared()) for side in SIDES)
        return ProjectComparer(reference, migrated, settings, catalogue).result()


def compare_folders(reference: str, migrated: str) -> RunResult:
    """The result of comparing two folders with the built-in checks."""
    return compare(Settings(paths=(migrated,), cache=False), reference)


class ProjectComparer:
    """Compares two projects with the checks and the checklist of a catalogue."""

    def __init__(
        self, reference: ComparedProject, migrated: ComparedProject, settings: Settings, catalogue: Catalogue
    ) -> None:
        self._sides = reference, migrated
        self._settings = settings
        self._catalogue = catalogue
        self._matched = counterparts(reference.names, migrated.names)
        files = len(reference.files) + len(migrated.files)
        self._limit = settings.limits().of_project(files, _FILE * files)

    def result(self, begun: float = 0.0) -> RunResult:
        """The result after suppressions and thresholds, with findings of comparison checks only. `begun` is the start
        of the run on the performance counter."""
        pairs = self.pairs()
        many = _pairs_within_limit(pairs.pairs)
        beyond = say(self._settings.language(), "compare.beyond", n=many)
        answers = [self._answer(left, right) for left, right in pairs.pairs[:many]]
        answers += [self._unanswered(left, right, beyond) for left, right in pairs.pairs[many:]]
        answers = [pair_answer.because(why) for pair_answer, why in zip(answers, pairs.why, strict=True)]
        result = self._settled(answers, begun)
        notices = [*result.notices, *dict.fromkeys(answer.notice for answer in answers if answer.notice)]
        comparison = Comparison(
            self._sides[0].root,
            self._sides[1].root,
            pairs=tuple(_with_items(answer, result.findings) for answer in answers),
            only_reference=tuple(program.entry for program in pairs.only_reference if program.entry),
            only_migrated=tuple(program.entry for program in pairs.only_migrated if program.entry),
        )
        return msgspec.structs.replace(result, notices=notices, comparison=comparison)

    def _settled(self, answers: Sequence[PairAnswer], begun: float) -> RunResult:
        settings = self._settings
        if not settings.select:
            settings = msgspec.structs.replace(settings, select=_REPORTED_CODES)
        raw = RawResults(
            findings=[finding for answer in answers for finding in answer.findings],
            files=[file for side in self._sides for file in side.files],
            problems=[problem for side in self._sides for problem in (*side.problems, *side.configs.problems)],
        )
        return finalize(raw, RunContext(settings, self._catalogue, self._lines(), comparing=True, started=begun))

    def _lines(self) -> LineProvider:
        """The source of both sides."""
        return FileLines(self._settings.piped(), self._settings.boundary())

    def pairs(self) -> ProgramPairs:
        """The matched programs of both projects; their entry scripts become counterparts. Raises `NpulintError` if the
        settings name a script that is no entry of a program."""
        reference, migrated = (side.assembly.context for side in self._sides)
        programs = self._sides[0].programs(), self._sides[1].programs()
        if self._settings.entries:
            pairs = self._named()
        else:
            started = trained_scripts(reference), trained_scripts(migrated)
            pairs = pairs_of(*programs, self._matched, started)
        if any(self._matched.separates(left.entry, right.entry) for left, right in pairs.pairs):
            self._matched = counterparts(*self._without_others(pairs))
        for left, right in pairs.pairs:
            if left.entry and right.entry:
                self._matched.join(reference.names, migrated.names, left.entry, right.entry)
        return pairs

    def _named(self) -> ProgramPairs:
        """The pairs of programs that the settings name."""
        lang, (reference, migrated) = self._settings.language(), self._sides
        entries = self._settings.entries
        pairs = [(reference.program_of(script, lang), migrated.program_of(other, lang)) for script, other in entries]
        return ProgramPairs(pairs, [], [], ["named"] * len(pairs))

    def _without_others(self, pairs: ProgramPairs) -> list[Side]:
        """The files of both sides without the entry scripts of other programs, which would be matched instead."""
        sides = []
        for at, side in enumerate(self._sides):
            paired = [pair[at] for pair in pairs.pairs]
            used = {path for program in paired for path in program.paths}
            others = {program.entry for program in side.programs()} - used
            sides.append(Side(side.names.names, [path for path in side.names.paths if path not in others]))
        return sides

    def _answer(self, left: Program, right: Program) -> PairAnswer:
        """The comparison of one pair of programs; without rows when the code recurses too deeply to be resolved."""
        try:
            return within(self._limit, lambda: self._compared(left, right))
        except UNMANAGEABLE:
            entries = {"reference": left.entry, "migrated": right.entry}
            return self._unanswered(left, right, say(self._settings.language(), "compare.unmanageable", **entries))

    def _unanswered(self, left: Program, right: Program, because: str) -> PairAnswer:
        """A pair that could not be compared, with the reason as notice."""
        items = unanswered(self._catalogue, self._settings.language(), because)
        return PairAnswer(_bare_pair(left, right), items, [], [], because)

    def _compared(self, left: Program, right: Program) -> PairAnswer:
        starts = self.starts(left, right)
        program_comparison = self.comparison(left, right, starts)
        differences = program_comparison.rows
        facts = [*difference_facts(differences), *ingredient_facts(differences), *part_facts(program_comparison.parts)]
        findings: list[Finding] = []
        answers: dict[str, ChecklistItem] = {}
        for program in self._evaluated(left, right, facts):
            verdict = evaluate(self._catalogue, program, self._settings.target, self._settings.language())
            findings += verdict.findings
            answers.update((item.item, item) for item in verdict.checklist)
        items = [answers[item.key] for item in self._catalogue.pretuning if item.key in answers]
        return PairAnswer(
            _bare_pair(left, right, starts[0]), items, differences, findings, parts=program_comparison.parts
        )

    def _evaluated(self, left: Program, right: Program, facts: Sequence[Fact]) -> Sequence[Program]:
        """The two sides of a pair that checks are evaluated on."""
        first = sided(left, SIDES[0], [*facts, *random_facts(self._sides[0].assembly.context, left.paths)])
        return first, sided(right, SIDES[1], facts)

    def starts(self, left: Program, right: Program) -> list[Start]:
        """The launch configurations to compare the two programs with, most informative first."""
        reference, migrated = self._sides
        ways = paired_starts(reference.assembly.context, left.entry, migrated.assembly.context, right.entry)
        return [
            Start(launch, other, reference.configs, migrated.configs, reference.sources, migrated.sources)
            for launch, other in ways[:_STARTS]
        ]

    def differences(self, left: Program, right: Program, starts: Sequence[Start]) -> list[Difference]:
        """The compared rows, different and equal, of two programs under these launch configurations."""
        return self.comparison(left, right, starts).rows

    def comparison(self, left: Program, right: Program, starts: Sequence[Start]) -> ProgramComparison:
        """The compared rows of two programs and the evidence of each part."""
        return compared(*self._training_configs(left, right), self._matched, starts)

    def _training_configs(self, left: Program, right: Program) -> tuple[TrainingConfig, TrainingConfig]:
        """The training configs of two programs. A module that only one of them reaches and whose counterpart belongs to
        the other project counts as reached by both, since a computed name may load it."""
        ours, theirs = self._matched.reference_modules, self._matched.modules
        return (
            TrainingConfig(self._sides[0].assembly.context, left, [ours[path] for path in right.paths if path in ours]),
            TrainingConfig(
                self._sides[1].assembly.context, right, [theirs[path] for path in left.paths if path in theirs]
            ),
        )


def _bare_pair(left: Program, right: Program, start: Start | None = None) -> ComparedPair:
    """Two programs and their launchers, without compared items."""
    launchers = (
        ("" if launch is None else launch.fact.path for launch in (start.reference, start.migrated)) if start else ()
    )
    return ComparedPair(left.entry, right.entry, left.fact.framework, right.fact.framework, *launchers)


def _pairs_within_limit(pairs: Sequence[tuple[Program, Program]]) -> int:
    """The number of program pairs to compare: the first, then more while their modules stay below `_MODULES`."""
    work = accumulate(len(left.paths) + len(right.paths) for left, right in pairs)
    return sum(number == 0 or modules <= _MODULES for number, modules in enumerate(work))


def _with_items(answer: PairAnswer, findings: Sequence[Finding]) -> ComparedPair:
    """The pair with its checklist items, their statuses decided by the reported `findings`."""
    return msgspec.structs.replace(
        answer.pair, items=items_of(answer.answers, answer.differences, findings, answer.parts)
    )
