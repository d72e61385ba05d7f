"""The records of a survey: what is to be checked, and what is kept of each project."""

from __future__ import annotations

import msgspec

FORMAT = 1
"""The version of the files in the folder of a survey."""
CHECKED, FAILED = "checked", "failed"
"""The status of a project: it has a result, or none."""
Words = dict[str, list[str] | bool]
"""Options as the command line has them."""


class Job(msgspec.Struct, frozen=True):
    """A project to check. `name` is shown and unique, `identity` the stem of its files, `source` the path or git
    address as it is shown, `path` the absolute folder (empty: it could not be brought, for the reason `failure` and
    `detail`), `exclude` the absolute folders below it that are projects of their own."""

    name: str
    identity: str
    source: str
    path: str
    exclude: tuple[str, ...] = ()
    failure: str = ""
    detail: str = ""


class Plan(msgspec.Struct, frozen=True):
    """How all projects are checked: the absolute folder of the survey, the options, the npulint that is expected,
    whether HTML reports are wanted, and the limits of a project in seconds and bytes of memory."""

    out: str
    words: Words
    version: str
    engine: str
    lang: str
    reports: bool
    seconds: int
    memory: int


class ProjectRow(msgspec.Struct, frozen=True, kw_only=True):
    """A row of the table of projects. `lines` are those of Python, shell and CUDA files. `ready_share` is the share of
    readiness items that passed; None without any. `blockers` are the codes of checks with errors, most findings first;
    effort is in hours of work after `npulint port`; `report` is relative to the folder of the survey."""

    project: str
    source: str
    commit: str = ""
    status: str = CHECKED
    failure: str = ""
    detail: str = ""
    frameworks: tuple[str, ...] = ()
    files: int = 0
    lines: int = 0
    programs: int = 0
    verdict: str = ""
    ready_share: float | None = None
    passed: int = 0
    failed: int = 0
    undetermined: int = 0
    errors: int = 0
    warnings: int = 0
    notes: int = 0
    blockers: tuple[str, ...] = ()
    effort_low: float | None = None
    effort_mid: float | None = None
    effort_high: float | None = None
    report: str = ""
    seconds: float = 0.0


class FindingRow(msgspec.Struct, frozen=True, kw_only=True):
    """A row of the table of findings; `path` is relative to the project, `fix` its applicability."""

    project: str
    code: str
    name: str
    severity: str
    confidence: str
    category: str
    topic: str
    path: str
    line: int
    column: int
    places: int
    program: str
    fix: str
    message: str
    fingerprint: str


class ReadinessRow(msgspec.Struct, frozen=True, kw_only=True):
    """A row of the table of readiness items: one item of one program, with the place that decides it, if any."""

    project: str
    program: str
    framework: str
    state: str
    item: str
    title: str
    status: str
    path: str = ""
    line: int = 0
    code: str = ""


class Part(msgspec.Struct, frozen=True, kw_only=True):
    """What is kept of a project. `digest` covers its files, the options and npulint; empty where it has no result.
    `report_digest` is that of its HTML report; empty without one."""

    format: int = FORMAT
    digest: str = ""
    report_digest: str = ""
    project: ProjectRow
    findings: tuple[FindingRow, ...] = ()
    readiness: tuple[ReadinessRow, ...] = ()
