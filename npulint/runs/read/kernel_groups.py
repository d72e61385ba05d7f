"""Groups of similar kernels, which become `run_op` facts."""

from __future__ import annotations

from typing import Literal

from npulint.data.chip_cores import MOST_CORES
from npulint.facts.attributes import attribute
from npulint.facts.kinds import fact_kind
from npulint.facts.model import Fact, Span
from npulint.runs.read.families import Families, Family, family_of
from npulint.runs.read.kernel_sequences import OfComputing
from npulint.runs.read.kernel_words import cores_behind, data_dtype, dtypes_of, idle_share, waves_of, wide_of
from npulint.runs.read.quantities import micro, share
from npulint.runs.read.rows import Row

# Which unit of the cores limits a group of kernels, by the ratios that some kernel tables have.

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
        ratios = {key: row.number[key] for key in RATIOS if key in row.number}
        if not any(0 < value <= 1 for value in ratios.values()):
            return
        self._whole += duration
        for key, value in ratios.items():
            self._times[key] = self._times.get(key, 0.0) + duration * min(max(value, 0.0), 1.0)

    @property
    def bound(self) -> tuple[Bound, float]:
        """The unit that is busy longest, and for how many percent of the time."""
        if self._whole <= 0:
            return "unknown", 0.0
        key = max(self._times, key=lambda ratio: self._times[ratio])
        return RATIOS[key], round(100 * self._times[key] / self._whole, 1)


GROUPS = 4096
"""Maximum number of groups; further kernels share one."""

TOLD = 500
"""Groups that become facts, by total time."""

_TEXT = 400
_ALIGNED = 128  # elements of an inner axis that the matrix unit loads best


@fact_kind("run_op")
class OperatorKernels(OfComputing):
    """Kernels of an operator type: one fact for each core type, data type of the first input, and `single`."""

    core: str
    dtype: str
    """The data type of the first input."""
    data_dtype: str
    """That of the first input which is neither an index nor a size."""
    family: Family
    wide: str
    """INT64 UINT64 DOUBLE BOOL COMPLEX64 COMPLEX128 among the inputs of the longest kernel."""
    wide_result: str
    """The same among its results."""
    single: bool
    """Whether they run on one core and could use more (not on AI_CPU and DSA_SQE)."""
    block: int
    """The cores of the longest kernel."""
    cores: int
    """The cores of the chip, when the profile names its device or the table shows it; otherwise 0."""
    idle: float
    """Percent of core slots without work at this `block`."""
    waves: int
    """How often the cores take a part until `block` parts are done, at least."""
    bound: Bound
    """The unit of the cores that is busy longest, if the table has ratios of units."""
    bound_share: float
    """In percent of the time."""
    count: int
    total_us: float
    max_us: float
    mean_us: float
    node: str
    """The longest kernel."""
    shapes: str
    """Of its inputs."""
    dtypes: str
    """Of its inputs."""
    out_dtypes: str
    rank: int
    """By total time."""
    type_us: float
    """Of all facts of the type."""
    type_share: float
    type_count: int
    leads: bool
    """Whether it is the first fact of its type."""
    table: str = ""
    """Of a table in slices: the file that stands for all of them."""

    @attribute
    def inner_axis(self) -> int:
        """The last axis of an input of the longest kernel, if it is above 128 elements and no multiple of them;
        otherwise 0, and for other operators."""
        axes = _inner_axes(self.shapes) if self._matrix else []
        return next((axis for axis in axes if axis > _ALIGNED and axis % _ALIGNED), 0)

    @attribute
    def head_dim(self) -> int:
        """The size of a head of FlashAttentionScore, where its layout shows it; otherwise 0."""
        axes = self.shapes.split(";", 1)[0].split(",") if self.name.startswith("FlashAttentionScore") else []
        return int(axes[3]) if len(axes) == 4 and axes[3].isdecimal() else 0

    @property
    def _matrix(self) -> bool:
        return self.family == "matrix" and "MatMul" in self.name


def _inner_axes(shapes: str) -> list[int]:
    """The last axes of the first two inputs, if both are plain matrices."""
    dimensions = [shape.strip('" ').split(",") for shape in shapes.split(";")[:2]]
    plain = all(2 <= len(axes) <= 3 and axes[-1].isdecimal() for axes in dimensions)
    return [int(axes[-1]) for axes in dimensions] if plain else []


