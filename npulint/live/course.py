"""The course of a recorded step: the order of its operators, and the memory that they needed."""

from __future__ import annotations

import msgspec

FORMAT = "course.json"
"""The name of its file, beside a recording."""


class Course(msgspec.Struct, frozen=True):
    """The last whole step (`complete`: there is one). `sequence` are numbers of nodes of the recorded graph, in the
    order in which they ran. `memory` are points: operators of that step before, and bytes by class
    (`npulint.judge.summaries.step_summary.CLASSES`). `peak` are the bytes by class when most were needed in all steps
    (empty: not followed), `kept` the most bytes that results kept for the backward pass ever had."""

    sequence: tuple[int, ...] = ()
    complete: bool = False
    memory: tuple[tuple[int, tuple[int, ...]], ...] = ()
    peak: tuple[int, ...] = ()
    kept: int = 0


def written(course: Course) -> bytes:
    """A course as JSON."""
    return msgspec.json.encode(course)


def read(data: bytes) -> Course:
    """A course from JSON; an empty one if it is damaged, since a report is complete without."""
    try:
        return msgspec.json.decode(data, type=Course)
    except msgspec.DecodeError:
        return Course()


NOT_FOLLOWED = Course()
"""That of a step whose order was not recorded."""
