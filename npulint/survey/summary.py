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
        for one in part.findings:
            if one.severity == "error":
                self.checks.setdefault(one.code, one.name)
                self._findings[one.code] += 1

    def totals(self) -> Totals:
        """The counts."""
        rows = [one for one in self.projects if one.status != FAILED]
        known = [one for one in rows if one.effort_mid is not None]
        effort = [sum(getattr(one, f"effort_{word}") or 0.0 for one in known) for word in ("low", "mid", "high")]
        return Totals(
            projects=len(self.projects),
            failed=len(self.projects) - len(rows),
            verdicts=Counter(one.verdict for one in rows),
            errors=sum(one.errors for one in rows),
            warnings=sum(one.warnings for one in rows),
            notes=sum(one.notes for one in rows),
            lines=sum(one.lines for one in rows),
            effort=(effort[0], effort[1], effort[2]) if known else None,
        )

    def blockers(self) -> list[Blocker]:
        """The checks that block projects, most projects first."""
        projects: Counter[str] = Counter()
        alone: dict[str, int] = defaultdict(int)
        for one in self.projects:
            projects.update(one.blockers)
            if len(one.blockers) == 1:
                alone[one.blockers[0]] += 1
        order = sorted(projects, key=lambda code: (-projects[code], -alone[code], code))
        return [Blocker(code, self.checks[code], projects[code], self._findings[code], alone[code]) for code in order]
