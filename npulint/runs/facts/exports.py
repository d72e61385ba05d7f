"""Several exports of one profile in a folder: the newest set speaks, and its slices speak together.

The tools of profilers write the time of the export behind the names of their files (`op_summary_<14 digits>.csv`), and
cut tables of many kernels into slices (`op_summary_slice_<n>_<14 digits>.csv`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

import msgspec

from npulint.core.lazy_regex import lazy_compile
from npulint.facts.model import Fact
from npulint.runs.read.families import Families, OperatorFamily
from npulint.runs.read.kernel_gaps import KernelGaps
from npulint.runs.read.kernel_groups import OperatorKernels
from npulint.runs.read.kernel_patterns import ConversionPair, RepeatedKernel, SmallKernels
from npulint.runs.read.kernel_sequences import FusibleSequence
from npulint.runs.read.kernel_words import idle_share, waves_of
from npulint.runs.read.kernels import KernelTable
from npulint.runs.read.quantities import micro, share
from npulint.runs.read.source_fact import RunSource

# Slices of one kernel table taken together: the facts that the table would give if it had not been cut.

_OF_TABLE = (
    *(KernelTable, OperatorKernels, OperatorFamily, ConversionPair),
    *(RepeatedKernel, SmallKernels, KernelGaps, FusibleSequence),
)
_F = TypeVar("_F", bound=Fact)


class _Whole(msgspec.Struct, frozen=True):
    """The table that slices are cut from: µs of computing, steps."""

    compute: float
    steps: int


def merged(facts: Sequence[Fact], groups: Iterable[set[str]]) -> list[Fact]:
    """The facts, where each group of paths (slices of one table) has one set of facts about kernels."""
    for paths in groups:
        parts = [fact for fact in facts if fact.path in paths and isinstance(fact, _OF_TABLE)]
        if len({fact.path for fact in parts}) > 1:
            others = [fact for fact in facts if fact.path not in paths or not isinstance(fact, _OF_TABLE)]
            facts = others + _united(parts)
    return list(facts)


def _united(parts: Sequence[Fact]) -> list[Fact]:
    tables = _of(KernelTable, parts)
    steps = [table.steps for table in tables]
    uncut = _Whole(sum(table.compute_us for table in tables), max(*steps, sum(steps) - len(steps) + 1, 0))
    table = _table(tables, uncut)
    facts: list[Fact] = [table, *map(_gaps, _grouped(_of(KernelGaps, parts), lambda kernel_gaps: kernel_gaps.name))]
    if operators := _of(OperatorKernels, parts):
        ranks, united = _operators(operators, uncut, table.path)
        facts += [*united, *_families(united, ranks, table, uncut)]
    pairs = [_pair(group, uncut) for group in _grouped(_of(ConversionPair, parts), _formats)]
    pairs.sort(key=lambda pair: -pair.total_us)
    facts += _ranked(pairs)
    repeated = [
        _repeated(group, uncut)
        for group in _grouped(_of(RepeatedKernel, parts), lambda repeated_kernel: repeated_kernel.shapes)
    ]
    repeated.sort(key=lambda kernel: -kernel.count)
    facts += _ranked(repeated)
    small = _of(SmallKernels, parts)
    facts += [
        _fusible(group, uncut)
        for group in _grouped(_of(FusibleSequence, parts), lambda fusible_sequence: fusible_sequence.name)
    ]
    return facts + ([_small(small, uncut)] if small else [])


def _table(tables: list[KernelTable], uncut: _Whole) -> KernelTable:
    levels = {table.level for table in tables}
    named = [(table, table.named) for table in tables]
    return msgspec.structs.replace(
        max(tables, key=lambda table: table.named),
        level="operators" if "operators" in levels else "times" if "times" in levels else "none",
        kernels=sum(table.kernels for table in tables),
        named=sum(table.named for table in tables),
        steps=uncut.steps,
        compute_us=micro(uncut.compute),
        dynamic=_weighted((kernel_table.dynamic, count) for kernel_table, count in named),
        dynamic_repeated=_weighted(
            (kernel_table.dynamic_repeated, count * (kernel_table.dynamic or 0.0)) for kernel_table, count in named
        ),
        cube_us=micro(sum(table.cube_us for table in tables)),
        cube_float=_weighted((table.cube_float, table.cube_us) for table in tables) or 0.0,
        cube_hf32=_weighted((table.cube_hf32, table.cube_us * table.cube_float) for table in tables) or 0.0,
    )


def _gaps(group: list[KernelGaps]) -> KernelGaps:
    """The gaps within the slices of one device; those between two slices are not known."""
    worst = max(group, key=lambda gaps: gaps.longest_us)
    span, idle = sum(gaps.span_us for gaps in group), sum(gaps.idle_us for gaps in group)
    causes = {gaps.cause for gaps in group}
    return msgspec.structs.replace(
        worst,
        kernels=sum(gaps.kernels for gaps in group),
        span_us=micro(span),
        busy_us=micro(span - idle),
        idle_us=micro(idle),
        idle_share=share(idle, span),
        exposed_us=micro(sum(gaps.exposed_us for gaps in group)),
        gaps=sum(gaps.gaps for gaps in group),
        median_us=micro(_weighted(((gaps.median_us, gaps.gaps) for gaps in group), 3) or 0.0),
        long_share=_weighted((gaps.long_share, gaps.idle_us) for gaps in group) or 0.0,
        cause=causes.pop() if len(causes) == 1 else "unknown",
    )


def _operators(
    operators: list[OperatorKernels], uncut: _Whole, table: str
) -> tuple[dict[str, int], list[OperatorKernels]]:
    """The rank of each type, and the facts of all slices."""
    times: dict[str, float] = {}
    counts: dict[str, int] = {}
    cores: dict[str, int] = {}
    for fact in operators:
        if fact.leads:  # carries the sums of its type
            times[fact.name] = times.get(fact.name, 0.0) + fact.type_us
            counts[fact.name] = counts.get(fact.name, 0) + fact.type_count
        cores[fact.core] = max(fact.cores, cores.get(fact.core, 0))
    ranks = {name: rank for rank, name in enumerate(sorted(times, key=lambda name: (-times[name], name)), 1)}
    groups = _grouped(operators, lambda fact: (fact.core, fact.dtype, fact.single))
    united = [_operator(group, uncut, cores) for group in groups]
    united.sort(key=lambda fact: (-fact.total_us, fact.name, fact.path, fact.span))
    told: set[str] = set()
    operator_kernelses = []
    for rank, fact in enumerate(united, 1):
        name = fact.name
        operator_kernels = msgspec.structs.replace(
            fact,
            rank=rank,
            type_us=micro(times[name]),
            type_share=share(times[name], uncut.compute),
            type_count=counts[name],
            leads=name not in told,
            table=table,
        )
        told.add(name)
        operator_kernelses.append(operator_kernels)
    return ranks, operator_kernelses


def _families(
    operators: Sequence[OperatorKernels], ranks: dict[str, int], table: KernelTable, uncut: _Whole
) -> list[OperatorFamily]:
    families = Families()
    for place, fact in enumerate(operators, 1):
        rank = ranks[fact.name]
        families.add(fact.name, fact.core, rank, fact.count, fact.total_us, fact.max_us, place, fact.node)
    operator_families = []
    for family in families.facts(table.path, "kernel_table", uncut.compute, (table.cube_float, table.cube_hf32)):
        shown = operators[family.span.line - 1]
        operator_families.append(msgspec.structs.replace(family, path=shown.path, span=shown.span))
    return operator_families


def _operator(group: list[OperatorKernels], uncut: _Whole, widest: dict[str, int]) -> OperatorKernels:
    longest = max(group, key=lambda fact: fact.max_us)
    count, total = sum(fact.count for fact in group), sum(fact.total_us for fact in group)
    return msgspec.structs.replace(
        longest,
        bound_share=_weighted(
            (operator_kernels.bound_share, operator_kernels.total_us)
            for operator_kernels in group
            if operator_kernels.bound == longest.bound
        )
        or 0.0,
        count=count,
        total_us=micro(total),
        mean_us=micro(total / max(count, 1)),
        share=share(total, uncut.compute),
        cores=widest[longest.core],
        idle=idle_share(longest.block, widest[longest.core]),
        waves=waves_of(longest.block, widest[longest.core]),
    )


def _formats(pair: ConversionPair) -> tuple[str, str, str]:
    return pair._from, pair.to, pair.between


def _pair(group: list[ConversionPair], uncut: _Whole) -> ConversionPair:
    total = sum(pair.total_us for pair in group)
    largest = max(group, key=lambda pair: pair.total_us)
    return msgspec.structs.replace(largest, total_us=micro(total), share=share(total, uncut.compute))


def _repeated(group: list[RepeatedKernel], uncut: _Whole) -> RepeatedKernel:
    count, total = (
        sum(repeated_kernel.count for repeated_kernel in group),
        sum(repeated_kernel.total_us for repeated_kernel in group),
    )
    wait = sum(repeated_kernel.mean_wait_us * repeated_kernel.count for repeated_kernel in group)
    return msgspec.structs.replace(
        max(group, key=lambda repeated_kernel: repeated_kernel.total_us),
        count=count,
        total_us=micro(total),
        steps=uncut.steps,
        per_step=round(count / max(uncut.steps, 1), 1),
        mean_us=micro(total / max(count, 1)),
        mean_wait_us=micro(wait / max(count, 1)),
        waits=wait > total,
        cost_share=share(total + wait, uncut.compute),
    )


def _small(group: list[SmallKernels], uncut: _Whole) -> SmallKernels:
    count, total = (
        sum(small_kernels.count for small_kernels in group),
        sum(small_kernels.total_us for small_kernels in group),
    )
    return msgspec.structs.replace(
        max(group, key=lambda small_kernels: small_kernels.total_us),
        count=count,
        total_us=micro(total),
        steps=uncut.steps,
        per_step=round(count / max(uncut.steps, 1), 1),
        median_us=micro(
            _weighted(((small_kernels.median_us, small_kernels.count) for small_kernels in group), 3) or 0.0
        ),
        share=share(total, uncut.compute),
    )


def _fusible(group: list[FusibleSequence], uncut: _Whole) -> FusibleSequence:
    count, total = (
        sum(fusible_sequence.count for fusible_sequence in group),
        sum(fusible_sequence.total_us for fusible_sequence in group),
    )
    return msgspec.structs.replace(
        max(group, key=lambda fusible_sequence: fusible_sequence.total_us),
        count=count,
        per_step=round(count / max(uncut.steps, 1), 1),
        total_us=micro(total),
        share=share(total, uncut.compute),
    )


def _of(cls: type[_F], facts: Iterable[Fact]) -> list[_F]:
    return [fact for fact in facts if isinstance(fact, cls)]


def _grouped(facts: Iterable[_F], key: Callable[[_F], object]) -> list[list[_F]]:
    groups: dict[object, list[_F]] = {}
    for fact in facts:
        groups.setdefault((fact.name, key(fact)), []).append(fact)
    return list(groups.values())


def _ranked(facts: Iterable[_F]) -> list[_F]:
    return [msgspec.structs.replace(fact, rank=rank) for rank, fact in enumerate(facts, 1)]


def _weighted(figures: Iterable[tuple[float | None, float]], digits: int = 1) -> float | None:
    """The mean of figures by weight; None where no slice has the figure."""
    weighted = [(figure, weight) for figure, weight in figures if figure is not None]
    total_weight = sum(weight for _, weight in weighted)
    if not weighted:
        return None
    return round(sum(figure * weight for figure, weight in weighted) / total_weight, digits) if total_weight else 0.0


_NAME = lazy_compile(
    r"(?P<stem>[A-Za-z]\w{0,99}?)(?:_slice_(?P<slice>\d{1,6}))?_(?P<stamp>\d{14})(?P<end>\.\w{1,5}(?:\.gz)?)"
)
_FORMS = frozenset(
    """kernel_table op_statistic api_statistic step_trace aicpu fusion_op task_time l2_cache memory_record module_memory
    static_memory operator_memory trace communication database""".split()
)


class _Part(msgspec.Struct, frozen=True):
    """A file of an export: `group` is what all exports of the table have in common, `slice` empty for a whole one."""

    group: tuple[str, str, str]
    stamp: str
    slice: str


def newest(facts: Iterable[Fact]) -> list[Fact]:
    """The facts without those of older exports, of which only `run_source` stays (its note is "older"), and with the
    slices of a kernel table taken together."""
    facts = list(facts)
    forms = {fact.path: fact.name for fact in facts if isinstance(fact, RunSource)}
    parts = {path: part for path, form in forms.items() if form in _FORMS and (part := _part(path)) is not None}
    latest: dict[tuple[str, str, str], str] = {}
    for part in parts.values():
        latest[part.group] = max(part.stamp, latest.get(part.group, ""))
    older = {path for path, part in parts.items() if part.stamp != latest[part.group]}
    kept = [fact if fact.path not in older else _older(fact) for fact in facts]
    sliced: dict[tuple[str, str, str], set[str]] = {}
    for path, part in parts.items():
        if part.slice and path not in older and forms[path] == "kernel_table":
            sliced.setdefault(part.group, set()).add(path)
    return merged([fact for fact in kept if fact is not None], [slices for _, slices in sorted(sliced.items())])


def _part(path: str) -> _Part | None:
    folder, _, name = path.replace("\\", "/").rpartition("/")
    match = _NAME.fullmatch(name)
    if match is None:
        return None
    return _Part((folder, match["stem"], match["end"].removesuffix(".gz")), match["stamp"], match["slice"] or "")


def _older(fact: Fact) -> Fact | None:
    return msgspec.structs.replace(fact, note="older") if isinstance(fact, RunSource) else None
