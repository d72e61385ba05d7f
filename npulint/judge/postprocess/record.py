"""The data that postprocessing passes work on, and the context that is the same for all of them."""

from __future__ import annotations

import time
from collections.abc import Hashable, Iterable, Mapping, Sequence
from functools import cached_property
from itertools import chain
from typing import TypeAlias

import msgspec

from npulint.facts.model import FileFacts, Problem, Span
from npulint.judge.catalogue.check import COMPARE, Catalogue
from npulint.judge.evaluate.frameworks_seen import joined
from npulint.judge.evaluate.places import covered, moved_to, narrowed, place_of
from npulint.judge.findings import (
    Baseline,
    Finding,
    FrameworkUse,
    GraphSummary,
    InferredChips,
    OpenRelease,
    ProgramSummary,
    SuppressedFinding,
)
from npulint.judge.postprocess.engine import ENGINE_RULES
from npulint.judge.postprocess.select import Identity, Selection, hidden_checks, specificity
from npulint.judge.settings import Settings
from npulint.judge.source_lines import LineProvider
from npulint.judge.summaries.run_summary import RunSummary

# The scope of a run: which findings it reports when it has read more files than were named.

FindingKey: TypeAlias = tuple[str, str, Span]
"""The key of a finding: code, path and span."""


class ReportScope(msgspec.Struct, frozen=True):
    """`context_only` files are read only because the named files depend on them. `caused` are findings in them that a
    change of the named files caused."""

    context_only: frozenset[str] = frozenset()
    caused: frozenset[FindingKey] = frozenset()

    def in_scope(self, finding: Finding) -> bool:
        """Whether to report the finding: its place or a related location is in a named file, or it was caused."""
        if finding.path not in self.context_only or finding_key(finding) in self.caused:
            return True
        if any(place.path not in self.context_only for place in finding.related):
            return True
        return any((finding.code, *place_of(place)) in self.caused for place in covered(finding))

    def shown(self, finding: Finding) -> Finding:
        """A finding in scope at its first place in scope: a change of one place is reported there, not at another."""
        if finding.path not in self.context_only or finding_key(finding) in self.caused:
            return finding
        for place in covered(finding):
            if place.path not in self.context_only or (finding.code, *place_of(place)) in self.caused:
                return moved_to(finding, place_of(place))
        return finding


def finding_key(finding: Finding) -> FindingKey:
    """The key of a finding at its own place."""
    return finding.code, finding.path, finding.span


def covered_keys(finding: Finding) -> set[FindingKey]:
    """The keys of a finding at all places that it covers."""
    return {(finding.code, *place_of(place)) for place in covered(finding)}


def finding_keys(finding: Finding) -> set[FindingKey]:
    """The keys of a finding at its own place and all related locations."""
    return {finding_key(finding), *((finding.code, place.path, place.span) for place in finding.related)}


# Checks that the settings ignore in some files, and the severities that they give to checks.


class PerFileIgnores:
    """The checks that are ignored by pattern of files. A pattern that begins with ``!`` is about all other files.
    Patterns with a folder are relative to `base`."""

    def __init__(self, table: Mapping[str, Sequence[str]], base: str) -> None:
        if table:
            from npulint.discover.ignore import Excludes  # rarely needed

            self._groups = [
                (Excludes((pattern.removeprefix("!"),), base), pattern.startswith("!"), words)
                for pattern, words in table.items()
            ]
        else:
            self._groups = []
        self._words: dict[str, tuple[str, ...]] = {}

    def __bool__(self) -> bool:
        return bool(self._groups)

    def ignores(self, rule: Identity, path: str) -> bool:
        """Whether a check is ignored in a file."""
        return any(specificity(word, rule) for word in self._of(path))

    def left(self, finding: Finding) -> Finding | None:
        """The part of a finding at places in other files, None if there is none."""
        if not self._groups:
            return finding
        places = covered(finding)
        kept = {place_of(place) for place in places if not self.ignores(finding, place.path)}
        return narrowed(finding, kept) if kept else None

    def _of(self, path: str) -> tuple[str, ...]:
        words = self._words.get(path)
        if words is None:
            groups = (names for excludes, others, names in self._groups if excludes.within(path) != others)
            words = self._words[path] = tuple(word for names in groups for word in names)
        return words


def severity_of(rule: Identity, table: Mapping[str, str]) -> str:
    """The severity that the most specific word of `table` gives to a check, of equal ones the last; empty if none."""
    best, severity = 0, ""
    for word, level in table.items():
        close = specificity(word, rule)
        if close and close >= best:
            best, severity = close, level
    return severity


EVERYTHING = ReportScope()


class RawResults(msgspec.Struct, frozen=True):
    """The raw results of one or all projects: unsorted findings, programs, files (for their problems and comments),
    graphs, unusable operator lists (`unlisted`), training runs, the `problems` of discovery, the `chips` that each
    project with programs is for, the frameworks that files import (`seen`), and what depends on releases that nothing
    shows (`open_releases`)."""

    findings: Sequence[Finding] = ()
    programs: Sequence[ProgramSummary] = ()
    files: Sequence[FileFacts] = ()
    graphs: Sequence[GraphSummary] = ()
    unlisted: Sequence[Problem] = ()
    runs: Sequence[RunSummary] = ()
    problems: Sequence[Problem] = ()
    chips: Sequence[InferredChips] = ()
    seen: Sequence[FrameworkUse] = ()
    open_releases: Sequence[OpenRelease] = ()


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
        open_releases=list(chain.from_iterable(part.open_releases for part in parts)),
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
    below the thresholds, `elsewhere` those out of scope. `notices` are warnings about the run itself. `accounted` are
    the findings that the verdict is from: all that nobody accepts, whatever is displayed (None: `findings`)."""

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
    accounted: list[Finding] | None = None

    @property
    def has_graphs(self) -> bool:
        """Whether there are graph findings."""
        return any(finding.subject for finding in self.findings)

    @property
    def has_runs(self) -> bool:
        """Whether there are run findings."""
        return any(finding.artifact_location is not None for finding in self.findings)
