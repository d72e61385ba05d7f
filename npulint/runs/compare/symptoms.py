"""What two runs show, and which differences of the compared programs may explain it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from npulint.data.run_symptoms import Cause, causes
from npulint.judge.findings import ComparedPair, ComparedRow
from npulint.judge.summaries.run_comparison import ComparedCurve, Explanation, RunComparison, Symptom
from npulint.runs.compare.curves import chosen_loss, compared_curves, first_loss_differs
from npulint.runs.read.recorded.values import Recorded

_USUAL = 4  # causes that are named when no difference explains a symptom
_EXPLAINED = 12  # differences that are named
_RISES = 1.5  # of the learning rate in a warm-up
_LENGTH = 0.02  # of the steps

Curves = dict[str, ComparedCurve]


def compared_runs(
    names: tuple[str, str],
    sides: tuple[Sequence[Recorded], Sequence[Recorded]],
    pairs: Sequence[ComparedPair],
    lang: str,
) -> RunComparison:
    """Two runs beside each other; `pairs` are the compared programs, empty if there is no code."""
    curves = {compared_curve.quantity: compared_curve for compared_curve in compared_curves(*sides)}
    rows = list(dict.fromkeys(_rows(pairs)))
    ends = _ends(curves.get("loss"))
    symptoms = [_explained(name, quantity, at, rows, lang) for name, quantity, at in _symptoms(curves, sides, ends)]
    return RunComparison(*names, tuple(curves.values()), tuple(symptoms), ends)


def _symptoms(
    curves: Curves, sides: tuple[Sequence[Recorded], Sequence[Recorded]], ends: tuple[float, float] | None
) -> Iterable[tuple[str, str, float | None]]:
    """Names, quantities and positions of what the runs show, what comes first first."""
    loss = curves.get("loss")
    if loss is not None and loss.verdict != "missing":
        first = first_loss_differs(*chosen_loss(*sides))
        start = loss.points[0][0] if loss.points else None
        if first or loss.verdict == "apart":
            yield "first_loss", "loss", start
        if loss.verdict == "not_finite":
            yield "not_finite", "loss", loss.at
        elif loss.verdict in ("part", "meet") and loss.at is not None:
            yield "warm_up" if loss.at <= _warmed_up(curves.get("learning_rate")) else "later", "loss", loss.at
    for name in ("learning_rate", "loss_scale", "grad_norm"):
        curve = curves.get(name)
        if curve is not None and curve.differs:
            yield name, name, curve.at
    if ends is not None and abs(ends[1] - ends[0]) > _LENGTH * max(ends):
        yield "length", "loss", min(ends)
    pace = curves.get("step_time")
    if pace is not None and pace.verdict == "slower":
        yield "slower", "step_time", None


def _warmed_up(rate: ComparedCurve | None) -> float:
    """The position where the learning rate of the reference is highest, if it rises before; -1 otherwise."""
    points = [(value, -at) for at, value in (rate.points if rate is not None else ()) if value is not None]
    if not points:
        return -1.0
    high, at = max(points)
    return -at if high > _RISES * points[0][0] else -1.0


def _ends(loss: ComparedCurve | None) -> tuple[float, float] | None:
    """The last positions of both losses, if both count steps or epochs."""
    if loss is None or loss.axis == "entry" or not loss.points or not loss.migrated_points:
        return None
    return loss.points[-1][0], loss.migrated_points[-1][0]


def _rows(pairs: Sequence[ComparedPair]) -> Iterable[ComparedRow]:
    """The compared values that differ, certain differences first."""
    compared_rows = [
        row for pair in pairs for item in pair.items for row in item.rows if row.answer in ("differs", "note")
    ]
    return sorted(compared_rows, key=lambda row: row.answer != "differs")


def _explained(name: str, quantity: str, at: float | None, rows: Sequence[ComparedRow], lang: str) -> Symptom:
    known = causes()[name]
    explanations = [_of_row(row, cause, lang) for cause in known for row in rows if row.part in cause.parts]
    if explanations:
        return Symptom(name, quantity, at, tuple(explanations[:_EXPLAINED]), explained=True)
    usual = tuple(Explanation(" ".join(cause.parts), cause.reason(lang)) for cause in known[:_USUAL])
    return Symptom(name, quantity, at, usual)


def _of_row(row: ComparedRow, cause: Cause, lang: str) -> Explanation:
    left, right = (" ".join(side.text.split()) if side is not None else "" for side in (row.reference, row.migrated))
    place = row.migrated or row.near or row.reference
    path, line = (place.path, place.span.line) if place is not None else ("", 0)
    return Explanation(row.part, cause.reason(lang), row.what, left, right, path, line, row.code)
