"""What a survey shows of all projects together."""

from __future__ import annotations

from collections import Counter, defaultdict

import msgspec

from npulint.survey.model import FAILED, Part, ProjectRow

VERDICTS = ("ready", "check", "open", "blocked", "unrecognised", "unused", "nothing")
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
        known = [row for row in rows if row.effort_mid is not None]
        effort = [sum(getattr(row, f"effort_{word}") or 0.0 for row in known) for word in ("low", "mid", "high")]
        return Totals(
            projects=len(self.projects),
            failed=len(self.projects) - len(rows),
            verdicts=Counter(row.verdict for row in rows),
            errors=sum(row.errors for row in rows),
            warnings=sum(row.warnings for row in rows),
            notes=sum(row.notes for row in rows),
            lines=sum(row.lines for row in rows),
            effort=(effort[0], effort[1], effort[2]) if known else None,
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
