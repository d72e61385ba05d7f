"""Two training runs beside each other, for reports: their curves, where these part, and what may explain it."""

from __future__ import annotations

import msgspec


class ComparedCurve(msgspec.Struct, frozen=True):
    """A quantity of both runs: loss, learning_rate, loss_scale, grad_norm or step_time (seconds). Sides have the label
    and file of the series, and points (position, value; None is no number). `axis` says what positions are: step, epoch
    or entry.

    Verdicts: alike, part (for good, at position `at`), apart (from the first value), meet (apart only from `at` to
    `until`), not_finite (one side is NaN or infinite from `at` on), slower, faster, few (too few values), missing (only
    one side has it). `first` and `last` are values of both sides at the first and last common position. `gap` is the
    mean difference where the curves are apart, `noise` the standard deviation of a single difference, both in percent
    of the reference. Lines are where the values at `at` stand in the logs (0: unknown)."""

    quantity: str
    verdict: str
    label: str = ""
    migrated_label: str = ""
    path: str = ""
    migrated_path: str = ""
    axis: str = "step"
    count: int = 0
    points: tuple[tuple[float, float | None], ...] = ()
    migrated_points: tuple[tuple[float, float | None], ...] = ()
    at: float | None = None
    until: float | None = None
    line: int = 0
    migrated_line: int = 0
    first: tuple[float | None, float | None] = (None, None)
    last: tuple[float | None, float | None] = (None, None)
    gap: float = 0.0
    noise: float = 0.0

    @property
    def differs(self) -> bool:
        """Whether the runs differ in it."""
        return self.verdict in DIFFERENT


DIFFERENT = ("part", "apart", "meet", "not_finite")
"""Verdicts that mean a difference of the training; slower and faster runs compute the same."""


class Explanation(msgspec.Struct, frozen=True):
    """A part of the training config that may cause a symptom, and the reason, in the language of the run. `what` and
    both values are of a compared row; they are empty if no code was compared."""

    part: str
    reason: str
    what: str = ""
    reference: str = ""
    migrated: str = ""
    path: str = ""
    line: int = 0
    code: str = ""


class Symptom(msgspec.Struct, frozen=True):
    """What the runs show, by a name of ``npulint/data/run_symptoms.csv``, in which quantity, at which position.
    `explained`: the explanations are differences that the comparison of the code found; else what usually causes it."""

    name: str
    quantity: str
    at: float | None = None
    explanations: tuple[Explanation, ...] = ()
    explained: bool = False


class RunComparison(msgspec.Struct, frozen=True):
    """Two runs. `ends` are the last positions of both, if they record steps."""

    reference: str
    migrated: str
    curves: tuple[ComparedCurve, ...] = ()
    symptoms: tuple[Symptom, ...] = ()
    ends: tuple[float, float] | None = None

    @property
    def differs(self) -> bool:
        """Whether a curve of the training differs."""
        return any(curve.differs for curve in self.curves)
