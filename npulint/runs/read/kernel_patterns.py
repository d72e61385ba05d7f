"""Patterns over several kernels: round-trip conversions, repeated tiny kernels, unfused optimizers."""

from __future__ import annotations

from npulint.facts.attributes import attribute
from npulint.facts.kinds import fact_kind
from npulint.facts.model import Fact, FileFact, Span
from npulint.runs.read.kernel_sequences import OfComputing
from npulint.runs.read.kernel_words import OPTIMIZER
from npulint.runs.read.quantities import Values, micro, share
from npulint.runs.read.rows import Row

BETWEEN = 3
"""Kernels of the stream allowed between a conversion and the reverse one."""

_STREAMS, _PAIRS, _SHAPES, _TOLD = 1024, 512, 20_000, 50
_TEXT = 200
_TINY_US = 100.0
_OFTEN = 10
_CLEARING = "MemSet"  # inserted by other kernels


@fact_kind("run_pair")
class ConversionPair(OfComputing):
    """Conversions (TransData) there and back, at most three kernels apart."""

    _from: str
    to: str
    between: str
    """The types of the kernels in between."""
    total_us: float
    """Of both conversions."""
    rank: int
    """By total time."""
    node: str

    @attribute
    def direct(self) -> bool:
        """Whether there are no kernels in between."""
        return not self.between


def _from(fact: ConversionPair) -> str:
    """The format that is converted and restored."""
    return fact._from


setattr(ConversionPair, "from", attribute(_from, "from"))  # no field can be called like a keyword


@fact_kind("run_repeated")
class RepeatedKernel(FileFact):
    """A kernel below 100 µs that runs ten times or more in a step with the same shapes (no MemSet); the name is its
    operator type."""

    shapes: str
    """With () for a scalar."""
    steps: int
    """Of the table, 0 unknown."""
    count: int
    per_step: float
    mean_us: float
    mean_wait_us: float
    waits: bool
    """Whether it waits longer than it runs."""
    total_us: float
    cost_share: float
    """Its time and what it waits, in percent of computing."""
    rank: int
    """By number."""
    node: str


@fact_kind("run_small")
class SmallKernels(OfComputing):
    """Kernels as optimizers launch them one by one (Mul, Add, Sqrt, Addcdiv, Foreach…); the name is optimizer."""

    steps: int
    """Of the table, 0 unknown."""
    count: int
    per_step: float
    median_us: float
    total_us: float


class _Conversion:
    """The last conversion of a stream, and the kernels after it."""

    __slots__ = ("after", "duration", "formats", "shapes")

    def __init__(self, formats: tuple[str, str], shapes: tuple[str, str], duration: float) -> None:
        self.formats, self.shapes, self.duration = formats, shapes, duration
        self.after: list[str] = []


class _Tally:
    """A count, a total time, and the line of the best example."""

    __slots__ = ("count", "line", "longest", "node", "total", "wait")

    def __init__(self) -> None:
        self.count = self.line = 0
        self.total = self.wait = 0.0
        self.longest = -1.0
        self.node = ""

    def add(self, duration: float, wait: float, line: int, node: str) -> None:
        self.count += 1
        self.total += duration
        self.wait += wait
        if duration > self.longest:
            self.longest, self.line, self.node = duration, line, node[:_TEXT]


