"""Applies fixes in memory: evaluates, edits and evaluates again until nothing is left to fix. `npulint.fix.write`
writes the files."""

from __future__ import annotations

import gc
import os
import time
from collections.abc import Callable, Collection, Iterable, Sequence

import msgspec

from npulint.commands.check.pipeline import CheckedProjects, build_result, check_paths
from npulint.commands.check.project_results import Evaluator
from npulint.commands.check.project_results import facts_of as read_facts
from npulint.commands.check.temp_project import materialize
from npulint.commands.check.workers import collector_at_rest
from npulint.core.cache import open_cache
from npulint.core.progress import Progress
from npulint.facts.model import FileFacts, Span
from npulint.fix.edits import CheckInFile, Proposal
from npulint.fix.fix_pass import PassResult, Planner, RefusedFix, made, proposals
from npulint.fix.fix_workspace import FixWorkspace
from npulint.fix.idempotence import AppliedFix, applied_fixes
from npulint.fix.model import FixRefused, Plan
from npulint.judge.catalogue.check import Catalogue
from npulint.judge.catalogue.load import load_catalogue
from npulint.judge.findings import Finding, RunResult
from npulint.judge.fix_results import FileChange, Fixed, FixResult, Refusal, Touched
from npulint.judge.postprocess.comments import ignoring
from npulint.judge.postprocess.finalize import finalize, reported
from npulint.judge.postprocess.record import PerFileIgnores, RawResults, ReportScope, RunContext
from npulint.judge.postprocess.select import Identity
from npulint.judge.settings import Settings
from npulint.judge.source_lines import FileLines
from npulint.read.files import LoadedFile

_ROUNDS = 10
_ATTEMPTS = 5  # to leave out fixes that do not converge
_COLLECT_AFTER = 1500  # files evaluated again
_RESTLESS = "restless"


def apply_fixes(
    settings: Settings,
    unsafe: bool,
    progress: Progress | None = None,
    may_change: Callable[[str], bool] = lambda _: True,
    first: CheckedProjects | None = None,
) -> FixResult:
    """Fix the files of ``settings.paths`` that `may_change`, with `unsafe` also by fixes that may change results;
    writes nothing. `first` are the results of a check with these settings, if there was one. Raises `CatalogueError`
    for a broken check file, `ConfigError` for settings that select unknown checks."""
    begun = time.perf_counter()
    catalogue = load_catalogue(settings.checks, whole=False)
    first = first or check_paths(settings, catalogue, progress)
    fixer = _Fixer(Evaluator(catalogue, settings, open_cache(settings.cache)), unsafe, first.context_only)
    piped = settings.piped()
    project_fixeses: list[_ProjectFixes] = []
    waiting = 0
    with collector_at_rest():
        for (root, sources), outcome in zip(first.projects.items(), first.outcomes, strict=True):
            if not _promising(outcome, unsafe):
                project_fixeses.append(_ProjectFixes(outcome))
                continue
            named = {source.path for source in sources if may_change(source.path)} - first.context_only
            workspace = FixWorkspace(root, sources, named, piped, growing=not piped, explicit=first.discovery.named)
            project_fixeses.append(fixer.project(root, workspace, outcome))
            waiting += len(sources)
            if waiting > _COLLECT_AFTER:
                gc.collect()
                waiting = 0
    after = {file.path: file.after for some in project_fixeses for file in some.files}
    last = CheckedProjects(
        first.discovery, first.context_only, first.projects, [some.outcome for some in project_fixeses]
    )
    checked = (file.location for file in first.discovery.files if file.path not in piped)
    folders = tuple(sorted({os.path.dirname(location) for location in checked}))
    lines = FileLines({**piped, **after}, settings.boundary())
    return _together(project_fixeses, build_result(last, settings, catalogue, begun, lines), folders)


