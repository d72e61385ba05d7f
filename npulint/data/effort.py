"""The weights of effort estimates: what was fitted to ports by experts, and what is assumed.

``place`` and ``file`` are the changed lines of an edited place and of an edited file, as `scripts/calibrate_effort.py`
fits them. ``lines_per_hour`` says how fast a person changes and tests lines, ``reading`` how many times faster a
finished edit is reviewed, ``decision`` how many lines could be changed in the time of a decision. The script also
measures the quality: the number of ``projects``, the rank ``correlation`` of predicted and changed lines, each project
left out, and the ``factor`` between them that half of the projects stay within."""

from __future__ import annotations

from typing import Literal

import msgspec

from npulint.data import lazy_table


class EffortWeight(msgspec.Struct, frozen=True):
    """One weight: its value, the range that the estimate gives (equal bounds: none), and where it is from."""

    name: str
    value: float
    low: float
    high: float
    source: Literal["fit", "assumption", "measured"]


weights = lazy_table("effort.json", tuple[EffortWeight, ...])
"""All weights, in table order."""


def weight(name: str) -> EffortWeight:
    """A weight by its name."""
    return next(effort_weight for effort_weight in weights() if effort_weight.name == name)
