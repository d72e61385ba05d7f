"""Two profiles of one training: what takes longer, what is new, and what moved to another kind of core."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

import msgspec

from npulint.facts.kinds import fact_kind
from npulint.facts.model import Fact, FileFact, FileFacts
from npulint.runs.facts.run_program import of_one_run
from npulint.runs.read.kernel_groups import OperatorKernels
from npulint.runs.read.kernel_words import HOST_CORE
from npulint.runs.read.kernels import KernelTable
from npulint.runs.read.quantities import micro, share
from npulint.runs.read.statistics import OperatorTotal
from npulint.runs.read.steps import StepBreakdown

_ALIKE = 5.0  # percent; two runs of the same program differ by as much
_LEAST = 0.5  # percent of computing; below nothing is told of an operator
_TOLD = 200

Trend = Literal["slower", "faster", "alike"]
OperatorTrend = Literal["slower", "faster", "alike", "new", "gone"]
Unit = Literal["step", "profile"]


@fact_kind("run_step_change")
class StepChange(FileFact):
    """The mean step of a profile and that of another one (`--against`); the name is step. What begins with `before`
    is of the other profile."""

    before: str
    """The other table."""
    trend: Trend
    """slower and faster from 5 % on."""
    step_us: float
    before_step_us: float
    change: float
    """Of the step, in percent of that before."""
    computing_us: float
    before_computing_us: float
    exposed_us: float
    """Communication that nothing overlaps."""
    before_exposed_us: float
    free_us: float
    before_free_us: float


@fact_kind("run_op_change")
class OperatorChange(FileFact):
    """An operator type in the kernel tables (or totals) of two profiles (`--against`), or what is computed in them all
    together, which is called computing."""

    per: Unit
    """What times and counts are of: a step where both tables contain steps, otherwise the whole profile."""
    trend: OperatorTrend
    """slower and faster from 5 % on; new and gone: it is in one of the profiles only."""
    us: float
    before_us: float
    count: float
    before_count: float
    change: float
    """Of the time, in percent of that before; 100 if it is new."""
    weight: float
    """The difference of the times, in percent of all computing before; negative if it takes less."""
    core: str
    """Where most of the time is spent."""
    before_core: str
    to_host: bool
    """Whether some of it is computed by the AI CPU, and before nothing was."""
    dtypes: str
    """The data types of the first input, the most costly first."""
    before_dtypes: str
    rank: int
    """By the absolute weight; 0 for computing."""


class _Type(msgspec.Struct):
    """The kernels of one operator type."""

    us: float = 0.0
    count: int = 0
    place: Fact | None = None
    cores: dict[str, float] = {}
    dtypes: dict[str, float] = {}


class _Computing(msgspec.Struct):
    """Everything that is computed in one profile."""

    us: float
    steps: int
    types: dict[str, _Type]
    place: Fact


def changes(facts: Iterable[Fact], before: Iterable[Fact]) -> list[Fact]:
    """What differs between the facts of two profiles, where each has one table of steps, and one of kernels or one of
    totals."""
    facts, before = list(facts), list(before)
    return [*_step_changes(facts, before), *_operator_changes(_computing(facts), _computing(before))]


def changes_from(facts: Iterable[Fact], files: Iterable[FileFacts]) -> list[Fact]:
    """What differs between the facts of a profile and the profile whose artifacts are among files."""
    return changes(facts, facts_of_files(files))


def facts_of_files(files: Iterable[FileFacts]) -> list[Fact]:
    """The facts of the artifacts among files, with what one says of another."""
    artifacts = [file for file in files if file.kind == "artifact"]
    return of_one_run(
        [fact.copy() for file in artifacts for fact in file.facts], sorted(artifact.path for artifact in artifacts)
    )


def _step_changes(facts: Sequence[Fact], before: Sequence[Fact]) -> Iterator[Fact]:
    step_breakdownses = [
        [breakdown for breakdown in some if isinstance(breakdown, StepBreakdown) and breakdown.step_us > 0]
        for some in (facts, before)
    ]
    if [len(step_breakdowns) for step_breakdowns in step_breakdownses] != [1, 1]:
        return
    now, then = (step_breakdowns[0] for step_breakdowns in step_breakdownses)
    yield StepChange(
        "step",
        now.path,
        now.span,
        before=then.path,
        trend=trend_of(now.step_us, then.step_us),
        step_us=now.step_us,
        before_step_us=then.step_us,
        change=share(now.step_us - then.step_us, then.step_us),
        computing_us=now.computing_us,
        before_computing_us=then.computing_us,
        exposed_us=now.exposed_us,
        before_exposed_us=then.exposed_us,
        free_us=now.free_us,
        before_free_us=then.free_us,
    )


def trend_of(now: float, then: float) -> Trend:
    """How a time changed: alike below 5 %."""
    change = share(now - then, then)
    return "slower" if change >= _ALIKE else "faster" if change <= -_ALIKE else "alike"


def _computing(facts: Sequence[Fact]) -> _Computing | None:
    """The operators of a profile: of its only kernel table, else of its only table of totals."""
    tables = [fact for fact in facts if isinstance(fact, KernelTable) and fact.level == "operators"]
    kernels = [fact for fact in facts if isinstance(fact, OperatorKernels)]
    if len(tables) == 1 and kernels:
        return _Computing(tables[0].compute_us, tables[0].steps, _types(kernels), tables[0])
    totals = [fact for fact in facts if isinstance(fact, OperatorTotal) and fact.share is not None]
    if tables or not totals or len({total.path for total in totals}) > 1:
        return None
    return _Computing(sum(total.total_us for total in totals), 0, _types(totals), totals[0])


def _types(facts: Sequence[OperatorKernels] | Sequence[OperatorTotal]) -> dict[str, _Type]:
    types: dict[str, _Type] = {}
    for fact in facts:
        operator_type = types.setdefault(fact.name, _Type(place=fact, cores={}, dtypes={}))
        operator_type.us += fact.total_us
        operator_type.count += fact.count
        operator_type.cores[fact.core] = operator_type.cores.get(fact.core, 0.0) + fact.total_us
        dtype = fact.dtype if isinstance(fact, OperatorKernels) else ""
        operator_type.dtypes[dtype] = operator_type.dtypes.get(dtype, 0.0) + fact.total_us
    return types


def _operator_changes(now: _Computing | None, then: _Computing | None) -> list[Fact]:
    """A fact for all computing, and for each operator type with some weight."""
    if now is None or then is None or now.us <= 0 or then.us <= 0:
        return []
    steps = (now.steps, then.steps) if now.steps and then.steps else (1, 1)
    per: Unit = "step" if now.steps and then.steps else "profile"
    total_before_us = then.us / steps[1]
    counts = (
        sum(operator_type.count for operator_type in now.types.values()),
        sum(operator_type.count for operator_type in then.types.values()),
    )
    alls = _Type(now.us, counts[0], now.place), _Type(then.us, counts[1], then.place)
    operator_changes = [
        _change(name, per, now.types.get(name), then.types.get(name), steps, total_before_us, now.place)
        for name in sorted(now.types.keys() | then.types.keys())
    ]
    kept = [
        operator_change
        for operator_change in operator_changes
        if abs(operator_change.weight) >= _LEAST or operator_change.to_host
    ]
    kept.sort(key=lambda operator_change: (-abs(operator_change.weight), operator_change.name))
    told = [msgspec.structs.replace(operator_change, rank=rank) for rank, operator_change in enumerate(kept[:_TOLD], 1)]
    return [_change("computing", per, *alls, steps, total_before_us, now.place), *told]


def _change(
    name: str,
    per: Unit,
    now: _Type | None,
    then: _Type | None,
    steps: tuple[int, int],
    total_before_us: float,
    table: Fact,
) -> OperatorChange:
    """The change of one operator type; in a profile without it, it has no time."""
    after, before = now or _Type(), then or _Type()
    us, before_us = after.us / steps[0], before.us / steps[1]
    place = after.place or table
    trend: OperatorTrend = "new" if then is None else "gone" if now is None else trend_of(us, before_us)
    return OperatorChange(
        name,
        place.path,
        place.span,
        per=per,
        trend=trend,
        us=micro(us),
        before_us=micro(before_us),
        count=round(after.count / steps[0], 1),
        before_count=round(before.count / steps[1], 1),
        change=share(us - before_us, before_us) if before_us else 100.0,
        weight=share(us - before_us, total_before_us),
        core=_most(after.cores),
        before_core=_most(before.cores),
        to_host=HOST_CORE in after.cores and HOST_CORE not in before.cores,
        dtypes=_ordered(after.dtypes),
        before_dtypes=_ordered(before.dtypes),
        rank=0,
    )


def _most(times: dict[str, float]) -> str:
    return max(sorted(times), key=lambda name: times[name], default="")


def _ordered(times: dict[str, float]) -> str:
    return ", ".join(time for time in sorted(times, key=lambda name: (-times[name], name)) if time)