def fix_texts(
    files: dict[str, str],
    target: dict[str, str],
    catalogue: Catalogue,
    codes: Collection[str] | None = None,
    unsafe: bool = True,
) -> FixResult:
    """Fix source texts by file name as one project, with the checks of these `codes` (None: all)."""
    settings = Settings(target=target, cache=False, select=tuple(codes or ()))
    with materialize(files) as (folder, sources):
        fixer = _Fixer(Evaluator(catalogue, settings, open_cache(False)), unsafe)
        workspace = FixWorkspace(".", sources, {source.path for source in sources}, {}, folder)
        project_fixes = fixer.project(".", workspace, fixer.judge(".", workspace.loaded()))
        lines = FileLines(workspace.bytes_of())
    return _together([project_fixes], fixer.result(project_fixes.outcome, lines))


def fixed_example(
    files: dict[str, str], target: dict[str, str], code: str, catalogue: Catalogue
) -> tuple[dict[str, str], list[str]]:
    """The texts changed by the fixes of one check, and ``path:line reason`` of each refused fix; for tests of
    examples."""
    fixes = fix_texts(files, target, catalogue, (code,))
    refused = [f"{refusal.path}:{refusal.line} {refusal.reason}" for refusal in fixes.refused]
    return {file.path: file.after.decode("utf-8") for file in fixes.files}, refused


class _ProjectFixes(msgspec.Struct, frozen=True):
    """The fixes of one project."""

    outcome: RawResults
    files: list[FileChange] = []
    fixed: list[Fixed] = []
    refused: list[Refusal] = []
    solved: tuple[str, ...] = ()


class _Attempt(msgspec.Struct, frozen=True):
    """The outcome of one attempt to fix a project: what was applied, what was refused, which checks never converge, and
    the fingerprints of findings that the fixes of others solved."""

    outcome: RawResults
    fixed: list[Fixed]
    refused: list[Refusal]
    restless: set[CheckInFile] = set()
    solved: tuple[str, ...] = ()


