"""The records of a survey: what is to be checked, and what is kept of each project."""

from __future__ import annotations

from collections import Counter, defaultdict

import msgspec

from npulint.judge.summaries.verdict import VERDICT_WORDS

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


# What a survey shows of all projects together.

VERDICTS = VERDICT_WORDS
"""The verdicts of projects, the best first."""


class Totals(msgspec.Struct, frozen=True):
    """Counts of all projects; effort is in hours, None if no project has any."""

    projects: int
    failed: int
    verdicts: Counter[str]
    errors: int
    warnings: int
    notes: int
    lines: int
    effort: tuple[float, float, float] | None


class Blocker(msgspec.Struct, frozen=True):
    """A check with errors: in how many projects, with how many findings; `alone` counts the projects in which it is the
    only such check, which its fix unblocks."""

    code: str
    name: str
    projects: int
    findings: int
    alone: int


class Summed:
    """Adds up parts, of which it keeps the rows of projects."""

    def __init__(self) -> None:
        self.projects: list[ProjectRow] = []
        self.checks: dict[str, str] = {}
        self._findings: Counter[str] = Counter()

    def add(self, part: Part) -> None:
        """Add a project."""
        self.projects.append(part.project)
        for finding in part.findings:
            if finding.severity == "error":
                self.checks.setdefault(finding.code, finding.name)
                self._findings[finding.code] += 1

    def totals(self) -> Totals:
        """The counts."""
        rows = [project for project in self.projects if project.status != FAILED]
        estimated = [row for row in rows if row.effort_mid is not None]
        effort = [sum(getattr(row, f"effort_{word}") or 0.0 for row in estimated) for word in ("low", "mid", "high")]
        return Totals(
            projects=len(self.projects),
            failed=len(self.projects) - len(rows),
            verdicts=Counter(row.verdict for row in rows),
            errors=sum(row.errors for row in rows),
            warnings=sum(row.warnings for row in rows),
            notes=sum(row.notes for row in rows),
            lines=sum(row.lines for row in rows),
            effort=(effort[0], effort[1], effort[2]) if estimated else None,
        )

    def blockers(self) -> list[Blocker]:
        """The checks that block projects, most projects first."""
        projects: Counter[str] = Counter()
        alone: dict[str, int] = defaultdict(int)
        for project in self.projects:
            projects.update(project.blockers)
            if len(project.blockers) == 1:
                alone[project.blockers[0]] += 1
        order = sorted(projects, key=lambda code: (-projects[code], -alone[code], code))
        return [Blocker(code, self.checks[code], projects[code], self._findings[code], alone[code]) for code in order]
