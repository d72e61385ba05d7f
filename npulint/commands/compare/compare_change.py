"""What the change between two states of a project does to its training programs."""

from __future__ import annotations

import time
from collections.abc import Sequence

import msgspec

from npulint.commands.compare.compare_command import ProjectComparer, read_sides
from npulint.commands.compare.compare_inputs import ComparedProject
from npulint.commands.compare.compare_states import ComparedStates
from npulint.commands.compare.program_pairs import ProgramPairs
from npulint.core.progress import Progress
from npulint.facts.model import Fact
from npulint.judge.catalogue.check import SIDES, Catalogue
from npulint.judge.catalogue.load import load_catalogue
from npulint.judge.evaluate.pretuning import sided
from npulint.judge.findings import ComparedItem, ComparedPair, ComparedRow, Finding, RunResult
from npulint.judge.settings import Settings
from npulint.judge.source_lines import FileLines, LineProvider
from npulint.recognizers.programs import Program

_COMPARED = "NPU6"
_CODE = (".py", ".ipynb")


def compare_states(settings: Settings, two: ComparedStates, progress: Progress | None = None) -> RunResult:
    """The result of comparing two states of a project: only what its change affects, and no findings about the state
    before. Raises `CatalogueError` for a broken check file."""
    begun = time.perf_counter()
    catalogue = load_catalogue(settings.checks, whole=False)
    sides = two.left, two.right
    if not two.changed:  # nothing that a comparison reads
        sides = msgspec.structs.replace(two.left, sources=()), msgspec.structs.replace(two.right, sources=())
    return ChangeComparer(*read_sides(sides, settings, progress), settings, catalogue, two).result(begun)


class ChangeComparer(ProjectComparer):
    """Compares two states of a project. What did not change is neither compared nor reported."""

    def __init__(
        self,
        reference: ComparedProject,
        migrated: ComparedProject,
        settings: Settings,
        catalogue: Catalogue,
        two: ComparedStates,
    ) -> None:
        super().__init__(reference, migrated, settings, catalogue)
        self._two = two
        self._same = 0

    def result(self, begun: float = 0.0) -> RunResult:
        """As of `ProjectComparer`, with the pairs, items and rows that the change affects."""
        result = super().result(begun)
        comparison = result.comparison
        if comparison is None:
            return result
        findings = [finding for finding in result.findings if self._is_news(finding)]
        unread = [problem for problem in result.unreadable if problem.path in self._two.changed]
        pairs = [self._affected(pair) for pair in comparison.pairs]
        kept = tuple(pair for pair in pairs if pair.items)
        change = msgspec.structs.replace(self._two.change, same=self._same + len(pairs) - len(kept))
        summary = msgspec.structs.replace(result.summary, files=change.files, read=change.files)
        comparison = msgspec.structs.replace(comparison, pairs=kept, change=change)
        return msgspec.structs.replace(
            result, comparison=comparison, summary=summary, findings=findings, unreadable=unread
        )

    def _is_news(self, finding: Finding) -> bool:
        """Whether a finding is about the change: also a file that cannot be read, if it changed."""
        return finding.code.startswith(_COMPARED) or finding.path in self._two.changed

    def pairs(self) -> ProgramPairs:
        """The matched programs that the change may affect, and the programs that it adds or removes."""
        program_pairs = super().pairs()
        affected = [at for at, (left, right) in enumerate(program_pairs.pairs) if self._may_differ(left, right)]
        self._same = len(program_pairs.pairs) - len(affected)
        changed = self._two.changed
        alone = [
            [program for program in side if program.entry in changed]
            for side in (program_pairs.only_reference, program_pairs.only_migrated)
        ]
        pairs, why = [program_pairs.pairs[at] for at in affected], [program_pairs.why[at] for at in affected]
        return ProgramPairs(pairs, alone[0], alone[1], why)

    def _may_differ(self, left: Program, right: Program) -> bool:
        """Whether a changed file belongs to one of two programs. A launcher or a configuration may belong to any."""
        changed = self._two.changed
        if any(not path.endswith(_CODE) for path in changed):
            return bool(changed)
        return not changed.isdisjoint((*left.paths, *right.paths, left.entry, right.entry))

    def _evaluated(self, left: Program, right: Program, facts: Sequence[Fact]) -> Sequence[Program]:
        """The state after the change alone: what is wrong before it is no result of it."""
        return (sided(right, SIDES[1], facts),)

    def _lines(self) -> LineProvider:
        return FileLines(self._two.content, self._settings.boundary())

    def _affected(self, pair: ComparedPair) -> ComparedPair:
        items = [msgspec.structs.replace(item, rows=tuple(filter(self._matters, item.rows))) for item in pair.items]
        return msgspec.structs.replace(pair, items=tuple(item for item in items if _differs(item)))

    def _matters(self, row: ComparedRow) -> bool:
        """Whether a row is about the change: a difference, or a value in a changed file that is not known."""
        if row.answer != "unknown":
            return row.answer != "same"
        sides = [side for side in (row.reference, row.migrated) if side is not None]
        return len({side.text for side in sides}) > 1 and any(side.path in self._two.changed for side in sides)


def _differs(item: ComparedItem) -> bool:
    return bool(item.rows or item.failures)