class _Fixer:
    """Fixes projects one by one with the same checks and settings."""

    def __init__(self, evaluator: Evaluator, unsafe: bool, context_only: frozenset[str] = frozenset()) -> None:
        self._evaluator = evaluator
        self._unsafe = unsafe
        self._scope = ReportScope(context_only)
        self._per_file = PerFileIgnores(evaluator.settings.per_file_ignores, evaluator.settings.base)
        self._facts: dict[tuple[str, str], tuple[bytes, FileFacts]] = {}

    def project(self, root: str, workspace: FixWorkspace, first: RawResults) -> _ProjectFixes:
        """Fix one project with `first` as its results, or those of the files as they are now if they changed since.
        After an internal error the project stays as it is."""
        self._facts.clear()
        blamed: set[CheckInFile] = set()
        try:
            if not workspace.matches(first.files):
                first = self.judge(root, workspace.loaded())
            for _ in range(_ATTEMPTS):
                attempt = self._attempt(root, workspace, first, blamed)
                if not attempt.restless:
                    outcome = self._kept_open(workspace, first, attempt)
                    return _ProjectFixes(outcome, workspace.changes(), attempt.fixed, attempt.refused, attempt.solved)
                blamed |= attempt.restless
                workspace.reset()
            return _ProjectFixes(first, refused=[Refusal("", "", root, 0, _RESTLESS)])
        except (RecursionError, MemoryError):
            return _ProjectFixes(first, refused=[Refusal("", "", root, 0, "too-deep")])

    def _kept_open(self, workspace: FixWorkspace, first: RawResults, attempt: _Attempt) -> RawResults:
        """The outcome of an attempt, where problems of the original state that no fix solved keep their weight."""
        if not attempt.fixed:
            return attempt.outcome
        from npulint.fix.open_todos import kept_open

        evaluator = self._evaluator
        original = FileLines(workspace.original_bytes(), evaluator.settings.boundary())
        context = RunContext(evaluator.settings, evaluator.catalogue, original, self._scope)
        findings = kept_open(reported(first, context), attempt.outcome.findings, attempt.fixed)
        return msgspec.structs.replace(attempt.outcome, findings=findings)

    def result(self, outcome: RawResults, lines: FileLines) -> RunResult:
        """The postprocessed result of one project alone."""
        evaluator = self._evaluator
        return finalize(outcome, RunContext(evaluator.settings, evaluator.catalogue, lines, self._scope))

    def judge(self, root: str, loaded: list[LoadedFile]) -> RawResults:
        """The raw results of a project, from the cache if possible. Only changed files are read again."""
        return self._evaluator.loaded(root, loaded, lambda: self._read(loaded))

    def _read(self, loaded: list[LoadedFile]) -> list[FileFacts]:
        names = [(item.file.path, item.file.kind) for item in loaded]
        fresh = [
            (name, item)
            for name, item in zip(names, loaded, strict=True)
            if name not in self._facts or self._facts[name][0] != item.data
        ]
        facts = read_facts([item for _, item in fresh], self._evaluator.cache)
        self._facts.update({name: (item.data, file) for (name, item), file in zip(fresh, facts, strict=True)})
        return [self._facts[name][1] for name in names]

    def _attempt(
        self, root: str, workspace: FixWorkspace, first: RawResults, blamed: Collection[CheckInFile]
    ) -> _Attempt:
        """Run fix passes until nothing is left to fix, without the fixes in `blamed`."""
        from npulint.fix.fix_workspace import cleaned_up
        from npulint.fix.imports import merged_imports

        planner_of = self._planners(workspace, first)
        outcome, fixed = first, list[Fixed]()
        copies: list[Refusal] = []
        original: _OriginalFindings | None = None
        marks: list[AppliedFix] = []
        tidy = False
        for number in range(_ROUNDS + 1):
            lines = FileLines(workspace.bytes_of(), self._evaluator.settings.boundary())
            findings = self.result(outcome, lines).findings
            if original is None:
                original = _OriginalFindings(findings)
            guard = _Guard(workspace, outcome, blamed, self._per_file)
            proposed, denied = proposals(findings, self._unsafe, workspace.document, planner_of, guard.objection)
            again = {mark.check_in_file for mark in marks if mark.recurs([*proposed, *denied], workspace)}
            done = made(proposed, workspace.document, merged_imports)
            if again or (done.data and number == _ROUNDS):
                return _Attempt(outcome, fixed, [], again or {proposal.check_in_file for proposal in done.made})
            if not done.data and not tidy and number < _ROUNDS:
                data, edits = cleaned_up(workspace)
                tidy = True
                if data:
                    workspace.put(data, edits)
                    outcome, marks = self.judge(root, workspace.loaded()), []
                    continue
            if not done.data:
                refused = [_refusal(refused_fix, workspace) for refused_fix in (*denied, *done.denied, *_idle(done))]
                refused += _without(copies, refused, fixed)
                solved = original.solved(findings, fixed, refused, workspace, self._unsafe)
                return _Attempt(outcome, fixed, refused, solved=solved)
            copies += [
                _refusal(refused_fix, workspace) for refused_fix in (*denied, *done.denied) if refused_fix.makes_file
            ]
            fixed += [_fixed(proposal, workspace, original) for proposal in done.effective]
            marks = applied_fixes(done, denied, workspace)
            workspace.put(done.data, done.edits)
            outcome = self.judge(root, workspace.loaded())
        raise AssertionError("the last round decides")

    def _planners(self, workspace: FixWorkspace, first: RawResults) -> Callable[[Finding], Planner]:
        """The planner for the fixes of a finding, in the way of migration of these settings."""
        from npulint.fix.plan import planned

        if self._evaluator.settings.torch_port != "agnostic":
            return lambda _: planned
        from npulint.fix.agnostic import AgnosticPlanner
        from npulint.fix.spelling import spelling_of

        programs = {program.entry: program.paths for program in first.programs if program.entry.endswith(".py")}
        releases = [self._evaluator.settings.target.get("torch", ""), *(program.torch for program in first.programs)]
        spelling = spelling_of(dict(workspace.python_texts()), programs, workspace.paths, releases)
        return AgnosticPlanner(planned, spelling).of


