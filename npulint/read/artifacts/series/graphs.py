"""Compiles and runs of device graphs, as the TensorFlow adapter logs them."""

from __future__ import annotations

from array import array
from collections import deque
from statistics import median
from typing import Any

from npulint.facts.model import Fact, GenericFact, Span
from npulint.lazy_regex import lazy_compile
from npulint.read.artifacts.quantities import share
from npulint.read.artifacts.series.numbers import rounded

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
_BATCH = 10  # times the output of a graph that another gives


class Compiles:
    """Every compile of a graph: its id, when it happened, and at which step."""

    def __init__(self) -> None:
        self.count = self.burst = self.burst_line = 0
        self.first_line = self.last_line = 0
        self.most = self._own = 0
        self._ids: list[int] = []
        self._recent: deque[float] = deque()
        self._steps = array("q")
        self._lines = array("q")
        self._begun = array("q")  # lines that named a step when the process of the compile began

    def see(self, line: int, text: str, step_lines: int) -> None:
        """Take in a line that may tell of a compile."""
        match = _COMPILED.search(text)
        if match is None:
            return
        self.count += 1
        self.first_line = self.first_line or line
        self.last_line = line
        number = int(match[1])
        anew = number == 1 and self.count > 1  # graphs are numbered from 1: another process writes to the log
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
        """One `run_compile`, at the first late compile, else at the end of the largest burst, else at the first."""
        if not self.count:
            return []
        late = [index for index in range(len(self._steps)) if self._is_late(index, step_lines)]
        line = self._lines[late[0]] if late else self.burst_line or self.first_line
        attributes: dict[str, Any] = {
            "graphs": self.count,
            "most": self.most,
            "ids": " ".join(str(number) for number in self._ids),
            "last_id": self._ids[-1],
            "burst": self.burst,
            "late": len(late),
            "first_line": self.first_line,
            "last_line": self.last_line,
        }
        return [GenericFact("run_compile", "graph", path, Span.at(line), attributes)]

    def _is_late(self, index: int, step_lines: int) -> bool:
        """Whether a compile came after half of the steps, and not because its process had begun just then."""
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
    """The runs of each graph, with their times on the device and the bytes that they gave back."""

    def __init__(self) -> None:
        self._graphs: dict[str, _Runs] = {}
        self._bytes = 0

    def see(self, line: int, text: str, lines: int = 1) -> None:
        """Take in a line that may tell of a run, and stands for so many: outputs are told just before their run."""
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
        """A `run_stall` graph_runs for each graph."""
        found = []
        for name, runs in self._graphs.items():
            others = max((one.largest for other, one in self._graphs.items() if other != name), default=0)
            found.append(self._fact(name, runs, path, others >= _BATCH * runs.largest > 0))
        return found

    def _fact(self, name: str, runs: _Runs, path: str, small: bool) -> Fact:
        later = runs.times[1:]
        usual = median(later) if later else 0
        worst = max(range(1, len(runs.times)), key=runs.times.__getitem__, default=0)
        spikes = sum(time > _SPIKE * usual for time in later) if len(later) >= _ENOUGH else 0
        line = runs.lines[worst if spikes else 0]
        attributes: dict[str, Any] = {
            "graph": name,
            "runs": runs.count,
            "first_ms": rounded(runs.times[0] / 1000),
            "median_ms": rounded(usual / 1000),
            "max_ms": rounded(runs.times[worst] / 1000) if later else 0.0,
            "spikes": spikes,
            "spike_share": share(sum(t for t in later if t > _SPIKE * usual), sum(later)) if spikes else 0.0,
            "output_bytes": runs.largest,
            "small": "yes" if small else "no",
            "first_line": runs.lines[0],
            "last_line": runs.lines[-1],
        }
        return GenericFact("run_stall", "graph_runs", path, Span.at(line), attributes)


def _seconds(text: str) -> float | None:
    """The time of a line, in seconds of its month: only distances are asked for."""
    match = _TIME.search(text)
    if match is None:
        return None
    hours = int(match[3]) * 24 + int(match[4])
    return hours * 3600 + int(match[5]) * 60 + float(match[6])
