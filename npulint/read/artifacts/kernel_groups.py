"""Kernels of one sort taken together: what `run_op` tells."""

from __future__ import annotations

from npulint.facts.model import Fact, GenericFact, Span
from npulint.read.artifacts.families import Families, family_of
from npulint.read.artifacts.kernel_words import cores_behind, data_dtype, dtypes_of, idle_share, wide_of
from npulint.read.artifacts.quantities import micro, share
from npulint.read.artifacts.rows import Row

GROUPS = 4096
"""Sorts of kernels that are told apart; others go into one."""

TOLD = 500
"""Sorts that become facts, those of the most time."""

_TEXT = 400


class Group:
    """The kernels of a type on a kind of core, of one first data type, on one core or on several."""

    __slots__ = ("core", "count", "dtype", "dynamic", "example", "line", "longest", "single", "total", "type", "wait")

    def __init__(self, type_: str, core: str, dtype: str, single: bool) -> None:
        self.type, self.core, self.dtype, self.single = type_, core, dtype, single
        self.count = self.dynamic = self.line = 0
        self.total = self.wait = 0.0
        self.longest = -1.0
        self.example: Row | None = None

    def add(self, line: int, row: Row, duration: float, dynamic: bool) -> None:
        """One more kernel."""
        self.count += 1
        self.total += duration
        self.wait += row.number.get("wait_us", 0.0)
        self.dynamic += dynamic
        if duration > self.longest:
            self.longest, self.line, self.example = duration, line, row


class Groups:
    """All sorts of kernels of a table."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, str, str, bool], Group] = {}
        self._largest: dict[str, int] = {}

    def group(self, type_: str, core: str, dtype: str, single: bool) -> Group:
        """The group of a kernel."""
        key = (type_, core, dtype, single)
        group = self._found.get(key)
        if group is None:
            if len(self._found) >= GROUPS:
                key = ("", "", "", False)
            group = self._found.get(key) or Group(*key)
            self._found[key] = group
        return group

    def widest(self, core: str, block: int) -> None:
        """Note that a kernel ran on `block` cores of a kind."""
        if block > self._largest.get(core, 0):
            self._largest[core] = block

    def facts(self, path: str, compute: float, stateful: bool, extra: dict[str, dict[str, object]]) -> list[Fact]:
        """A `run_op` for each group, the one of the most time first, and a `run_family` for each family of types, with
        its `extra` attributes."""
        ordered = sorted(self._found.values(), key=lambda group: (-group.total, group.type, group.line))
        totals: dict[str, float] = {}
        counts: dict[str, int] = {}
        for group in ordered:
            totals[group.type] = totals.get(group.type, 0.0) + group.total
            counts[group.type] = counts.get(group.type, 0) + group.count
        ranks = {type_: rank for rank, type_ in enumerate(sorted(totals, key=lambda t: (-totals[t], t)), 1)}
        families = Families()
        facts, told = [], set()
        for group in ordered:
            example = group.example.text.get("name", "")[:_TEXT] if group.example else ""
            place = (group.longest, group.line, example)
            families.add(group.type, group.core, ranks[group.type], group.count, group.total, *place)
        for rank, group in enumerate(ordered[:TOLD], 1):
            attrs = self._attrs(group, compute, stateful)
            attrs["rank"] = rank
            attrs["type_rank"] = ranks[group.type]
            attrs["type_share"] = share(totals[group.type], compute)
            attrs["type_us"] = micro(totals[group.type])
            attrs["type_count"] = counts[group.type]
            attrs["leads"] = "no" if group.type in told else "yes"
            told.add(group.type)
            if group.type:
                facts.append(GenericFact("run_op", group.type, path, Span.at(group.line), attrs))
        return [*facts, *families.facts(path, "kernel_table", compute, extra)]

    def _attrs(self, group: Group, compute: float, stateful: bool) -> dict[str, object]:
        example = group.example or Row({}, {})
        text, block = example.text, int(example.number.get("block", 0))
        cores = cores_behind(self._largest.get(group.core, 0))
        dtypes, results = dtypes_of(text.get("in_dtypes", "")), dtypes_of(text.get("out_dtypes", ""))
        return {
            "core": group.core,
            "dtype": group.dtype,
            "data_dtype": data_dtype(dtypes),
            "family": family_of(group.type),
            "wide": ", ".join(wide_of(dtypes)),
            "wide_result": ", ".join(wide_of(results)),
            "single": "yes" if group.single else "no",
            "block": block,
            "mix_block": int(example.number.get("mix_block", 0)),
            "cores": cores,
            "idle": idle_share(block, cores),
            "count": group.count,
            "total_us": micro(group.total),
            "share": share(group.total, compute),
            "max_us": micro(max(group.longest, 0.0)),
            "mean_us": micro(group.total / max(group.count, 1)),
            "wait_us": micro(group.wait),
            "dynamic": share(group.dynamic, group.count) if stateful else None,
            "hf32": {"YES": "yes", "NO": "no"}.get(text.get("hf32", "").upper(), "unknown"),
            "node": text.get("name", "")[:_TEXT],
            "shapes": text.get("in_shapes", "")[:_TEXT],
            "dtypes": ";".join(dtypes)[:_TEXT],
            "formats": text.get("in_formats", "")[:_TEXT],
            "out_shapes": text.get("out_shapes", "")[:_TEXT],
            "out_dtypes": ";".join(results)[:_TEXT],
            "out_formats": text.get("out_formats", "")[:_TEXT],
        }
