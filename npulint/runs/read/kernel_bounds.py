"""Which unit of the cores limits a group of kernels, by the ratios that some kernel tables have."""

from __future__ import annotations

from typing import Literal

from npulint.runs.read.rows import Row

Bound = Literal["cube", "vector", "scalar", "mte1", "mte2", "mte3", "fixpipe", "unknown"]

RATIOS: dict[str, Bound] = {
    "mac_ratio": "cube",
    "vec_ratio": "vector",
    "scalar_ratio": "scalar",
    "mte1_ratio": "mte1",
    "mte2_ratio": "mte2",
    "mte3_ratio": "mte3",
    "vector_scalar_ratio": "scalar",
    "vector_mte2_ratio": "mte2",
    "vector_mte3_ratio": "mte3",
    "fixpipe_ratio": "fixpipe",
}
"""Columns of kernel tables, and the unit of each. Those of the vector core are apart where a kernel uses both."""


class Bounds:
    """Means of the ratios of several kernels, by duration."""

    __slots__ = ("_times", "_whole")

    def __init__(self) -> None:
        self._times: dict[str, float] = {}
        self._whole = 0.0

    def add(self, row: Row, duration: float) -> None:
        """Add a kernel; one without ratios counts nothing."""
        known = {key: row.number[key] for key in RATIOS if key in row.number}
        if not any(0 < value <= 1 for value in known.values()):
            return
        self._whole += duration
        for key, value in known.items():
            self._times[key] = self._times.get(key, 0.0) + duration * min(max(value, 0.0), 1.0)

    @property
    def bound(self) -> tuple[Bound, float]:
        """The unit that is busy longest, and for how many percent of the time."""
        if self._whole <= 0:
            return "unknown", 0.0
        key = max(self._times, key=lambda one: self._times[one])
        return RATIOS[key], round(100 * self._times[key] / self._whole, 1)
