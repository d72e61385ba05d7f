"""The effort of a port, from the findings of a check alone: a pure function that reads no file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import msgspec

from npulint.data.effort import weight
from npulint.judge.evaluate.places import covered, place_of
from npulint.judge.findings import Finding, RunResult

# The estimated effort of a port.


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


_OF_GPUS = ("dependency", "framework_support", "device_cuda")  # topics of which notes count: what only GPUs have
_STEP = "fused_optimizer"  # the topic of a step of the port that has only notes: what it does not reach counts as well
_NO_CODE = ("run_artifact", "recipe_difference", "graph_op")  # topics of findings about runs, comparisons and graphs

Place = tuple[str, int]


def estimate(result: RunResult) -> Effort:
    """The effort that the findings of a run mean, without those that comments or the baseline accept."""
    edits: dict[Place, bool] = {}
    decisions: set[tuple[str, str]] = set()
    for finding in result.findings:
        if finding.topic in _NO_CODE:
            continue
        safe = _edited(finding)
        for place, is_safe in safe.items():
            edits[place] = edits.get(place, True) and is_safe
        if needs_decision(finding):
            places = {(path, span.line) for path, span in map(place_of, covered(finding))}
            decisions |= {(path, finding.code) for path, _ in places - safe.keys()}
    return counted(edits.items(), decisions)


def counted(edits: Iterable[tuple[Place, bool]], decisions: Iterable[tuple[str, str]]) -> Effort:
    """The effort of edits, each a place and whether it is safe, and of decisions, each a path and a code."""
    automatic, review, decide = Counter[str](), Counter[str](), Counter[str]()
    for (path, _), safe in edits:
        (automatic if safe else review)[path] += 1
    for path, _ in decisions:
        decide[path] += 1
    file_efforts = [_file(path, automatic[path], review[path], decide[path]) for path in automatic | review | decide]
    file_efforts.sort(
        key=lambda file_effort: (-file_effort.hours.likely, -file_effort.by_hand.likely, file_effort.path)
    )
    return Effort(
        automatic.total(),
        review.total(),
        decide.total(),
        sum(file_effort.lines for file_effort in file_efforts),
        _sum(file_effort.hours for file_effort in file_efforts),
        _sum(file_effort.by_hand for file_effort in file_efforts),
        tuple(file_efforts),
    )


def needs_decision(finding: Finding) -> bool:
    """Whether a finding that no edit fixes is work of the port: an error, a warning, or a note about what only GPUs
    have or about optimizers."""
    if finding.severity != "note":
        return True
    return finding.topic == _STEP or (finding.topic in _OF_GPUS and finding.category in ("functional", "hygiene"))


def _edited(finding: Finding) -> dict[Place, bool]:
    """The places of a finding that its fix edits, and whether each of these edits is safe."""
    fix = finding.fix
    if not fix.changes and not fix.edits:
        return {}
    places = [(path, span.line) for path, span in map(place_of, covered(finding))]
    of_line = {
        (step.path, step.span.line): change.applicability == "safe" for change in fix.changes for step in change.steps
    }
    partly = len(places) > 1 and any(place in of_line for place in places)
    is_safe = fix.applicability == "safe"
    return {place: of_line.get(place, is_safe) for place in places if place in of_line or not partly}


def _file(path: str, automatic: int, review: int, decide: int) -> FileEffort:
    edits = automatic + review
    lines = weight("place").value * edits + (weight("file").value if edits else 0)
    of_decisions = weight("decision").value * decide
    of_review = lines * review / edits / weight("reading").value if edits else 0
    hours, by_hand = _hours(of_review + of_decisions), _hours(lines + of_decisions)
    return FileEffort(path, automatic, review, decide, round(lines), hours, by_hand)


def _hours(lines: float) -> Hours:
    """How long a person works as long as on changing and testing these lines."""
    speed = weight("lines_per_hour")
    return Hours(lines / speed.value, lines / speed.high, lines / speed.low)


def _sum(some: Iterable[Hours]) -> Hours:
    hourses = list(some)
    return Hours(
        sum(hours.likely for hours in hourses),
        sum(hours.low for hours in hourses),
        sum(hours.high for hours in hourses),
    )
