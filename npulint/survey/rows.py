"""The part of a project from the result of its run."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator

import msgspec

from npulint.core.cache import key
from npulint.discover.files import Discovery, discover
from npulint.discover.paths import shown
from npulint.discover.safe_open import read_regular
from npulint.judge.effort import estimate
from npulint.judge.findings import ChecklistItem, Finding, ProgramSummary, RunResult
from npulint.judge.settings import Settings
from npulint.judge.summaries.verdict import Verdict
from npulint.judge.verdict import verdict_of
from npulint.report.readiness import lists
from npulint.survey.model import FAILED, FORMAT, FindingRow, Job, Part, Plan, ProjectRow, ReadinessRow

# The content of a project as the survey sees it: a digest that tells whether it changed, and its size.

_LARGE = 4_000_000  # bytes; of larger files size and time count
_COUNTED = ("python", "shell", "cuda")


class Content(msgspec.Struct, frozen=True):
    """The digest of a project and of all that decides its result; the lines of its code."""

    digest: str
    lines: int


def content_of(settings: Settings, plan: Plan, job: Job, catalogue: str) -> Content:
    """What is in the working directory now, the folder of `job`."""
    discovery = discover(settings.paths, settings.discovery())
    same = msgspec.structs.replace(settings, jobs=1, cache=True)
    decisive = (FORMAT, plan.engine, plan.reports, job.name, job.source, catalogue, same)
    parts: list[bytes | str] = [repr(decisive).encode("utf-8", "backslashreplace")]
    if settings.baseline:
        parts.append(_read(settings.baseline))
    parts += [f"{problem.path}\0{problem.reason}" for problem in discovery.problems]
    lines = 0
    for path, data, counted in _files(discovery):
        parts += [path, data]
        if counted:
            lines += data.count(b"\n") + (not data.endswith(b"\n") and bool(data))
    return Content(key(*parts).hex(), lines)


def _files(discovery: Discovery) -> Iterator[tuple[str, bytes, bool]]:
    """The path and content of each file, and whether its lines count."""
    kinds: dict[str, set[str]] = {}
    for file in discovery.files:
        kinds.setdefault(file.location, set()).add(file.kind)
    for location, own in kinds.items():
        yield location, _read(location), not own.isdisjoint(_COUNTED)


def _read(location: str) -> bytes:
    """The content of a file, or what tells whether it changed."""
    try:
        status = os.stat(location)
        if status.st_size <= _LARGE:
            return read_regular(location, _LARGE)
        return f"{status.st_size} {status.st_mtime_ns}".encode()
    except (OSError, ValueError) as error:
        return type(error).__name__.encode()


_DETAIL = 300  # characters
_UNJUDGED = ("unrecognised", "unused", "nothing")
"""Verdicts of projects in which nothing is to be ported, unless a script requires CUDA."""


def failed(job: Job, failure: str, detail: str = "") -> Part:
    """The part of a project without a result."""
    text = shown(" ".join(detail.split()))[:_DETAIL]
    return Part(project=ProjectRow(project=job.name, source=job.source, status=FAILED, failure=failure, detail=text))


def part_of(result: RunResult, job: Job, content: Content, commit: str, report: str) -> Part:
    """The part of a project that was checked, in the working directory."""
    verdict = verdict_of(result)
    items = Counter(item.status for program in lists(result) for item in program.checklist)
    severities = Counter(finding.severity for finding in result.findings)
    blocking = Counter(finding.code for finding in result.findings if finding.severity == "error")
    low, likely, high = _hours(result, verdict)
    project = ProjectRow(
        project=job.name,
        source=job.source,
        commit=commit,
        frameworks=_frameworks(result),
        files=result.summary.read,
        lines=content.lines,
        programs=len(result.programs),
        verdict=verdict.word,
        ready_share=round(items["passed"] / items.total(), 4) if items else None,
        passed=items["passed"],
        failed=items["failed"],
        undetermined=items["unknown"],
        errors=severities["error"],
        warnings=severities["warning"],
        notes=severities["note"],
        blockers=tuple(sorted(blocking, key=lambda code: (-blocking[code], code))),
        effort_low=low,
        effort_mid=likely,
        effort_high=high,
        report=report,
    )
    return Part(
        digest=content.digest,
        project=project,
        findings=tuple(_finding(finding, job.name) for finding in result.findings),
        readiness=tuple(_item(item, summary, job.name) for summary in lists(result) for item in summary.checklist),
    )


def _hours(result: RunResult, verdict: Verdict) -> tuple[float | None, float | None, float | None]:
    """The hours of work: at least, likely and at most; None where nothing is to be ported as far as is known."""
    if verdict.word in _UNJUDGED and not verdict.needing_cuda:
        return None, None, None
    hours = estimate(result).hours
    return round(hours.low, 2), round(hours.likely, 2), round(hours.high, 2)


def _frameworks(result: RunResult) -> tuple[str, ...]:
    """The frameworks of the programs, else those that files use."""
    used = {program.framework for program in result.programs} - {"", "none", "unknown"}
    return tuple(
        sorted(used or {framework_use.framework for framework_use in result.seen if framework_use.use == "import"})
    )


def _finding(finding: Finding, project: str) -> FindingRow:
    return FindingRow(
        project=project,
        code=finding.code,
        name=finding.name,
        severity=finding.severity,
        confidence=finding.confidence,
        category=finding.category,
        topic=finding.topic,
        path=finding.path,
        line=finding.span.line,
        column=finding.span.column,
        places=finding.places,
        program=finding.program,
        fix=finding.fix.applicability,
        message=finding.message,
        fingerprint=finding.fingerprint,
    )


def _item(item: ChecklistItem, program: ProgramSummary, project: str) -> ReadinessRow:
    row = ReadinessRow(
        project=project,
        program=program.entry,
        framework=program.framework,
        state=program.state,
        item=item.item,
        title=item.title,
        status=item.status,
    )
    place = item.evidence
    if place is None:
        return row
    return msgspec.structs.replace(row, path=place.path, line=place.span.line, code=place.code)