class _Guard:
    """Refuses fixes outside their permitted places."""

    def __init__(
        self,
        workspace: FixWorkspace,
        outcome: RawResults,
        blamed: Collection[CheckInFile],
        per_file: PerFileIgnores,
    ) -> None:
        self._workspace = workspace
        self._per_file = per_file
        self._blamed = blamed
        self._ignoring: dict[str, Callable[[Identity, Span | None], bool]] = {}
        self._commented: dict[str, list[FileFacts]] = {}
        for file in outcome.files:
            if file.comments:
                self._commented.setdefault(file.path, []).append(file)

    def objection(self, finding: Finding, path: str, place: Span, plan: Plan) -> FixRefused | None:
        """Why a fix at a place is refused, none if it is not: it does not converge, changes a file that was not named
        or a link, or a comment suppresses the check there."""
        if (finding.code, path) in self._blamed:
            return FixRefused(_RESTLESS)
        paths = sorted({edit.path for edit in plan.edits} | {request.path for request in plan.imports})
        if not all(map(self._workspace.may_change, paths)):
            return FixRefused("not-named")
        for other in filter(self._workspace.is_link, paths):
            return FixRefused("link", path=other)
        if self._ignored(finding, path, place):
            return FixRefused("suppressed")
        for other in paths:
            if self._ignored(finding, other, None):
                return FixRefused("suppressed", path=other)
        return FixRefused("adapter") if self._of_other_adapter(plan) else None

    def _of_other_adapter(self, plan: Plan) -> bool:
        """Whether a plan imports npu_bridge into a project for TensorFlow 2, whose adapter is npu_device."""
        adapters = {request.statement.split()[1].partition(".")[0] for request in plan.imports} & {"npu_bridge"}
        return (
            bool(adapters)
            and self._workspace.imported_at_first("npu_device")
            and not any(map(self._workspace.imported_at_first, adapters))
        )

    def _ignored(self, finding: Finding, path: str, place: Span | None) -> bool:
        if self._per_file and self._per_file.ignores(finding, path):
            return True
        if path not in self._commented:
            return False
        if path not in self._ignoring:
            text = self._workspace.document(path).text.text
            self._ignoring[path] = ignoring(self._commented[path], text.split("\n"))
        return self._ignoring[path](finding, place)


def _promising(outcome: RawResults, unsafe: bool) -> bool:
    """Whether there may be something to fix, unused suppression comments included."""
    fixes = [finding.fix for finding in outcome.findings if finding.fix.changes or finding.fix.edits]
    if any(
        unsafe or fix.applicability == "safe" or any(c.applicability == "safe" for c in fix.changes) for fix in fixes
    ):
        return True
    return any(file.comments for file in outcome.files)


class _OriginalFindings:
    """The findings before all fixes. A fix may change the fingerprints of others, which have the code that they are
    about in them; then the place tells which they are."""

    def __init__(self, findings: Iterable[Finding]) -> None:
        self._by_fingerprint: dict[str, Finding] = {}
        self._by_place: dict[tuple[str, str, int], Finding] = {}
        for finding in findings:
            self._by_fingerprint[finding.fingerprint] = finding
            self._by_place.setdefault((finding.code, finding.path, finding.span.line), finding)

    def of(self, finding: Finding, workspace: FixWorkspace) -> Finding | None:
        """What a finding of a later round was at first; none if it was not there."""
        place = (finding.code, finding.path, workspace.line(finding.path, finding.span.line))
        return self._by_fingerprint.get(finding.fingerprint) or self._by_place.get(place)

    def solved(
        self,
        left: Iterable[Finding],
        fixed: Sequence[Fixed],
        refused: Sequence[Refusal],
        workspace: FixWorkspace,
        unsafe: bool,
    ) -> tuple[str, ...]:
        """The fingerprints of fixable findings that are gone although no fix of their own was made: another fix did the
        same, or made theirs needless."""
        if not fixed:
            return ()
        still = {original.fingerprint for finding in left if (original := self.of(finding, workspace)) is not None}
        still |= {fix.original for fix in fixed}
        denied = {(refusal.code, refusal.path) for refusal in refused}
        return tuple(
            fingerprint
            for fingerprint, finding in self._by_fingerprint.items()
            if (finding.fix.changes or finding.fix.edits)
            and (unsafe or finding.fix.applicability == "safe")
            and fingerprint not in still
            and (finding.code, finding.path) not in denied
        )


