"""The straight way of a comparison: two projects, their recipes, what differs, the checklist."""

from __future__ import annotations

import time
from collections.abc import Sequence
from itertools import accumulate

import msgspec

from npulint.assemble.programs import Program
from npulint.catalogue.check import SIDES, Catalogue
from npulint.catalogue.load import load_catalogue
from npulint.compare.difference import Difference
from npulint.compare.facts import difference_facts, ingredient_facts
from npulint.compare.matching.matches import Matches, counterparts
from npulint.compare.program_diff import Start, compared
from npulint.compare.program_pairs import ProgramPairs, pairs_of
from npulint.compare_inputs import UNMANAGEABLE, ComparedProject, below, discovered, project
from npulint.evaluate.pretuning import pretuning, sided, unanswered
from npulint.evaluate.rows import items_of
from npulint.findings import ChecklistItem, ComparedPair, Comparison, Finding, RunResult
from npulint.postprocess.finalize import finalize
from npulint.postprocess.merge_results import merge_results
from npulint.progress import Progress, progress_counter
from npulint.settings import Settings
from npulint.temp_project import materialize
from npulint.texts import say
from npulint.training_config.program import Recipe
from npulint.training_config.repeatability import random_facts
from npulint.training_config.starts import paired_starts, trained_scripts

_SPEAKING = ("NPU0", "NPU6")  # what cannot be read, and comparisons
_MODULES = 10_000  # of pairs of programs together; pairs beyond them are not compared, or a run takes minutes
_STARTS = 4  # ways to start a pair of programs that are compared


class PairAnswer(msgspec.Struct, frozen=True, eq=False):
    """What is said of two programs before it is settled: the pair without its items, the answers of the checklist, what
    was compared, and the findings. `notice` says why nothing could be compared."""

    pair: ComparedPair
    answers: list[ChecklistItem]
    found: list[Difference]
    findings: list[Finding]
    notice: str = ""


class ComparisonAnswer(msgspec.Struct, frozen=True, eq=False):
    """What is said of two projects before it is settled; `bare` lacks its pairs."""

    bare: Comparison
    pairs: list[PairAnswer]


def compare(settings: Settings, reference: str, progress: Progress | None = None) -> RunResult:
    """Compare the project (or entry script) at `reference` with the one of the settings' paths. Raises `CatalogueError`
    for a broken check file."""
    begun = time.perf_counter()
    catalogue = load_catalogue(settings.checks, whole=False)
    left = discovered(reference, settings)
    right = discovered(settings.paths[0], settings)
    told = progress_counter(len(left.sources) + len(right.sources), progress)
    first, second = project(left, settings, told), project(right, settings, told)
    return settled(build_result(first, second, settings, catalogue), first, second, settings, catalogue, begun)


def add_comparison(result: RunResult, settings: Settings, progress: Progress | None = None) -> RunResult:
    """The result of a check with what the comparison with the reference of the settings says."""
    asked = settings if settings.select else msgspec.structs.replace(settings, select=_SPEAKING[1:])
    catalogue = load_catalogue(settings.checks, whole=False)
    return merge_results(result, compare(asked, settings.reference, progress), catalogue)


def compare_sources(files: dict[str, str], target: dict[str, str], catalogue: Catalogue, lang: str = "en") -> RunResult:
    """What a comparison says of texts by file name below ``reference/`` and ``migrated/``. Paths are these names."""
    settings = Settings(target=target, cache=False, lang=lang)
    with materialize(files, configurations=True) as (_, sources):
        sides = [project(below(sources, side), settings) for side in SIDES]
        return settled(build_result(sides[0], sides[1], settings, catalogue), sides[0], sides[1], settings, catalogue)


def compare_folders(reference: str, migrated: str, lang: str = "en") -> RunResult:
    """What a comparison of two folders says with the built-in checks."""
    return compare(Settings(paths=(migrated,), cache=False, lang=lang), reference)


def build_result(
    reference: ComparedProject, migrated: ComparedProject, settings: Settings, catalogue: Catalogue
) -> ComparisonAnswer:
    """What the checks and the checklist say of two projects."""
    matched = counterparts(reference.names, migrated.names)
    pairs = _paired(reference, migrated, matched)
    many = _as_many_as_pay(pairs.pairs)
    told = [
        _told_of(_Sided(reference, left), _Sided(migrated, right), matched, settings, catalogue)
        for left, right in pairs.pairs[:many]
    ]
    told += [
        _untold(left, right, settings, catalogue, say(settings.language(), "compare.beyond", n=many))
        for left, right in pairs.pairs[many:]
    ]
    alone = [tuple(p.entry for p in side if p.entry) for side in (pairs.only_reference, pairs.only_migrated)]
    bare = Comparison(reference.root, migrated.root, only_reference=alone[0], only_migrated=alone[1])
    return ComparisonAnswer(bare, told)


