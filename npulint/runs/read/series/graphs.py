"""Compilations and runs of device graphs in logs of TF Adapter."""

from __future__ import annotations

from array import array
from collections import deque
from statistics import median
from typing import Literal

from npulint.core.lazy_regex import lazy_compile
from npulint.facts.kinds import fact_kind
from npulint.facts.model import Fact, FileFact, Span
from npulint.runs.read.quantities import share
from npulint.runs.read.series.numbers import rounded

_COMPILED = lazy_compile(r"has been compiled on the Ascend AI processor, current graph id is:\s{0,4}(\d{1,10})")
_CALLBACK = lazy_compile(
    r"RunGraphAsync callback, status:\s?-?\d{1,10}, kernel_name:\s?([\w./-]{1,200}?)\s?\[\s{0,8}(\d{1,15})us\]"
)
_OUTPUT = lazy_compile(r"BuildOutputTensorInfo, output index:\s?\d{1,6}, total_bytes:\s?(\d{1,18})")
_TIME = lazy_compile(r"(\d{4})-(\d\d)-(\d\d)[ T-](\d\d):(\d\d):(\d\d(?:\.\d{1,9})?)")

_WINDOW = 5.0  # seconds of a burst
_IDS = 64
_GRAPHS = 64
_RUNS = 100_000
_SPIKE = 10  # times the median
_ENOUGH = 20
_BATCH = 10  # ratio to the output of another graph


@fact_kind("run_compile")
class GraphCompilations(FileFact):
    """Graphs that TF Adapter compiled, by its log."""

    name: Literal["graph"]
    graphs: int
    most: int
    """How many one process compiled."""
    ids: str
    burst: int
    """Most compilations within 5 seconds."""
    late: int
    """Compilations after half of the lines that name a step, without those of a process that began only there."""


@fact_kind("run_stall")
class GraphRuns(FileFact):
    """Runs of a graph that TF Adapter logs."""

    name: Literal["graph_runs"]
    graph: str
    runs: int
    first_ms: float
    median_ms: float
    """Of the later runs."""
    max_ms: float
    """Of the later runs."""
    spikes: int
    """Runs above 10 times the median."""
    spike_share: float
    """Their time in percent."""
    output_bytes: int
    """What the largest run returns."""
    small: bool
    """Whether another graph of the log returns ten times as many bytes or more."""


class Compiles:
    """Collects graph compilations: graph id, time and step."""

    def __init__(self) -> None:
        self.count = self.burst = self.burst_line = 0
        self.first_line = 0
        self.most = self._own = 0
        self._ids: list[int] = []
        self._recent: deque[float] = deque()
        self._steps = array("q")
        self._lines = array("q")
        self._begun = array("q")  # number of step lines when the compiling process began

    def see(self, line: int, text: str, step_lines: int) -> None:
        """Process a line that may report a compilation."""
        match = _COMPILED.search(text)
        if match is None:
            return
        self.count += 1
        self.first_line = self.first_line or line
        number = int(match[1])
        anew = number == 1 and self.count > 1  # numbering restarts at 1: the log has another process
        self._own = 1 if anew else self._own + 1
        self.most = max(self.most, self._own)
        if len(self._ids) < _IDS:
            self._ids.append(number)
        if len(self._steps) < _RUNS:
            self._begun.append(step_lines if anew or not self._begun else self._begun[-1])
            self._steps.append(step_lines)
            self._lines.append(line)
        seconds = _seconds(text)
        if seconds is not None:
            self._together(line, seconds)

    def facts(self, path: str, step_lines: int) -> list[Fact]:
        """One `run_compile`, at the first late compilation, else at the end of the largest burst, else at the first."""
        if not self.count:
            return []
        late = [index for index in range(len(self._steps)) if self._is_late(index, step_lines)]
        line = self._lines[late[0]] if late else self.burst_line or self.first_line
        ids = " ".join(map(str, self._ids))
        return [GraphCompilations("graph", path, Span.at(line), self.count, self.most, ids, self.burst, len(late))]

    def _is_late(self, index: int, step_lines: int) -> bool:
        """Whether a compilation came after half of the steps, and not because its process had just started."""
        step = self._steps[index]
        return 2 * step > step_lines >= _ENOUGH and step - self._begun[index] >= _ENOUGH

    def _together(self, line: int, seconds: float) -> None:
        if self._recent and seconds < self._recent[-1]:
            self._recent.clear()
        self._recent.append(seconds)
        while seconds - self._recent[0] > _WINDOW:
            self._recent.popleft()
        if len(self._recent) > self.burst:
            self.burst, self.burst_line = len(self._recent), line


class _Runs:
    def __init__(self) -> None:
        self.count = 0
        self.times = array("q")
        self.lines = array("q")
        self.largest = 0


class Runs:
    """Collects the runs of each graph with device time and output bytes."""

    def __init__(self) -> None:
        self._graphs: dict[str, _Runs] = {}
        self._bytes = 0

    def see(self, line: int, text: str, lines: int = 1) -> None:
        """Process a line that may report a run and represents `lines` lines; outputs are logged before their run."""
        match = _OUTPUT.search(text)
        if match:
            self._bytes += int(match[1]) if lines == 1 else 0
            return
        match = _CALLBACK.search(text)
        if match is None:
            return
        size, self._bytes = self._bytes, 0
        runs = self._graphs.get(match[1])
        if runs is None:
            if len(self._graphs) >= _GRAPHS:
                return
            runs = self._graphs[match[1]] = _Runs()
        runs.count += lines
        runs.largest = max(runs.largest, size)
        if len(runs.times) < _RUNS:
            runs.times.append(int(match[2]))
            runs.lines.append(line)

    def facts(self, path: str) -> list[Fact]:
        """A `run_stall` named graph_runs for each graph."""
        stalls = []
        for name, runs in self._graphs.items():
            others = max((other_runs.largest for other, other_runs in self._graphs.items() if other != name), default=0)
            stalls.append(self._fact(name, runs, path, others >= _BATCH * runs.largest > 0))
        return stalls

    def _fact(self, name: str, runs: _Runs, path: str, small: bool) -> Fact:
        later = runs.times[1:]
        usual = median(later) if later else 0
        worst = max(range(1, len(runs.times)), key=runs.times.__getitem__, default=0)
        spikes = sum(time > _SPIKE * usual for time in later) if len(later) >= _ENOUGH else 0
        line = runs.lines[worst if spikes else 0]
        return GraphRuns(
            "graph_runs",
            path,
            Span.at(line),
            graph=name,
            runs=runs.count,
            first_ms=rounded(runs.times[0] / 1000),
            median_ms=rounded(usual / 1000),
            max_ms=rounded(runs.times[worst] / 1000) if later else 0.0,
            spikes=spikes,
            spike_share=share(sum(t for t in later if t > _SPIKE * usual), sum(later)) if spikes else 0.0,
            output_bytes=runs.largest,
            small=small,
        )


def _seconds(text: str) -> float | None:
    """The time of a line in seconds of its month: only differences are used."""
    match = _TIME.search(text)
    if match is None:
        return None
    hours = int(match[3]) * 24 + int(match[4])
    return hours * 3600 + int(match[5]) * 60 + float(match[6])