def _fixed(proposal: Proposal, workspace: FixWorkspace, originals: _OriginalFindings) -> Fixed:
    finding = proposal.finding
    original = originals.of(finding, workspace)
    line = workspace.line(proposal.path, proposal.place.line)
    paths = tuple(sorted(proposal.paths))
    return Fixed(
        finding.code,
        finding.name,
        proposal.path,
        line,
        proposal.applicability,
        paths,
        _touched(proposal, workspace),
        finding,
        original.fingerprint if original else "",
        original is not None and not (original.fix.edits or original.fix.changes),
    )


def _touched(proposal: Proposal, workspace: FixWorkspace) -> tuple[Touched, ...]:
    """The places that a fix changes, in lines of the original files."""
    toucheds = []
    for edit in proposal.plan.edits:
        span = edit.span
        ends_line = span.end_column == 1 and span.end_line > span.line
        last = span.end_line - ends_line
        toucheds.append(Touched(edit.path, workspace.line(edit.path, span.line), workspace.line(edit.path, last)))
    toucheds += [Touched(request.path, statement=request.statement) for request in proposal.plan.imports]
    return tuple(dict.fromkeys(toucheds))


def _refusal(refused_fix: RefusedFix, workspace: FixWorkspace) -> Refusal:
    finding, line = refused_fix.finding, workspace.line(refused_fix.path, refused_fix.place.line)
    files = (refused_fix.elsewhere,) if refused_fix.elsewhere else ()
    return Refusal(finding.code, finding.name, refused_fix.path, line, refused_fix.reason, refused_fix.detail, files)


def _by_reason(refused: Iterable[Refusal]) -> list[Refusal]:
    """The refusals in order of place; those of one place for one reason as one with the files of all."""
    merged: dict[Refusal, set[str]] = {}
    for refusal in refused:
        merged.setdefault(msgspec.structs.replace(refusal, files=()), set()).update(refusal.files)
    refusals = [msgspec.structs.replace(refusal, files=tuple(sorted(files))) for refusal, files in merged.items()]
    return sorted(refusals, key=lambda refusal: (refusal.path, refusal.line, refusal.code, refusal.reason))


def _without(copies: list[Refusal], refused: list[Refusal], fixed: list[Fixed]) -> list[Refusal]:
    """The refused `copies` of files that were neither made nor refused later: once the code is for the NPU, the checks
    of launchers for GPUs report no more."""
    told = {(refusal.code, refusal.path) for refusal in refused} | {(fix.code, fix.path) for fix in fixed}
    return [copy for copy in copies if (copy.code, copy.path) not in told]


def _idle(done: PassResult) -> list[RefusedFix]:
    """Fixes that were applied without changing anything, as refusals."""
    return [
        RefusedFix(proposal.finding, proposal.path, proposal.place, proposal.change, _RESTLESS)
        for proposal in done.made
    ]


def _together(project_fixeses: list[_ProjectFixes], result: RunResult, folders: tuple[str, ...] = ()) -> FixResult:
    files = sorted((file for some in project_fixeses for file in some.files), key=lambda file_change: file_change.path)
    fixed = sorted(
        (fix for some in project_fixeses for fix in some.fixed), key=lambda fix: (fix.path, fix.line, fix.code)
    )
    refused = _by_reason(refusal for some in project_fixeses for refusal in some.refused)
    solved = tuple(fingerprint for some in project_fixeses for fingerprint in some.solved)
    return FixResult(files, fixed, refused, result, folders, solved)


__all__ = ["FileChange", "FixResult", "Fixed", "Refusal", "apply_fixes", "fix_texts", "fixed_example"]
