"""What the probes of a program saw in its executions, and the records of it."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from tests.oracle.notation import Place, Program

DATA = Path(__file__).parent / "data"
STOPPED = -1  # instead of an exit status: the program did not end


@dataclass
class Seen:
    """What one probe saw: its values over all executions, and in which of them it was reached."""

    place: Place
    reached: list[bool] = field(default_factory=list)
    values: list[object] = field(default_factory=list)

    def add(self, value: object) -> None:
        """Note a value."""
        if not any(same(value, other) for other in self.values):
            self.values.append(value)


@dataclass
class Truth:
    """What the probes saw, and the exit status of each execution."""

    statuses: list[int]
    seen: list[Seen]
    errors: list[str] = field(default_factory=list)  # what executions wrote at their ends; not recorded

    @property
    def normal(self) -> list[bool]:
        """Which executions count for "in every run": those with status 0; all, if there is none."""
        ended_well = [status == 0 for status in self.statuses]
        return ended_well if any(ended_well) else [True] * len(ended_well)

    def runs(self, seen: Seen) -> str:
        """Whether a place is reached: ``yes`` in every normal execution, ``no`` in none at all, ``some`` otherwise."""
        if not any(seen.reached):
            return "no"
        is_sure = all(reached for reached, counts in zip(seen.reached, self.normal, strict=True) if counts)
        return "yes" if is_sure else "some"

    @property
    def is_open(self) -> bool:
        """Whether the executions differ at a probe."""
        return any(
            len(seen.values) > 1 if seen.place.kind == "value" else self.runs(seen) == "some" for seen in self.seen
        )


def same(left: object, right: object) -> bool:
    """Whether two values are the same with their types: 1, 1.0 and true are three values."""
    if type(left) is not type(right):
        return False
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(same, left, right))
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(same(left[key], right[key]) for key in left)
    return left == right


def digest(program: Program) -> str:
    """A checksum of all that decides the truth of a program."""
    return hashlib.sha256(json.dumps(asdict(program), sort_keys=True).encode()).hexdigest()[:16]


def as_line(program: Program, truth: Truth, **more: object) -> str:
    """A record of the truth of a program."""
    seen = [[*each.place, "".join("01"[hit] for hit in each.reached), each.values] for each in truth.seen]
    content = {"program": program.title, "digest": digest(program), **more, "statuses": truth.statuses, "seen": seen}
    return json.dumps(content, ensure_ascii=False)


def from_record(record: dict[str, Any]) -> Truth:
    """The truth that a record states."""
    seen = [
        Seen(Place(path, line, kind), [bit == "1" for bit in reached], values)
        for path, line, kind, reached, values in record["seen"]
    ]
    return Truth(record["statuses"], seen)


def records(name: str) -> dict[str, dict[str, Any]]:
    """The records of a data file by the title of the program."""
    text = (DATA / f"{name}.jsonl").read_text(encoding="utf-8")
    return {record["program"]: record for record in map(json.loads, text.splitlines())}
