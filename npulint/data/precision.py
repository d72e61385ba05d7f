"""Precision: how many findings of a check were confirmed or refuted on real projects."""

from __future__ import annotations

import msgspec

from npulint.data import lazy_table

ENOUGH, PROJECTS, STABLE, POOR = 5, 3, 0.9, 0.7

_measured = lazy_table("precision.json", dict[str, tuple[int, int, int]])


class Precision(msgspec.Struct, frozen=True):
    """The judged findings of a check: how many were `true` and `false`, and in how many projects there were true ones
    (`projects`)."""

    true: int = 0
    false: int = 0
    projects: int = 0

    @property
    def share(self) -> float:
        """The share of true findings among the judged ones, 0 to 1; 0 if none was judged."""
        return self.true / (self.true + self.false) if self.true + self.false else 0.0

    @property
    def judged(self) -> tuple[int, int]:
        """How many findings were right, and how many were judged."""
        return self.true, self.true + self.false

    @property
    def confirmed(self) -> bool:
        """Whether the check has proved itself: at least 5 true findings in at least 3 projects, 90 % of all true."""
        return self.true >= ENOUGH and self.projects >= PROJECTS and self.share >= STABLE

    @property
    def poor(self) -> bool:
        """Whether 5 or more findings were judged and fewer than 70 % of them were true."""
        return self.true + self.false >= ENOUGH and self.share < POOR


def precision(code: str) -> Precision:
    """The measured precision of a check; all zero if none of its findings was judged. The figures are those of
    data-src/precision.csv, which scripts/measure_checks.py writes."""
    return Precision(*_measured().get(code, (0, 0, 0)))
