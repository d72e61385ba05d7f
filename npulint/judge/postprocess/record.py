"""The data that postprocessing passes work on, and the context that is the same for all of them."""

from __future__ import annotations

import time
from collections.abc import Hashable, Iterable, Sequence
from functools import cached_property
from itertools import chain

import msgspec

from npulint.facts.model import FileFacts, Problem
from npulint.judge.catalogue.check import COMPARE, Catalogue
from npulint.judge.evaluate.framework_uses import joined
from npulint.judge.findings import (
    Baseline,
    Finding,
    FrameworkUse,
    GraphSummary,
    InferredChips,
    ProgramSummary,
    SuppressedFinding,
)
from npulint.judge.postprocess.engine import ENGINE_RULES
from npulint.judge.postprocess.per_file import PerFileIgnores
from npulint.judge.postprocess.scope import ReportScope
from npulint.judge.postprocess.select import Identity, Selection, hidden_checks
from npulint.judge.settings import Settings
from npulint.judge.source_lines import LineProvider
from npulint.judge.summaries.run_summary import RunSummary

EVERYTHING = ReportScope()


class RawResults(msgspec.Struct, frozen=True):
    """The raw results of one or all projects: unsorted findings, programs, files (for their problems and comments),
    graphs, unusable operator lists (`unlisted`), training runs, the `problems` of discovery, the `chips` that each
    project with programs is for, and the frameworks that files import (`seen`)."""

    findings: Sequence[Finding] = ()
    programs: Sequence[ProgramSummary] = ()
    files: Sequence[FileFacts] = ()
    graphs: Sequence[GraphSummary] = ()
    unlisted: Sequence[Problem] = ()
    runs: Sequence[RunSummary] = ()
    problems: Sequence[Problem] = ()
    chips: Sequence[InferredChips] = ()
    seen: Sequence[FrameworkUse] = ()


def merged(projects: Iterable[RawResults], problems: Sequence[Problem] = ()) -> RawResults:
    """The raw results of all projects as one, with the `problems` of discovery."""
    parts = list(projects)
    return RawResults(
        findings=list(chain.from_iterable(part.findings for part in parts)),
        programs=list(chain.from_iterable(part.programs for part in parts)),
        files=list(chain.from_iterable(part.files for part in parts)),
        graphs=list(chain.from_iterable(part.graphs for part in parts)),
        unlisted=list(chain.from_iterable(part.unlisted for part in parts)),
        runs=list(chain.from_iterable(part.runs for part in parts)),
        problems=problems,
        chips=list(chain.from_iterable(part.chips for part in parts)),
        seen=joined(chain.from_iterable(part.seen for part in parts)),
    )


class RunContext(msgspec.Struct, frozen=True, dict=True):
    """The context of all passes: settings, catalogue, source lines and scope. When `comparing`, only comparison checks
    are evaluated, else only the others. `started` is the start of the run on the performance counter (0: duration not
    needed)."""

    settings: Settings
    catalogue: Catalogue
    lines: LineProvider
    scope: ReportScope = EVERYTHING
    comparing: bool = False
    started: float = 0.0

    @cached_property
    def lang(self) -> str:
        return self.settings.language()

    @cached_property
    def rules(self) -> list[Identity]:
        """All checks, including those of the engine."""
        return self.catalogue.once("rules", lambda: [*self.catalogue.checks, *ENGINE_RULES])

    @cached_property
    def _choice(self) -> Hashable:
        """All that decides which checks are selected."""
        settings = self.settings
        return settings.select, settings.extend_select, settings.ignore, settings.preview, self.comparing

    @cached_property
    def selection(self) -> Selection:
        """The selected checks among those that this kind of run evaluates."""
        return self.catalogue.once(("selection", self._choice), self._selected)

    def _selected(self) -> Selection:
        other = {check.code for check in self.catalogue.checks if (check.family == COMPARE) != self.comparing}
        return Selection(self.settings, other | hidden_checks(self.catalogue.checks, self.settings))

    @cached_property
    def codes(self) -> frozenset[str]:
        """The codes of the selected checks."""
        return self.catalogue.once(
            ("selected codes", self._choice),
            lambda: frozenset(rule.code for rule in self.rules if self.selection.includes(rule)),
        )

    @cached_property
    def by_code(self) -> dict[str, Identity]:
        return self.catalogue.once("rules by code", lambda: {rule.code: rule for rule in self.rules})

    @cached_property
    def per_file(self) -> PerFileIgnores:
        """The checks that are ignored in some files."""
        return PerFileIgnores(self.settings.per_file_ignores, self.settings.base)

    def seconds(self) -> float:
        """The duration of the run so far in seconds."""
        return time.perf_counter() - self.started if self.started else 0.0


class RunData(msgspec.Struct, frozen=True, kw_only=True):
    """The state of postprocessing; each pass returns a new record. `raw` is the input without its findings. `findings`
    are those still to be reported, `complaints` are about suppression comments, `unread` are files (or parts) that
    could not be read. `suppressed` are suppressed by comments, `known` by the `baseline`. `hidden` counts findings
    below the thresholds, `elsewhere` those out of scope. `notices` are warnings about the run itself."""

    raw: RawResults
    findings: list[Finding]
    programs: list[ProgramSummary]
    unread: list[Problem] = []
    complaints: list[Finding] = []
    suppressed: list[SuppressedFinding] = []
    known: list[SuppressedFinding] = []
    baseline: Baseline | None = None
    hidden: int = 0
    elsewhere: int = 0
    notices: list[str] = []

    @property
    def has_graphs(self) -> bool:
        """Whether there are graph findings."""
        return any(finding.subject for finding in self.findings)

    @property
    def has_runs(self) -> bool:
        """Whether there are run findings."""
        return any(finding.artifact_location is not None for finding in self.findings)
