"""What several kernels show together: conversions there and back, tiny kernels over and over, unfused optimizers."""

from __future__ import annotations

from npulint.facts.model import Fact, GenericFact, Span
from npulint.read.artifacts.kernel_words import FOREACH, OPTIMIZER
from npulint.read.artifacts.quantities import Values, micro, share
from npulint.read.artifacts.rows import Row

BETWEEN = 3
"""Kernels of the stream that may stand between a conversion and the one back."""

_STREAMS, _PAIRS, _SHAPES, _TOLD = 1024, 512, 20_000, 50
_TEXT = 200
_TINY_US = 100.0
_OFTEN = 10
_CLEARING = "MemSet"  # what kernels add to themselves


class _Conversion:
    """The last conversion of a stream, and what ran after it."""

    __slots__ = ("after", "duration", "formats", "shapes")

    def __init__(self, formats: tuple[str, str], shapes: tuple[str, str], duration: float) -> None:
        self.formats, self.shapes, self.duration = formats, shapes, duration
        self.after: list[str] = []


class _Tally:
    """How often, how long, and the line that shows it best."""

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
    """Conversions (TransData) from one format to another and back, with at most `BETWEEN` kernels in between."""

    def __init__(self) -> None:
        self._open: dict[str, _Conversion] = {}
        self._found: dict[tuple[str, str, str], _Tally] = {}

    def see(self, line: int, type_: str, row: Row, duration: float) -> None:
        """The next kernel of the table."""
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
        """A `run_pair` for each sort of pair, at the second conversion of the longest."""
        facts: list[Fact] = []
        for (first, second, between), tally in sorted(self._found.items(), key=lambda item: (-item[1].total, item[0])):
            attrs = {
                "from": first,
                "to": second,
                "between": between,
                "direct": "no" if between else "yes",
                "count": tally.count,
                "total_us": micro(tally.total),
                "share": share(tally.total, compute),
                "rank": len(facts) + 1,
                "node": tally.node,
            }
            facts.append(GenericFact("run_pair", "TransData", path, Span.at(tally.line), attrs))
        return facts[:_TOLD]


class Repeats:
    """Kernels of one type and shapes that run again and again."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, str], _Tally] = {}
        self._dynamic: dict[tuple[str, str], int] = {}

    def see(self, line: int, type_: str, row: Row, duration: float, dynamic: bool) -> None:
        """The next kernel of the table."""
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
        """Percent of the dynamic kernels whose type and shapes occur more than once."""
        again = sum(count for key, count in self._dynamic.items() if self._found[key].count > 1)
        return share(again, sum(self._dynamic.values()))

    def facts(self, path: str, compute: float, steps: int) -> list[Fact]:
        """A `run_repeated` for each sort of short kernel that runs ten times or more in a step, most often first."""
        facts: list[Fact] = []
        for (type_, shapes), tally in sorted(self._found.items(), key=lambda item: (-item[1].count, item[0])):
            per_step, mean = tally.count / max(steps, 1), tally.total / tally.count
            if per_step < _OFTEN or len(facts) >= _TOLD:
                break
            if mean < _TINY_US and type_ != _CLEARING:
                attrs = {
                    "shapes": ";".join(shape or "()" for shape in shapes.split(";")),
                    "steps": steps,
                    "count": tally.count,
                    "per_step": round(per_step, 1),
                    "mean_us": micro(mean),
                    "mean_wait_us": micro(tally.wait / tally.count),
                    "waits": "yes" if tally.wait > tally.total else "no",
                    "total_us": micro(tally.total),
                    "share": share(tally.total, compute),
                    "cost_share": share(tally.total + tally.wait, compute),
                    "rank": len(facts) + 1,
                    "node": tally.node,
                }
                facts.append(GenericFact("run_repeated", type_, path, Span.at(tally.line), attrs))
        return facts


class Small:
    """Kernels as optimizers without a fused implementation launch them."""

    def __init__(self) -> None:
        self._durations = Values()
        self._foreach = 0.0
        self._foreach_count = 0

    def see(self, line: int, type_: str, duration: float) -> None:
        """The next kernel of the table."""
        if OPTIMIZER.fullmatch(type_):
            self._durations.add(duration, line)
            if FOREACH.fullmatch(type_):
                self._foreach += duration
                self._foreach_count += 1

    def facts(self, path: str, compute: float, steps: int) -> list[Fact]:
        """One `run_small`, at the longest of these kernels."""
        found = self._durations
        if not found.count:
            return []
        attrs = {
            "steps": steps,
            "count": found.count,
            "per_step": round(found.count / max(steps, 1), 1),
            "median_us": micro(found.median),
            "total_us": micro(found.total),
            "share": share(found.total, compute),
            "foreach_share": share(self._foreach, compute),
            "foreach_count": self._foreach_count,
        }
        line = found.largest_line
        return [GenericFact("run_small", "optimizer", path, Span.at(line), attrs)]


def _main(text: str) -> str:
    """Format or shape of the first input, without what names no order: ``FORMAT_ND``, and ``:1``, the groups of a
    format."""
    return text.split(";", 1)[0].split(":", 1)[0].strip(' "').removeprefix("FORMAT_")[:_TEXT]
