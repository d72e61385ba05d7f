"""What the passes of a run work on: the data that one pass hands to the next, and what is the same for all of them."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import chain

import msgspec

from npulint.catalogue.check import COMPARE, Catalogue
from npulint.facts.model import FileFacts, Problem
from npulint.findings import Baseline, Finding, GraphSummary, ProgramSummary, Silenced
from npulint.postprocess.engine import ENGINE_RULES
from npulint.postprocess.scope import Scope
from npulint.postprocess.select import Identity, Selection
from npulint.run_summary import RunSummary
from npulint.settings import Settings
from npulint.source_lines import LineProvider

EVERYTHING = Scope()


class RawResults(msgspec.Struct, frozen=True):
    """The raw results of one project, or of all projects of a run: findings in any order, programs, files (only their
    problems and comments matter here), graphs, operator lists that could not be used (`unlisted`), training runs, and
    the `problems` of discovery."""

    findings: Sequence[Finding] = ()
    programs: Sequence[ProgramSummary] = ()
    files: Sequence[FileFacts] = ()
    graphs: Sequence[GraphSummary] = ()
    unlisted: Sequence[Problem] = ()
    runs: Sequence[RunSummary] = ()
    problems: Sequence[Problem] = ()


def merged(projects: Iterable[RawResults], problems: Sequence[Problem] = ()) -> RawResults:
    """The results of all projects as one, with the `problems` of discovery."""
    parts = list(projects)
    return RawResults(
        findings=list(chain.from_iterable(one.findings for one in parts)),
        programs=list(chain.from_iterable(one.programs for one in parts)),
        files=list(chain.from_iterable(one.files for one in parts)),
        graphs=list(chain.from_iterable(one.graphs for one in parts)),
        unlisted=list(chain.from_iterable(one.unlisted for one in parts)),
        runs=list(chain.from_iterable(one.runs for one in parts)),
        problems=problems,
    )


class RunContext(msgspec.Struct, frozen=True, dict=True):
    """What every pass may ask: the settings, the catalogue, the source lines of any path and the scope of the run.

    A run is either `comparing` or not; the checks of the other kind are not evaluated in it. `started` is the value of
    the performance counter when the run began (0: its duration does not matter).
    """

    settings: Settings
    catalogue: Catalogue
    lines: LineProvider
    scope: Scope = EVERYTHING
    comparing: bool = False
    started: float = 0.0

    @cached_property
    def lang(self) -> str:
        """The language of all texts."""
        return self.settings.language()

    @cached_property
    def rules(self) -> list[Identity]:
        """All checks that exist, those of the engine included."""
        return [*self.catalogue.checks, *ENGINE_RULES]

    @cached_property
    def selection(self) -> Selection:
        """Which checks the settings select among those that this kind of run evaluates."""
        other = {check.code for check in self.catalogue.checks if (check.family == COMPARE) != self.comparing}
        return Selection(self.settings, other)

    @cached_property
    def codes(self) -> frozenset[str]:
        """The codes of the selected checks."""
        return frozenset(rule.code for rule in self.rules if self.selection.includes(rule))

    def seconds(self) -> float:
        """How long the run has taken so far."""
        return time.perf_counter() - self.started if self.started else 0.0


class RunData(msgspec.Struct, frozen=True, kw_only=True):
    """What a run knows so far; each pass gives a new record.

    `raw` is what came in and stays as it is. `findings` are those that are still to be reported, `complaints` what is
    wrong with suppression comments, `unread` the files (or parts of them) that could not be read. `silenced` are
    findings that comments suppress, `known` those that the `baseline` accepts. `hidden` counts findings below the
    thresholds, `elsewhere` those outside of the scope. `notices` are warnings about the run itself.
    """

    raw: RawResults
    findings: list[Finding]
    programs: list[ProgramSummary]
    unread: list[Problem] = []
    complaints: list[Finding] = []
    silenced: list[Silenced] = []
    known: list[Silenced] = []
    baseline: Baseline | None = None
    hidden: int = 0
    elsewhere: int = 0
    notices: list[str] = []

    @property
    def has_graphs(self) -> bool:
        """Whether any finding is about a graph."""
        return any(one.subject for one in self.findings)

    @property
    def has_runs(self) -> bool:
        """Whether any finding is about the artifacts of a training run."""
        return any(one.artifact_location is not None for one in self.findings)
