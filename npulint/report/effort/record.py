"""The estimated effort as JSON: a public contract, as the JSON report is."""

from __future__ import annotations

from typing import Any

import msgspec

from npulint.data.effort import weights
from npulint.judge.effort import Effort, FileEffort, Hours
from npulint.judge.summaries.verdict import Verdict
from npulint.report.verdict import verdict_record
from npulint.report.view import fields_of

VERSION = 1


def document(effort: Effort, verdict: Verdict, lang: str) -> dict[str, Any]:
    """The whole estimate with the verdict on the project and the weights that it rests on."""
    return {
        "version": VERSION,
        **effort_record(effort),
        "verdict": verdict_record(verdict, lang),
        "weights": [msgspec.to_builtins(weight) for weight in weights()],
    }


def effort_record(effort: Effort) -> dict[str, Any]:
    """The project and its files; `shares` are percentages."""
    shares = dict(zip(("automatic", "review", "decide"), effort.shares(), strict=True))
    return {
        **_record(effort),
        "shares": shares,
        "files": [{"path": file.path, **_record(file)} for file in effort.files],
    }


def _record(effort: Effort | FileEffort) -> dict[str, Any]:
    counts = fields_of(effort, "automatic review decide lines")
    return {**counts, "hours": _hours(effort.hours), "by_hand": _hours(effort.by_hand)}


def _hours(hours: Hours) -> dict[str, float]:
    return {name: round(value, 2) for name, value in msgspec.structs.asdict(hours).items()}