class CastPairs:
    """Pairs of TransData conversions from one format to another and back, with at most `BETWEEN` kernels in between."""

    def __init__(self) -> None:
        self._open: dict[str, _Conversion] = {}
        self._found: dict[tuple[str, str, str], _Tally] = {}

    def see(self, line: int, type_: str, row: Row, duration: float) -> None:
        """Process the next kernel of the table."""
        stream = row.text.get("stream", "")
        before = self._open.get(stream)
        if type_ != "TransData":
            if before is not None:
                before.after.append(type_)
                if len(before.after) > BETWEEN:
                    del self._open[stream]
            return
        text = row.text
        formats = (_main(text.get("in_formats", "")), _main(text.get("out_formats", "")))
        shapes = (_main(text.get("in_shapes", "")), _main(text.get("out_shapes", "")))
        if before is not None and formats == before.formats[::-1] and shapes == before.shapes[::-1] and shapes[0]:
            key = (*before.formats, " ".join(before.after))
            if key in self._found or len(self._found) < _PAIRS:
                tally = self._found.setdefault(key, _Tally())
                tally.add(before.duration + duration, 0.0, line, text.get("name", ""))
            del self._open[stream]
        elif formats[0] != formats[1] and (stream in self._open or len(self._open) < _STREAMS):
            self._open[stream] = _Conversion(formats, shapes, duration)

    def facts(self, path: str, compute: float) -> list[Fact]:
        """A `run_pair` for each kind of pair, at the second conversion of the longest."""
        facts: list[Fact] = []
        for (first, second, between), tally in sorted(self._found.items(), key=lambda item: (-item[1].total, item[0])):
            part, place = share(tally.total, compute), Span.at(tally.line)
            values = first, second, between, micro(tally.total), len(facts) + 1, tally.node
            facts.append(ConversionPair("TransData", path, place, *values, share=part))
        return facts[:_TOLD]


class Repeats:
    """Kernels of the same type and shapes that run repeatedly."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, str], _Tally] = {}
        self._dynamic: dict[tuple[str, str], int] = {}

    def see(self, line: int, type_: str, row: Row, duration: float, dynamic: bool) -> None:
        """Process the next kernel of the table."""
        key = (type_, row.text.get("in_shapes", "")[:_TEXT])
        tally = self._found.get(key)
        if tally is None:
            if len(self._found) >= _SHAPES:
                return
            tally = self._found[key] = _Tally()
        tally.add(duration, row.number.get("wait_us", 0.0), line, row.text.get("name", ""))
        if dynamic:
            self._dynamic[key] = self._dynamic.get(key, 0) + 1

    @property
    def repeated_dynamic(self) -> float:
        """The percentage of dynamic kernels whose type and shapes occur more than once."""
        again = sum(count for key, count in self._dynamic.items() if self._found[key].count > 1)
        return share(again, sum(self._dynamic.values()))

    def facts(self, path: str, compute: float, steps: int) -> list[Fact]:
        """A `run_repeated` for each kind of short kernel that runs ten times or more per step, most often first."""
        facts: list[Fact] = []
        for (type_, shapes), tally in sorted(self._found.items(), key=lambda item: (-item[1].count, item[0])):
            per_step, mean = tally.count / max(steps, 1), tally.total / tally.count
            if per_step < _OFTEN or len(facts) >= _TOLD:
                break
            if mean < _TINY_US and type_ != _CLEARING:
                fact = RepeatedKernel(
                    type_,
                    path,
                    Span.at(tally.line),
                    shapes=";".join(shape or "()" for shape in shapes.split(";")),
                    steps=steps,
                    count=tally.count,
                    per_step=round(per_step, 1),
                    mean_us=micro(mean),
                    mean_wait_us=micro(tally.wait / tally.count),
                    waits=tally.wait > tally.total,
                    total_us=micro(tally.total),
                    cost_share=share(tally.total + tally.wait, compute),
                    rank=len(facts) + 1,
                    node=tally.node,
                )
                facts.append(fact)
        return facts


class Small:
    """Kernels that optimizers without a fused implementation launch."""

    def __init__(self) -> None:
        self._durations = Values()

    def see(self, line: int, type_: str, duration: float) -> None:
        """Process the next kernel of the table."""
        if OPTIMIZER.fullmatch(type_):
            self._durations.add(duration, line)

    def facts(self, path: str, compute: float, steps: int) -> list[Fact]:
        """One `run_small`, at the longest of these kernels."""
        durations = self._durations
        if not durations.count:
            return []
        per_step, part = round(durations.count / max(steps, 1), 1), share(durations.total, compute)
        values = steps, durations.count, per_step, micro(durations.median), micro(durations.total)
        return [SmallKernels("optimizer", path, Span.at(durations.largest_line), *values, share=part)]


def _main(text: str) -> str:
    """The format or shape of the first input; empty for ``FORMAT_ND``, and without the groups of a format (``:1``)."""
    return text.split(";", 1)[0].split(":", 1)[0].strip(' "').removeprefix("FORMAT_")[:_TEXT]
