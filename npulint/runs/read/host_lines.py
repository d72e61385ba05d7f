"""Lines of user code at which the host waits for a number from the device, or for the next batch.

Source: `operator_details.csv` of torch_npu with `with_stack=True`. A trace contains this too, but is often too large to
keep."""

from __future__ import annotations

from npulint.facts.kinds import fact_kind
from npulint.facts.model import Fact, Span
from npulint.runs.read.frames import LineFact, StackFrame
from npulint.runs.read.interfaces import HostActivity
from npulint.runs.read.quantities import micro

_READ = frozenset(("aten::_local_scalar_dense", "aten::item", "aten::is_nonzero"))
_NEXT = ("enumerate(DataLoader)", ".__next__")
_LINES = 5000
_SHOWN = 50


@fact_kind("run_wait")
class HostWait(LineFact, kw_only=True):
    """A line of the user's code, with its file, at which the host waits for the device (operator_details, trace)."""

    traced: bool = False
    """Whether a trace shows it."""
    op: str
    """The operator that waits longest."""
    total_us: float
    share: float | None = None
    """In percent of the steps, where they are known."""
    rank: int


class _Times:
    """Times in µs; `where` is the table line of the longest."""

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


class HostLines:
    """Sums up operators at which the host blocks."""

    def __init__(self) -> None:
        self._waits: dict[StackFrame, _Times] = {}
        self._batches = _Times()

    def add(self, name: str, own: float, inclusive: float, where: int, frame: StackFrame | None) -> None:
        """Add one operator: its `own` time on the host, and that including nested operators, in µs."""
        if name in _READ and frame is not None and (frame in self._waits or len(self._waits) < _LINES):
            self._waits.setdefault(frame, _Times()).add(own, where, name, frame)
        elif name.startswith(_NEXT[0]) and name.endswith(_NEXT[1]):
            self._batches.add(inclusive, where, name, frame)

    def facts(self, path: str) -> list[Fact]:
        """A `run_wait` for each line, a `run_host` for the data loader; step tables have the totals for shares."""
        facts: list[Fact] = []
        ordered = sorted(self._waits.items(), key=lambda item: (-item[1].total, item[0]))
        for rank, (frame, times) in enumerate(ordered[:_SHOWN], 1):
            place, total = Span.at(times.where), micro(times.total)
            facts.append(HostWait(frame.place, path, place, **frame.attrs(), op=times.op, total_us=total, rank=rank))
        loader = self._batches
        if loader.count:
            activity = HostActivity(
                "dataloader",
                path,
                Span.at(loader.where),
                example=loader.op[:200],
                calls=loader.count,
                total_us=micro(loader.total),
                mean_us=micro(loader.total / loader.count),
                max_us=micro(loader.longest),
                **({} if loader.frame is None else loader.frame.attrs()),
            )
            facts.append(activity)
        return facts
