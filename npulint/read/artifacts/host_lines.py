"""Lines of the user's code at which the host waits: for a number from the device, for the next batch.

Source: `operator_details.csv` of torch_npu, taken with `with_stack=True`. A trace tells the same and more, but is often
too large to be kept.
"""

from __future__ import annotations

from npulint.facts.model import Fact, GenericFact, Span
from npulint.read.artifacts.frames import StackFrame
from npulint.read.artifacts.quantities import micro

_READ = frozenset(("aten::_local_scalar_dense", "aten::item", "aten::is_nonzero"))
_NEXT = ("enumerate(DataLoader)", ".__next__")
_LINES = 5000
_SHOWN = 50


class _Times:
    """Times in µs; `where` is the line of the table with the longest."""

    def __init__(self) -> None:
        self.count = 0
        self.total = self.longest = 0.0
        self.where = 0
        self.op = ""
        self.frame: StackFrame | None = None

    def add(self, time: float, where: int, op: str, frame: StackFrame | None) -> None:
        self.count += 1
        self.total += time
        if not self.where or time > self.longest:
            self.longest, self.where, self.op, self.frame = time, where, op, frame

    def figures(self) -> dict[str, object]:
        """How often, and how long."""
        return {"calls": self.count, "total_us": micro(self.total), "max_us": micro(self.longest)}


class HostLines:
    """Sums up operators for which the host stops."""

    def __init__(self) -> None:
        self._waits: dict[StackFrame, _Times] = {}
        self._batches = _Times()

    def add(self, name: str, own: float, whole: float, where: int, frame: StackFrame | None) -> None:
        """One operator: its `own` time on the host and that with all inside it, in µs."""
        if name in _READ and frame is not None and (frame in self._waits or len(self._waits) < _LINES):
            self._waits.setdefault(frame, _Times()).add(own, where, name, frame)
        elif name.startswith(_NEXT[0]) and name.endswith(_NEXT[1]):
            self._batches.add(whole, where, name, frame)

    def facts(self, path: str) -> list[Fact]:
        """`run_wait` by line, `run_host` for the loader; the steps beside the table tell their shares."""
        found: list[Fact] = []
        ordered = sorted(self._waits.items(), key=lambda item: (-item[1].total, item[0]))
        for rank, (frame, times) in enumerate(ordered[:_SHOWN], 1):
            attrs = {**frame.attrs(), **times.figures(), "op": times.op, "rank": rank}
            found.append(
                GenericFact("run_wait", frame.place, path, Span.at(times.where), {"from": "operator_details", **attrs})
            )
        loader = self._batches
        if loader.count:
            attrs = {"example": loader.op[:200], **loader.figures(), "mean_us": micro(loader.total / loader.count)}
            attrs |= {} if loader.frame is None else loader.frame.attrs()
            found.append(
                GenericFact(
                    "run_host", "dataloader", path, Span.at(loader.where), {"from": "operator_details", **attrs}
                )
            )
        return found
