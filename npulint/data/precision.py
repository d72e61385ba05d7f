"""Precision and usefulness: how many findings of a check were right on real projects, and worth a change."""

from __future__ import annotations

import msgspec

from npulint.data import lazy_table

ENOUGH, PROJECTS, STABLE, POOR = 5, 3, 0.9, 0.7  # POOR is also the share of its warnings that must be useful

_measured = lazy_table("precision.json", dict[str, tuple[int, int, int, int]])


class Precision(msgspec.Struct, frozen=True):
    """The judged findings of a check: how many were `useful` (true, and an engineer changes a line or a plan because of
    them), true and `useless`, and `false`, and in how many projects there were useful ones (`projects`)."""

    useful: int = 0
    useless: int = 0
    false: int = 0
    projects: int = 0

    @property
    def number(self) -> int:
        """How many findings were judged."""
        return self.useful + self.useless + self.false

    @property
    def share(self) -> float:
        """The precision: the share of true findings among the judged ones, 0 to 1; 0 if none was judged."""
        return (self.useful + self.useless) / self.number if self.number else 0.0

    @property
    def usefulness(self) -> float:
        """The share of useful findings among the judged ones, 0 to 1; 0 if none was judged."""
        return self.useful / self.number if self.number else 0.0

    @property
    def judged(self) -> tuple[int, int, int]:
        """How many findings were useful, how many were right, and how many were judged."""
        return self.useful, self.useful + self.useless, self.number

    @property
    def confirmed(self) -> bool:
        """Whether the check has proved itself: at least 5 useful findings in at least 3 projects, 90 % of all."""
        return self.useful >= ENOUGH and self.projects >= PROJECTS and self.usefulness >= STABLE

    @property
    def poor(self) -> bool:
        """Whether 5 or more findings were judged and fewer than 70 % of them were useful."""
        return self.number >= ENOUGH and self.usefulness < POOR


def precision(code: str) -> Precision:
    """The measured precision of a check; all zero if none of its findings was judged. The figures are those of
    data-src/precision.csv, which scripts/measure_checks.py writes."""
    return Precision(*_measured().get(code, (0, 0, 0, 0)))
