"""A recorded step as a JSON object; `docs/en/output-formats.md` documents its keys."""

from __future__ import annotations

from typing import Any

import msgspec

from npulint.judge.summaries.step_summary import PLACES, StepMemory, StepSummary
from npulint.report.view import fields_of


def step_record(step: StepSummary, picture: bool = True) -> dict[str, Any]:
    """The record, with the order of the operators if `picture`."""
    counts: dict[str, int] = {}
    places: dict[str, int] = {}
    for operator in step.operators:
        counts[operator.verdict] = counts.get(operator.verdict, 0) + operator.count
        place = PLACES.get(operator.verdict, operator.verdict)
        places[place] = places.get(place, 0) + operator.count
    plain: dict[str, Any] = msgspec.to_builtins(step)
    record = {
        **{key: plain[key] for key in ("name", "steps", "ended")},
        "counts": counts,
        "runs": places,
        "operators": plain["operators"],
        "waits": plain["waits"],
        "waits_per_step": sum(wait.count for wait in step.waits) / step.steps,
        "shapes": plain["shapes"],
        "memory": None if step.memory is None else _memory(step.memory),
        "static": plain["static"],
        "differences": plain["differences"],
        "notes": plain["notes"],
    }
    if picture and step.picture is not None:
        record["picture"] = plain["picture"]
    return record


def _memory(memory: StepMemory) -> dict[str, Any]:
    return {
        **fields_of(memory, "peak"),
        "classes": memory.classes(),
        **fields_of(memory, "kept chip assumed capacity fits source"),
    }
