"""The estimated effort of a port."""

from __future__ import annotations

import msgspec


class Hours(msgspec.Struct, frozen=True):
    """Hours of work: the likely number and its range."""

    likely: float = 0.0
    low: float = 0.0
    high: float = 0.0


class FileEffort(msgspec.Struct, frozen=True):
    """The work in one file. ``npulint port`` makes the edits at `automatic` places, which need no review, and at
    `review` places; `decide` counts the checks about which a person decides. `lines` are the lines that an expert
    changes, `hours` is what is left to a person after the port, `by_hand` the same without it."""

    path: str
    automatic: int = 0
    review: int = 0
    decide: int = 0
    lines: int = 0
    hours: Hours = Hours()
    by_hand: Hours = Hours()


class Effort(msgspec.Struct, frozen=True):
    """The work in a project: the sums of its `files`, of which those with most work after the port come first."""

    automatic: int = 0
    review: int = 0
    decide: int = 0
    lines: int = 0
    hours: Hours = Hours()
    by_hand: Hours = Hours()
    files: tuple[FileEffort, ...] = ()

    @property
    def items(self) -> int:
        """All edits and decisions."""
        return self.automatic + self.review + self.decide

    def shares(self) -> tuple[int, int, int]:
        """The percentages of what is automatic, needs review and needs a decision; together 100, or 0 without work."""
        if not self.items:
            return 0, 0, 0
        review, decide = (round(100 * part / self.items) for part in (self.review, self.decide))
        return 100 - review - decide, review, decide