class Group:
    """The kernels of one type, core type, first data type, and single or multiple cores."""

    __slots__ = ("bounds", "core", "count", "dtype", "example", "line", "longest", "single", "total", "type")

    def __init__(self, type_: str, core: str, dtype: str, single: bool) -> None:
        self.type, self.core, self.dtype, self.single = type_, core, dtype, single
        self.bounds = Bounds()
        self.count = self.line = 0
        self.total = 0.0
        self.longest = -1.0
        self.example: Row | None = None

    def add(self, line: int, row: Row, duration: float) -> None:
        """Add a kernel."""
        self.count += 1
        self.total += duration
        self.bounds.add(row, duration)
        if duration > self.longest:
            self.longest, self.line, self.example = duration, line, row


class Groups:
    """The groups of a table."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, str, str, bool], Group] = {}
        self._largest: dict[str, int] = {}

    def group(self, type_: str, core: str, dtype: str, single: bool) -> Group:
        """The group of a kernel, created if necessary."""
        key = (type_, core, dtype, single)
        group = self._found.get(key)
        if group is None:
            if len(self._found) >= GROUPS:
                key = ("", "", "", False)
            group = self._found.get(key) or Group(*key)
            self._found[key] = group
        return group

    def widest(self, core: str, block: int) -> None:
        """Record that a kernel was cut into `block` parts for a type of core. More than any chip has tell nothing."""
        if block <= MOST_CORES and block > self._largest.get(core, 0):
            self._largest[core] = block

    def facts(self, path: str, compute: float, matrix: tuple[float, float]) -> list[Fact]:
        """A `run_op` for each group, longest total time first, and a `run_family` for each family of types, with the
        shares of `matrix`."""
        ordered = sorted(self._found.values(), key=lambda group: (-group.total, group.type, group.line))
        totals: dict[str, float] = {}
        counts: dict[str, int] = {}
        for group in ordered:
            totals[group.type] = totals.get(group.type, 0.0) + group.total
            counts[group.type] = counts.get(group.type, 0) + group.count
        ranks = {type_: rank for rank, type_ in enumerate(sorted(totals, key=lambda t: (-totals[t], t)), 1)}
        families = Families()
        for group in ordered:
            example = group.example.text.get("name", "")[:_TEXT] if group.example else ""
            place = (group.longest, group.line, example)
            families.add(group.type, group.core, ranks[group.type], group.count, group.total, *place)
        facts: list[Fact] = []
        leading: set[str] = set()
        for rank, group in enumerate(ordered[:TOLD], 1):
            if group.type:
                total, leads = totals[group.type], group.type not in leading
                facts.append(self._fact(path, group, rank, compute, total, counts[group.type], leads))
            leading.add(group.type)
        return [*facts, *families.facts(path, "kernel_table", compute, matrix)]

    def _fact(
        self, path: str, group: Group, rank: int, compute: float, of_type: float, count: int, leads: bool
    ) -> OperatorKernels:
        example = group.example or Row({}, {})
        text, block = example.text, int(example.number.get("block", 0))
        cores = cores_behind(self._largest.get(group.core, 0))
        bound, bound_share = group.bounds.bound
        dtypes, results = dtypes_of(text.get("in_dtypes", "")), dtypes_of(text.get("out_dtypes", ""))
        return OperatorKernels(
            group.type,
            path,
            Span.at(group.line),
            core=group.core,
            dtype=group.dtype,
            data_dtype=data_dtype(dtypes),
            family=family_of(group.type),
            wide=", ".join(wide_of(dtypes)),
            wide_result=", ".join(wide_of(results)),
            single=group.single,
            block=block,
            cores=cores,
            idle=idle_share(block, cores),
            waves=waves_of(block, cores),
            bound=bound,
            bound_share=bound_share,
            count=group.count,
            total_us=micro(group.total),
            share=share(group.total, compute),
            max_us=micro(max(group.longest, 0.0)),
            mean_us=micro(group.total / max(group.count, 1)),
            node=text.get("name", "")[:_TEXT],
            shapes=text.get("in_shapes", "")[:_TEXT],
            dtypes=";".join(dtypes)[:_TEXT],
            out_dtypes=";".join(results)[:_TEXT],
            rank=rank,
            type_us=micro(of_type),
            type_share=share(of_type, compute),
            type_count=count,
            leads=leads,
        )
