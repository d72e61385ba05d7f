"""Mends what findings say can be mended: judge, change, judge again, until nothing is left to do. In memory; what is to
be written is handed back (`npulint.fix.write`)."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Collection

import msgspec

from npulint.cache import open_cache
from npulint.catalogue.check import Catalogue
from npulint.catalogue.load import load_catalogue
from npulint.facts.model import FileFacts, Span
from npulint.findings import Finding, RunResult
from npulint.fix.edits import Proposal, Spot
from npulint.fix.fix_pass import Denied, Done, made, proposals
from npulint.fix.fix_workspace import FixWorkspace
from npulint.fix.idempotence import AppliedFix, marked
from npulint.fix.model import FileChange, Fixed, FixResult, Plan, Refusal
from npulint.pipeline import CheckedProjects, build_result, check_paths
from npulint.postprocess.comments import ignoring
from npulint.postprocess.finalize import finalize
from npulint.postprocess.record import RawResults, RunContext
from npulint.postprocess.scope import Scope
from npulint.postprocess.select import Identity
from npulint.progress import Progress
from npulint.project_runner import Evaluator
from npulint.project_runner import facts_of as read_facts
from npulint.read.files import Loaded
from npulint.settings import Settings
from npulint.source_lines import FileLines
from npulint.temp_project import materialize
from npulint.workers import collector_at_rest

_ROUNDS = 10
_ATTEMPTS = 5  # to leave out what does not come to rest
_COLLECT_AFTER = 1500  # files judged again
_RESTLESS = "restless"


def apply_fixes(settings: Settings, unsafe: bool, progress: Progress | None = None) -> FixResult:
    """Mend the files of the paths of `settings`, with `unsafe` also by changes that may alter results. Nothing is
    written. Raises `CatalogueError` for a broken check file, `ConfigError` for settings that name unknown checks."""
    begun = time.perf_counter()
    catalogue = load_catalogue(settings.checks, whole=False)
    first = check_paths(settings, catalogue, progress)
    mender = _Fixer(Evaluator(catalogue, settings, open_cache(settings.cache)), unsafe, first.context_only)
    given = settings.piped()
    found: list[_ProjectFixes] = []
    waiting = 0
    with collector_at_rest():
        for (root, sources), outcome in zip(first.projects.items(), first.outcomes, strict=True):
            if not _promising(outcome, unsafe):
                found.append(_ProjectFixes(outcome))
                continue
            named = {source.path for source in sources} - first.context_only
            desk = FixWorkspace(root, sources, named, given, growing=not given, explicit=first.found.named)
            found.append(mender.project(root, desk, outcome))
            waiting += len(sources)
            if waiting > _COLLECT_AFTER:
                gc.collect()
                waiting = 0
    after = {one.path: one.after for some in found for one in some.files}
    last = CheckedProjects(first.found, first.context_only, first.projects, [some.outcome for some in found])
    return _together(found, build_result(last, settings, catalogue, begun, FileLines({**given, **after})))


def fix_texts(
    files: dict[str, str],
    target: dict[str, str],
    catalogue: Catalogue,
    codes: Collection[str] | None = None,
    unsafe: bool = True,
) -> FixResult:
    """Mend some texts by file name as one project, by the checks with these codes (None: all)."""
    settings = Settings(target=target, cache=False, select=tuple(codes or ()))
    with materialize(files) as (folder, sources):
        mender = _Fixer(Evaluator(catalogue, settings, open_cache(False)), unsafe)
        desk = FixWorkspace(".", sources, {source.path for source in sources}, {}, folder)
        found = mender.project(".", desk, mender.judge(".", desk.loaded()))
        lines = FileLines(desk.bytes_of())
    return _together([found], mender.result(found.outcome, lines))


def fixed_example(
    files: dict[str, str], target: dict[str, str], code: str, catalogue: Catalogue
) -> tuple[dict[str, str], list[str]]:
    """The texts that the fixes of one check alone change, and where and why it leaves others: how the examples of
    checks are tested."""
    mended = fix_texts(files, target, catalogue, (code,))
    refused = [f"{one.path}:{one.line} {one.reason}" for one in mended.refused]
    return {one.path: one.after.decode("utf-8") for one in mended.files}, refused


class _ProjectFixes(msgspec.Struct, frozen=True):
    """What became of one project."""

    outcome: RawResults
    files: list[FileChange] = []
    fixed: list[Fixed] = []
    refused: list[Refusal] = []


class _Attempt(msgspec.Struct, frozen=True):
    """Where one attempt to mend a project ended: what it made, what it could not make, and what never came to rest."""

    outcome: RawResults
    fixed: list[Fixed]
    refused: list[Refusal]
    restless: set[Spot] = set()


class _Fixer:
    """What is the same for all projects of a run."""

    def __init__(self, evaluator: Evaluator, unsafe: bool, silent: frozenset[str] = frozenset()) -> None:
        self._evaluator = evaluator
        self._unsafe = unsafe
        self._scope = Scope(silent)
        self._facts: dict[tuple[str, str], tuple[bytes, FileFacts]] = {}

    def project(self, root: str, desk: FixWorkspace, first: RawResults) -> _ProjectFixes:
        """Mend one project, whose outcome as it is now is known. What spoils that leaves the project as it is."""
        self._facts.clear()
        blamed: set[Spot] = set()
        try:
            for _ in range(_ATTEMPTS):
                attempt = self._attempt(root, desk, first, blamed)
                if not attempt.restless:
                    return _ProjectFixes(attempt.outcome, desk.changes(), attempt.fixed, attempt.refused)
                blamed |= attempt.restless
                desk.reset()
            return _ProjectFixes(first, refused=[Refusal("", "", root, 0, _RESTLESS)])
        except (RecursionError, MemoryError):
            return _ProjectFixes(first, refused=[Refusal("", "", root, 0, "too-deep")])

    def result(self, outcome: RawResults, lines: FileLines) -> RunResult:
        """What a run says of one project alone."""
        evaluator = self._evaluator
        return finalize(outcome, RunContext(evaluator.settings, evaluator.catalogue, lines, self._scope))

    def judge(self, root: str, loaded: list[Loaded]) -> RawResults:
        """The outcome of a project, remembered if it can be. Only files that changed are read again."""
        return self._evaluator.loaded(root, loaded, lambda: self._read(loaded))

    def _read(self, loaded: list[Loaded]) -> list[FileFacts]:
        names = [(item.file.path, item.file.kind) for item in loaded]
        fresh = [
            (name, item)
            for name, item in zip(names, loaded, strict=True)
            if name not in self._facts or self._facts[name][0] != item.data
        ]
        facts = read_facts([item for _, item in fresh], self._evaluator.cache)
        self._facts.update({name: (item.data, one) for (name, item), one in zip(fresh, facts, strict=True)})
        return [self._facts[name][1] for name in names]

    def _attempt(self, root: str, desk: FixWorkspace, first: RawResults, blamed: Collection[Spot]) -> _Attempt:
        """Rounds until nothing is left to do, without what is `blamed`."""
        from npulint.fix.cleanup import tidied
        from npulint.fix.imports import united
        from npulint.fix.plan import planned

        outcome, fixed = first, list[Fixed]()
        marks: list[AppliedFix] = []
        tidy = False
        for number in range(_ROUNDS + 1):
            findings = self.result(outcome, FileLines(desk.bytes_of())).findings
            guard = _Guard(desk, outcome, blamed)
            wanted, denied = proposals(findings, self._unsafe, desk.document, planned, guard.objection)
            again = {mark.spot for mark in marks if mark.recurs([*wanted, *denied], desk)}
            done = made(wanted, desk.document, united)
            if again or (done.data and number == _ROUNDS):
                return _Attempt(outcome, fixed, [], again or {one.spot for one in done.made})
            if not done.data and not tidy and number < _ROUNDS:
                data, edits = tidied(desk)
                tidy = True
                if data:
                    desk.put(data, edits)
                    outcome, marks = self.judge(root, desk.loaded()), []
                    continue
            if not done.data:
                refused = [_refusal(one, desk) for one in (*denied, *done.denied, *_idle(done))]
                return _Attempt(outcome, fixed, refused)
            fixed += [_fixed(one, desk) for one in done.effective]
            marks = marked(done, denied, desk)
            desk.put(done.data, done.edits)
            outcome = self.judge(root, desk.loaded())
        raise AssertionError("the last round decides")


class _Guard:
    """Keeps changes away from where they do not belong."""

    def __init__(self, desk: FixWorkspace, outcome: RawResults, blamed: Collection[Spot]) -> None:
        self._desk = desk
        self._blamed = blamed
        self._ignoring: dict[str, Callable[[Identity, Span | None], bool]] = {}
        self._commented: dict[str, list[FileFacts]] = {}
        for file in outcome.files:
            if file.comments:
                self._commented.setdefault(file.path, []).append(file)

    def objection(self, one: Finding, path: str, place: Span, plan: Plan) -> str:
        """Why a change at a place is not to be made: it does not come to rest, touches a file that was not named, or a
        place or file that a comment keeps the check away from."""
        if (one.code, path) in self._blamed:
            return _RESTLESS
        paths = {edit.path for edit in plan.edits} | {wish.path for wish in plan.imports}
        if not all(map(self._desk.may_change, paths)):
            return "not-named"
        if self._ignored(one, path, place) or any(self._ignored(one, other, None) for other in sorted(paths)):
            return "suppressed"
        if self._of_other_adapter(plan):
            return "adapter"
        return ""

    def _of_other_adapter(self, plan: Plan) -> bool:
        """Whether imports are wished for that cannot be had beside the adapter of the project: npu_bridge is there
        under TensorFlow 1 alone, npu_device under TensorFlow 2."""
        wished = {wish.statement.split()[1].partition(".")[0] for wish in plan.imports} & {"npu_bridge"}
        return (
            bool(wished)
            and self._desk.imported_at_first("npu_device")
            and not any(map(self._desk.imported_at_first, wished))
        )

    def _ignored(self, one: Finding, path: str, place: Span | None) -> bool:
        if path not in self._commented:
            return False
        if path not in self._ignoring:
            text = self._desk.document(path).text.text
            self._ignoring[path] = ignoring(self._commented[path], text.split("\n"))
        return self._ignoring[path](one, place)


def _promising(outcome: RawResults, unsafe: bool) -> bool:
    """Whether there may be something to mend; comments may be of no use."""
    fixes = [one.fix for one in outcome.findings if one.fix.changes or one.fix.edits]
    if any(
        unsafe or fix.applicability == "safe" or any(c.applicability == "safe" for c in fix.changes) for fix in fixes
    ):
        return True
    return any(file.comments for file in outcome.files)


def _fixed(one: Proposal, desk: FixWorkspace) -> Fixed:
    finding = one.finding
    return Fixed(finding.code, finding.name, one.path, desk.line(one.path, one.place.line), one.applicability)


def _refusal(one: Denied, desk: FixWorkspace) -> Refusal:
    finding = one.finding
    return Refusal(finding.code, finding.name, one.path, desk.line(one.path, one.place.line), one.reason)


def _idle(done: Done) -> list[Denied]:
    """Changes that were made and changed nothing."""
    return [Denied(one.finding, one.path, one.place, one.change, _RESTLESS) for one in done.made]


def _together(found: list[_ProjectFixes], result: RunResult) -> FixResult:
    files = sorted((one for some in found for one in some.files), key=lambda one: one.path)
    fixed = sorted((one for some in found for one in some.fixed), key=lambda one: (one.path, one.line, one.code))
    refused = {one: None for some in found for one in some.refused}
    return FixResult(files, fixed, sorted(refused, key=lambda one: (one.path, one.line, one.code, one.reason)), result)


__all__ = ["FileChange", "FixResult", "Fixed", "Refusal", "apply_fixes", "fix_texts", "fixed_example"]
