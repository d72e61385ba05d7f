"""Plans the port of a project: fixes in memory, divided into steps, and what is left to a person."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher
from typing import Literal

import msgspec

from npulint.commands.check.fix_command import apply_fixes
from npulint.commands.check.pipeline import build_result, check_paths
from npulint.commands.port.model import (
    OpenFinding,
    PlannedEdit,
    PlannedItem,
    PlannedStep,
    PortedProgram,
    PortPlan,
    Style,
)
from npulint.commands.port.programs import blocked, ported
from npulint.commands.port.readme import documented
from npulint.commands.port.stages import StagedFile, step_of
from npulint.core.errors import NpulintError
from npulint.core.lazy_regex import lazy_compile
from npulint.core.progress import Progress
from npulint.core.texts import say
from npulint.data.port_styles import STEPS
from npulint.fix.verify import syntax
from npulint.judge.catalogue.check import Catalogue
from npulint.judge.catalogue.load import load_catalogue
from npulint.judge.effort.estimate import estimate, needs_decision
from npulint.judge.findings import Finding, ProgramSummary, RunResult
from npulint.judge.fix_results import FileChange, Fixed, FixResult, Touched
from npulint.judge.settings import RANK, Settings
from npulint.judge.source_lines import FileLines
from npulint.judge.verdict import verdict_of
from npulint.report.fix_summary import why

# What a port leaves to a person.

_STEP = "mixed_precision"
_LAUNCHERS = ("tensorflow-launcher-for-gpus",)
"""The checks whose notes are left to a person if there is no launcher for the NPU."""
_COPIED = ("gpu-launcher-to-migrate", "framework-launcher-for-gpus")
"""Those whose notes are left to a person if the copy for the NPU was refused."""


def left_open(before: Sequence[Finding], fixes: FixResult, lang: str) -> tuple[OpenFinding, ...]:
    """The errors and warnings after the port, and notes about what only GPUs have, optimizers and mixed precision, most
    severe first, with the reasons of refused fixes. Those from `before` that no fix was made for are among them, even
    if the checks for ported code do not repeat them. Lines are those of the ported files."""
    refused = {
        (refusal.code, refusal.path): why(refusal, lang) for refusal in fixes.refused if refusal.reason != "not-named"
    }
    findings = [finding for finding in fixes.result.findings if _counts(finding)]
    solved = {(fix.code, fix.path) for fix in fixes.fixed}
    copied = _copied(fixes)
    repeated = _Repeated(before, findings)
    changes = {file.path: file for file in fixes.files}
    for finding in before:
        refusal = finding.name in _COPIED and (finding.code, finding.path) in refused
        relevant = _counts(finding) or finding.name in _LAUNCHERS or refusal
        if (
            relevant
            and finding.path not in copied
            and (finding.code, finding.path) not in solved
            and finding not in repeated
        ):
            findings.append(_moved(finding, changes.get(finding.path)))
    findings.sort(key=lambda finding: (-RANK[finding.severity], finding.path, finding.span.line))
    findings = _once(findings)
    return tuple(
        OpenFinding(finding, finding.fix.because or refused.get((finding.code, finding.path), ""))
        for finding in findings
    )


class _Repeated:
    """The findings from `before` a port that those `after` it tell as well: findings of the same check, or of one of
    the same topic that is for ported code only."""

    def __init__(self, before: Sequence[Finding], after: Sequence[Finding]) -> None:
        earlier = {(finding.code, place) for finding in before for place in _places(finding)}
        self._same = {(finding.code, place) for finding in after for place in _places(finding)}
        self._instead = {
            (finding.topic, finding.category, place)
            for finding in after
            for place in _places(finding)
            if (finding.code, place) not in earlier
        }

    def __contains__(self, finding: Finding) -> bool:
        told = any((finding.code, place) in self._same for place in _places(finding))
        other = any((finding.topic, finding.category, place) in self._instead for place in _places(finding))
        return finding.topic == "parse" or told or other


def _once(findings: Sequence[Finding]) -> list[Finding]:
    """The findings without notes that another check has told: before and after a port checks judge the same image, the
    same kernel or the same notebook differently. Severe ones come first."""
    told: dict[tuple[str, str, int], str] = {}
    kept = []
    for finding in findings:
        first = told.setdefault((finding.topic, finding.path, finding.span.line), finding.code)
        if finding.severity != "note" or first == finding.code:
            kept.append(finding)
    return kept


def _copied(fixes: FixResult) -> set[str]:
    """The launchers for GPUs of which there is a copy for the NPU: they stay as they are."""
    new = {file.path for file in fixes.files if file.new}
    return {fix.path for fix in fixes.fixed if fix.path not in fix.paths and not new.isdisjoint(fix.paths)}


def _counts(finding: Finding) -> bool:
    """Whether a person should know of a finding that stays: also of a note whose fix does not fit for a reason, and of
    mixed precision, a step of the port with notes only."""
    return needs_decision(finding) or finding.topic == _STEP or bool(finding.fix.because)


def _places(finding: Finding) -> tuple[str, ...]:
    """The file of a finding, and its program if the file is code, whose other files a check may name instead."""
    return tuple(filter(None, (finding.path, finding.program if finding.path.endswith(".py") else "")))


def _moved(finding: Finding, change: FileChange | None) -> Finding:
    """The finding at the line that its own has after a change."""
    if change is None:
        return finding
    line = finding.span.line - 1
    compared = SequenceMatcher(None, change.before.split(b"\n"), change.after.split(b"\n"), autojunk=False)
    for _, first, last, begin, end in compared.get_opcodes():
        if first <= line < last:
            moved = min(begin + line - first, max(end - 1, begin)) - line
            span = msgspec.structs.replace(
                finding.span, line=finding.span.line + moved, end_line=finding.span.end_line + moved
            )
            return msgspec.structs.replace(finding, span=span)
    return finding


# Chooses the style of a port.

_MANY = 60  # files that name CUDA; to change so many by hand later costs more than redirecting the names
_PACKAGED = ("setup.py", "pyproject.toml", "setup.cfg")
_TESTED = (".github/workflows", ".gitlab-ci.yml", ".circleci", "Jenkinsfile", "azure-pipelines.yml", "tox.ini")


def chosen(given: str, folder: str, programs: Sequence[ProgramSummary], naming_cuda: Iterable[str]) -> Style:
    """The style for a project: what the user has `given` (empty: nothing), else the one that fits. `naming_cuda` are
    the files that name CUDA."""
    frameworks = {program.framework.partition(" ")[0] for program in programs}
    if "tensorflow" in frameworks and "torch" not in frameworks:
        return Style("adapter", "tensorflow")
    if given:
        return Style(given, "given")
    migrations = {program.migration for program in programs}
    if "transfer" in migrations:
        return Style("transfer", "has-transfer")
    if "manual" in migrations:
        return Style("npu", "has-names")
    if _is_there(folder, _PACKAGED) and _is_there(folder, _TESTED):
        return Style("agnostic", "library")
    count = len(set(naming_cuda))
    return Style("transfer", "many", count) if count > _MANY else Style("npu", "few", count)


def _is_there(folder: str, names: Sequence[str]) -> bool:
    return any(os.path.exists(os.path.join(folder, name)) for name in names)


_ENGINE: dict[str, Literal["explicit", "transfer", "agnostic"]] = {
    "transfer": "transfer",
    "npu": "explicit",
    "agnostic": "agnostic",
    "adapter": "explicit",
}
_NAMES_GPU = lazy_compile(r"cuda|nccl|tensorflow|horovod", re.IGNORECASE)
_NAMES_CUDA = lazy_compile(r"cuda|nccl", re.IGNORECASE)
_USES_CUDA = lazy_compile(r"\btorch\.cuda\b|\.cuda\(|[\"']cuda(?::\d+)?[\"']")


def plan_port(settings: Settings, style: str, entries: Sequence[str], progress: Progress | None = None) -> PortPlan:
    """The plan for the project at ``settings.paths``. `style` is empty for the one that fits, `entries` names the
    programs to port (none: all). Writes nothing. Raises `NpulintError` for an entry that no program has, or if all
    programs are Python 2."""
    lang = settings.language()
    catalogue = load_catalogue(settings.checks, whole=False)
    checked = check_paths(settings, catalogue, progress)
    before = build_result(checked, settings, catalogue, time.perf_counter())
    scope = _Scope(before, entries, settings)

    def fixed(selected: Style) -> FixResult:
        port = _ENGINE[selected.name]
        checked_projects = checked if port == settings.torch_port else None
        asked = msgspec.structs.replace(settings, torch_port=port)
        return apply_fixes(asked, True, progress, scope.may_change, checked_projects)

    selected = chosen(style, settings.paths[0], before.programs, scope.naming(_NAMES_CUDA))
    fixes = fixed(selected)
    in_code = any(file.path.endswith(".py") for file in fixes.files)
    if not in_code and any(refusal.reason == "no-helper" for refusal in fixes.refused):
        if style:
            raise NpulintError(say(lang, "port.no-helper"))
        selected = Style("npu", "no-helper")
        fixes = fixed(selected)
    left = left_open(before.findings, fixes, lang)
    programs, steps = scope.ported(fixes, left), _steps(fixes, catalogue, lang)
    fixes, last = documented(settings.paths[0], fixes, programs, lang)
    every = (*steps, last) if last else steps
    return PortPlan(selected, every, left, programs, fixes, verdict_of(before), estimate(scope.concerned(before)))


class _Scope:
    """What of a project is ported: the programs of a check (`before`), unless they are not named in `entries` or cannot
    be ported as a whole. Raises `NpulintError`."""

    def __init__(self, before: RunResult, entries: Sequence[str], settings: Settings) -> None:
        self._programs = before.programs
        self._lines = FileLines({}, settings.boundary())
        self._paths = _paths(before.programs) | {problem.path for problem in before.unreadable}
        self._wanted = _named(before.programs, entries, settings.language())
        relevant = self.naming(_NAMES_GPU)
        self._stopped = blocked(before.programs, before, lambda path: path in relevant and not self._parses(path))
        _refuse_python2(self._stopped, before.programs, settings.language())
        free = [program for program in before.programs if program.entry not in self._stopped]
        self._mine = _paths(summary for summary in free if not self._wanted or summary.entry in self._wanted)
        self._of_programs = _paths(before.programs)

    def naming(self, names: re.Pattern[str]) -> set[str]:
        """The files of programs that contain one of the `names`."""
        return {path for path in self._paths if any(map(names.search, self._lines(path)))}

    def may_change(self, path: str) -> bool:
        """Whether the port may change a file."""
        return path in self._mine or not (self._wanted or path in self._of_programs)

    def concerned(self, before: RunResult) -> RunResult:
        """The result with the findings in what is ported alone."""
        if not self._wanted:
            return before
        findings = [
            finding
            for finding in before.findings
            if not self._wanted.isdisjoint((finding.program, *finding.programs)) or finding.path in self._mine
        ]
        return msgspec.structs.replace(before, findings=findings)

    def ported(self, fixes: FixResult, left: Sequence[OpenFinding]) -> tuple[PortedProgram, ...]:
        """What became of the programs."""
        findings = [open_finding.finding for open_finding in left]
        changed = {file.path for file in fixes.files}
        untouched = self.naming(_USES_CUDA) - changed
        return ported(self._programs, fixes.result.programs, findings, changed, untouched, self._stopped, self._wanted)

    def _parses(self, path: str) -> bool:
        """Whether fixes can edit Python source, also if only names of arguments are too old for it."""
        return _parses("\n".join(self._lines(path)))


def _parses(text: str) -> bool:
    try:
        syntax(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def _paths(programs: Iterable[ProgramSummary]) -> set[str]:
    return {path for program in programs for path in program.paths}


def _named(programs: Sequence[ProgramSummary], entries: Sequence[str], lang: str) -> frozenset[str]:
    """The entries of programs that the user has named."""
    named = set()
    for entry in entries:
        wanted = entry.removeprefix("./")
        matching = [
            program.entry
            for program in programs
            if program.entry == wanted or f"/{program.entry}".endswith(f"/{wanted}")
        ]
        if not matching:
            raise NpulintError(say(lang, "port.no-entry", entry=entry))
        named |= set(matching)
    return frozenset(named)


def _refuse_python2(stopped: dict[str, tuple[str, str]], programs: Sequence[ProgramSummary], lang: str) -> None:
    """Raise `NpulintError` if all programs are Python 2."""
    old = [path for reason, path in stopped.values() if reason == "python2"]
    if programs and len(old) == len(programs):
        raise NpulintError(say(lang, "port.python2", path=old[0]))


def _steps(fixes: FixResult, catalogue: Catalogue, lang: str) -> tuple[PlannedStep, ...]:
    files = [StagedFile(file, [fix for fix in fixes.fixed if file.path in fix.paths]) for file in fixes.files]
    edits = [edit for file in files for edit in file.edits()]
    changes = [file.changes() for file in files]
    planned_steps = []
    for step in STEPS:
        own = [fix for fix in fixes.fixed if step_of(fix) == step]
        items = tuple(_item(some, edits, catalogue, lang) for some in _together(own))
        changed = tuple(change[step] for change in changes if step in change)
        if items or changed:
            planned_steps.append(PlannedStep(step, items, changed))
    return tuple(planned_steps)


def _together(fixed: Sequence[Fixed]) -> list[list[Fixed]]:
    """The fixes by check and applicability, as they come."""
    groups: dict[tuple[str, str], list[Fixed]] = {}
    for fix in fixed:
        groups.setdefault((fix.code, fix.applicability), []).append(fix)
    return list(groups.values())


def _item(fixed: Sequence[Fixed], edits: Sequence[PlannedEdit], catalogue: Catalogue, lang: str) -> PlannedItem:
    first = fixed[0]
    check = next((candidate for candidate in catalogue.checks if candidate.code == first.code), None)
    title = check.text[lang].title if check is not None else first.name
    texts = (first.finding.message, first.finding.why, first.finding.url) if first.finding is not None else ("", "", "")
    places = tuple(dict.fromkeys((fix.path, fix.line) for fix in fixed))
    touched = [part for fix in fixed for part in fix.touched if not part.statement]
    own = tuple(edit for edit in edits if any(_meets(edit, part) for part in touched))
    return PlannedItem(first.code, first.name, title, *texts, first.applicability == "safe", places, own)


def _meets(edit: PlannedEdit, part: Touched) -> bool:
    last = edit.line + max(len(edit.before), 1) - 1
    return edit.path == part.path and part.first <= last and edit.line <= part.last