def _paired(reference: ComparedProject, migrated: ComparedProject, matched: Matches) -> ProgramPairs:
    """The programs of two projects that belong together, whose scripts are counterparts then."""
    contexts = reference.whole.context, migrated.whole.context
    started = trained_scripts(contexts[0]), trained_scripts(contexts[1])
    pairs = pairs_of(reference.programs(), migrated.programs(), matched, started)
    for left, right in pairs.pairs:
        if left.entry and right.entry:
            matched.join(contexts[0].names, contexts[1].names, left.entry, right.entry)
    return pairs


class _Sided(msgspec.Struct, frozen=True, eq=False):
    project: ComparedProject
    program: Program


def _as_many_as_pay(pairs: Sequence[tuple[Program, Program]]) -> int:
    """How many pairs of programs are compared: the first, and those more that do not take too long."""
    work = accumulate(len(left.paths) + len(right.paths) for left, right in pairs)
    return sum(number == 0 or modules <= _MODULES for number, modules in enumerate(work))


def _told_of(left: _Sided, right: _Sided, matched: Matches, settings: Settings, catalogue: Catalogue) -> PairAnswer:
    """What is said of one pair of programs: nothing where the code leads the comparison round in circles."""
    try:
        return _pair(left, right, matched, settings, catalogue)
    except UNMANAGEABLE:
        entries = {"reference": left.program.entry, "migrated": right.program.entry}
        sentence = say(settings.language(), "compare.unmanageable", **entries)
        return _untold(left.program, right.program, settings, catalogue, sentence)


def _untold(left: Program, right: Program, settings: Settings, catalogue: Catalogue, because: str) -> PairAnswer:
    """A pair of programs that was not compared."""
    pair = ComparedPair(left.entry, right.entry, left.attrs["framework"], right.attrs["framework"])
    return PairAnswer(pair, unanswered(catalogue, settings.language(), because), [], [], because)


def _pair(left: _Sided, right: _Sided, matched: Matches, settings: Settings, catalogue: Catalogue) -> PairAnswer:
    """What is said of one pair of programs."""
    contexts = left.project.whole.context, right.project.whole.context
    ways = paired_starts(contexts[0], left.program.entry, contexts[1], right.program.entry)[:_STARTS]
    starts = [Start(one, other, left.project.configs, right.project.configs) for one, other in ways]
    found = compared(*_recipes(left, right, matched), matched, starts)
    facts = [*difference_facts(found), *ingredient_facts(found)]
    findings: list[Finding] = []
    answers: dict[str, ChecklistItem] = {}
    chance = random_facts(contexts[0], left.program.paths)
    for side, program in zip(SIDES, (left.program, right.program), strict=True):
        known = [*facts, *chance] if program is left.program else facts
        verdict = pretuning(catalogue, sided(program, side, known), settings.target, settings.language())
        findings += verdict.findings
        answers.update((item.item, item) for item in verdict.checklist)
    pair = ComparedPair(
        left.program.entry,
        right.program.entry,
        left.program.attrs["framework"],
        right.program.attrs["framework"],
        reference_launcher=ways[0][0].fact.path if ways[0][0] else "",
        migrated_launcher=ways[0][1].fact.path if ways[0][1] else "",
    )
    return PairAnswer(pair, _in_order(catalogue, answers), found, findings)


def _recipes(left: _Sided, right: _Sided, matched: Matches) -> tuple[Recipe, Recipe]:
    """The recipes of two programs. A module that one of them comes to and whose counterpart the other one has is taken
    for a module of both: it may be loaded by a computed name."""
    theirs = [matched.modules[path] for path in left.program.paths if path in matched.modules]
    ours = [matched.reference_modules[path] for path in right.program.paths if path in matched.reference_modules]
    return (
        Recipe(left.project.whole.context, left.program, ours),
        Recipe(right.project.whole.context, right.program, theirs),
    )


def _in_order(catalogue: Catalogue, answers: dict[str, ChecklistItem]) -> list[ChecklistItem]:
    return [answers[item.key] for item in catalogue.pretuning if item.key in answers]


def settled(
    given: ComparisonAnswer,
    reference: ComparedProject,
    migrated: ComparedProject,
    settings: Settings,
    catalogue: Catalogue,
    begun: float = 0.0,
) -> RunResult:
    """The answer after suppressions and thresholds. Only comparisons speak here."""
    if not settings.select:
        settings = msgspec.structs.replace(settings, select=_SPEAKING)
    findings = [one for pair in given.pairs for one in pair.findings]
    files = [file for side in (reference, migrated) for file in side.files]
    seconds = time.perf_counter() - begun if begun else 0.0
    problems = [problem for side in (reference, migrated) for problem in (*side.problems, *side.configs.problems)]
    result = finalize(findings, [], files, problems, settings, catalogue, seconds, comparing=True)
    pairs = tuple(_told(pair, result.findings) for pair in given.pairs)
    notices = [*result.notices, *dict.fromkeys(pair.notice for pair in given.pairs if pair.notice)]
    comparison = msgspec.structs.replace(given.bare, pairs=pairs)
    return msgspec.structs.replace(result, notices=notices, comparison=comparison)


def _told(given: PairAnswer, left: Sequence[Finding]) -> ComparedPair:
    """A pair with its items, of which `left` are the findings that are still told."""
    return msgspec.structs.replace(given.pair, items=items_of(given.answers, given.found, left))
