"""The program that a run is: what all its artifacts say, beside the facts of the code that belongs to it."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, NamedTuple

import msgspec

from npulint.core.lazy_regex import lazy_compile
from npulint.facts.graph import NodeFrame
from npulint.facts.kinds import fact_kind
from npulint.facts.model import Fact, FileFact, FileFacts
from npulint.graphs.facts.source_mapping import Files
from npulint.model.code.index import Index, table
from npulint.model.values.context import Context
from npulint.recognizers.programs import Program
from npulint.recognizers.related_programs import at_work, fact_of, home_of, tables_of
from npulint.runs.facts.exports import newest
from npulint.runs.facts.origins import Origins
from npulint.runs.facts.own_output import without_foreign_output
from npulint.runs.facts.profiles import folder_of, steps_once, together
from npulint.runs.read.environment import ProfiledDevice, ProfileOptions
from npulint.runs.read.families import OperatorFamily
from npulint.runs.read.frames import LineFact
from npulint.runs.read.fusion import FusionPass
from npulint.runs.read.fusion_switches import FusionSwitch
from npulint.runs.read.host_lines import HostWait
from npulint.runs.read.interfaces import HostActivity
from npulint.runs.read.kernel_gaps import KernelGaps
from npulint.runs.read.kernel_groups import OperatorKernels
from npulint.runs.read.kernel_sequences import OfComputing
from npulint.runs.read.kernel_words import idle_share, waves_of
from npulint.runs.read.kernels import KernelTable
from npulint.runs.read.logs import LogSummary
from npulint.runs.read.logs.triage import across
from npulint.runs.read.overflow import Overflow, ranked, with_operators, without_parsed
from npulint.runs.read.quantities import share
from npulint.runs.read.series.graphs import GraphCompilations
from npulint.runs.read.series.loss import MeasureSeries
from npulint.runs.read.skews import Rank, RankSkew, skews
from npulint.runs.read.source_fact import RunSource
from npulint.runs.read.statistics import AicpuNode, OperatorTotal
from npulint.runs.read.steps import StepBreakdown

# Two runs, one with fusion and one with (nearly) all passes switched off: whether training is better without.

_OFF = 0.2  # fraction of the effects that remain, as some passes cannot be switched off
_ENOUGH = 20  # values of a series
_ALIKE = 2  # ratio of the lengths of two series that are compared
_BETTER = 10.0  # percent of the loss
_HIGHER = 5.0  # percent of the accuracy


@fact_kind("run_fusion_effect")
class FusionEffect(FileFact):
    """Of two runs in different folders, by their `fusion_result.json` or switch file one with fusion and one without,
    the loss or accuracy that is better without fusion; at that of the run with fusion."""

    name: Literal["loss", "accuracy"]
    fused: float
    """What it ends at with fusion."""
    unfused: float
    """What it ends at without."""
    better: float
    """The difference in percent; 100 if there are values that are not numbers with fusion only."""
    passes: int
    """The passes that took effect with fusion."""


class _Run(NamedTuple):
    effects: int
    passes: int
    series: dict[tuple[str, str], MeasureSeries]


def with_fusion_effects(facts: Iterable[Fact]) -> list[Fact]:
    """The facts, and a `run_fusion_effect` if they are of exactly two runs that differ in fusion."""
    facts = list(facts)
    runs = _runs(facts)
    if len(runs) != 2:
        return facts
    off, on = sorted(runs, key=lambda run: run.effects)
    if not on.effects or off.effects > _OFF * on.effects:
        return facts
    both = [(on.series[key], off.series[key]) for key in on.series.keys() & off.series.keys()]
    comparisons = [(_better(*pair), *pair) for pair in both]
    certain = [comparison for comparison in comparisons if comparison[0] > 0]
    if not certain:
        return facts
    better, fused, unfused = max(
        certain, key=lambda comparison: (comparison[0], comparison[1].path, comparison[1].label)
    )
    place = fused.path, fused.span
    return [*facts, FusionEffect(fused.name, *place, fused.end, unfused.end, better, on.passes)]


def _runs(facts: list[Fact]) -> list[_Run]:
    """The runs, by the folder of a fusion report or of a switch file that switches off all."""
    passes: dict[str, list[int]] = {}
    for fact in facts:
        folder = posixpath.dirname(fact.path.replace("\\", "/"))
        if _tells(fact):
            passes.setdefault(folder, [])
        if isinstance(fact, FusionPass) and fact.effect:
            passes.setdefault(folder, []).append(fact.effect)
    series: dict[str, dict[tuple[str, str], list[MeasureSeries]]] = {folder: {} for folder in passes}
    for fact in facts:
        home = _home(fact.path, passes) if isinstance(fact, MeasureSeries) else None
        if isinstance(fact, MeasureSeries) and home is not None:
            series[home].setdefault((fact.name, fact.label), []).append(fact)
    return [
        _Run(
            sum(effects),
            len(effects),
            {
                key: measure_serieses[0]
                for key, measure_serieses in series[folder].items()
                if len(measure_serieses) == 1
            },
        )
        for folder, effects in passes.items()
    ]


def _tells(fact: Fact) -> bool:
    """Whether a fact is of a file by which a run is known to be with or without fusion."""
    if isinstance(fact, FusionSwitch):
        return fact.name == "ALL" and fact.value == "off"
    return isinstance(fact, RunSource) and fact.form == "fusion_result"


def _home(path: str, folders: Iterable[str]) -> str | None:
    """The innermost of the folders that a file lies in."""
    path = path.replace("\\", "/")
    above = [folder for folder in folders if not folder or path.startswith(folder + "/")]
    return max(above, key=len, default=None)


def _better(fused: MeasureSeries, unfused: MeasureSeries) -> float:
    """By how many percent the end is better without fusion; 0 if that is not certain."""
    counts = fused.points, unfused.points
    if min(counts) < _ENOUGH or max(counts) > _ALIKE * min(counts) or unfused.bad:
        return 0.0
    if fused.bad:
        return 100.0
    if fused.name == "loss":
        gain, least = share(fused.end - unfused.end, abs(fused.end)), _BETTER
    else:
        gain, least = share(unfused.end - fused.end, abs(unfused.end)), _HIGHER
    noise = max(fused.spread, unfused.spread) / 2  # of single values; an end is a mean
    return gain if gain > max(least, min(noise, 50.0)) else 0.0


# Device graphs that the ranks of one run compiled: whether all compiled the same.

_NUMBER = lazy_compile(r"\d+")


@fact_kind("run_rank_graphs")
class RankGraphs(FileFact):
    """The ranks of one run, of each of which there is one log, have compiled different graphs."""

    name: Literal["compiles"]
    ranks: int
    least: int
    """The rank that compiled least."""
    most: int
    min: int
    """How many graphs that is."""
    max: int


def with_differences(facts: Iterable[Fact]) -> list[Fact]:
    """The facts, and a `run_rank_graphs` where logs of several ranks of one run tell of different compiles. It lies
    where the rank that compiled least tells of its graphs."""
    facts = list(facts)
    ranks = {log.path: log.rank for log in facts if isinstance(log, LogSummary)}
    runs: dict[str, dict[int, list[GraphCompilations]]] = {}
    for fact in facts:
        if isinstance(fact, GraphCompilations) and ranks.get(fact.path, "").isdecimal():
            name = _NUMBER.sub("#", fact.path)  # the logs of ranks differ in numbers: train_0.log, 1/train.log
            runs.setdefault(name, {}).setdefault(int(ranks[fact.path]), []).append(fact)
    differences = [_difference(own) for _, own in sorted(runs.items())]
    return facts + [difference for difference in differences if difference is not None]


def _difference(by_rank: dict[int, list[GraphCompilations]]) -> Fact | None:
    """The difference between ranks that have one log each; of several logs of a rank nobody knows which belong
    together."""
    if len(by_rank) < 2 or any(len(own) > 1 for own in by_rank.values()):
        return None
    compiles = {rank: own[0] for rank, own in by_rank.items()}
    if len({(graph_compilations.graphs, graph_compilations.ids) for graph_compilations in compiles.values()}) < 2:
        return None
    ordered = sorted(compiles, key=lambda rank: (compiles[rank].graphs, rank))
    least, most = ordered[0], ordered[-1]
    place = compiles[least]
    counts = place.graphs, compiles[most].graphs
    return RankGraphs("compiles", place.path, place.span, len(compiles), least, most, *counts)


# What one table of a profile says in parts of another: calls of the host as shares of the steps beside them.


def with_step_shares(facts: Iterable[Fact]) -> list[Fact]:
    """The facts, in their order; `run_host` and `run_wait` facts without a `share` get one, the first `per_step` as
    well, where exactly one table of steps lies in their folder. A table of calls covers all steps of its profile. Facts
    whose `share` is one of computing get `of_step`: what computing takes of the step, in percent."""
    facts = list(facts)
    steps: dict[str, list[StepBreakdown]] = {}
    for fact in facts:
        if isinstance(fact, StepBreakdown):
            steps.setdefault(folder_of(fact.path), []).append(fact)
    return [_with_share(fact, steps.get(folder_of(fact.path), [])) for fact in facts]


def _with_share(fact: Fact, steps: list[StepBreakdown]) -> Fact:
    if len(steps) != 1:
        return fact
    if isinstance(fact, OfComputing):
        return msgspec.structs.replace(fact, of_step=steps[0].computing_share)
    count = steps[0].steps
    steps_us = steps[0].step_us * count
    if not isinstance(fact, HostActivity | HostWait) or fact.share is not None or steps_us <= 0:
        return fact
    part = share(fact.total_us, steps_us)
    if isinstance(fact, HostWait):
        return msgspec.structs.replace(fact, share=part)
    return msgspec.structs.replace(fact, share=part, per_step=round(fact.calls / count, 1))


# Ranks of one run that were profiled each by itself, held against each other.


def across_ranks(facts: Iterable[Fact]) -> list[Fact]:
    """A `run_skew` for profiles that lie beside one another and are of several ranks, each once, over as many steps.
    None where a table of the whole cluster tells it."""
    facts = list(facts)
    if any(isinstance(fact, RankSkew) for fact in facts):
        return []
    numbers = {
        folder_of(fact.path): fact.rank for fact in facts if isinstance(fact, ProfileOptions) and fact.rank is not None
    }
    return [skew for group in _groups(facts, numbers) for skew in skews(group)]


def _groups(facts: Iterable[Fact], numbers: dict[str, int]) -> Iterator[dict[str, Rank]]:
    """The ranks of each run. Who has a rank twice, or other steps, is of another run: nobody knows which."""
    steps: dict[str, list[tuple[str, StepBreakdown]]] = {}
    for fact in facts:
        profile = folder_of(folder_of(fact.path))
        if isinstance(fact, StepBreakdown) and not fact.traced and profile in numbers:
            steps.setdefault(folder_of(profile), []).append((str(numbers[profile]), fact))
    for _, breakdowns in sorted(steps.items()):
        ranks = {rank: _rank(fact) for rank, fact in breakdowns}
        if len(ranks) == len(breakdowns) and len({fact.steps for _, fact in breakdowns}) == 1:
            yield ranks


def _rank(fact: StepBreakdown) -> Rank:
    parts = {"computing_us": fact.computing_us, "exposed_us": fact.exposed_us, "free_us": fact.free_us}
    return Rank(fact.path, fact.span.line, parts, fact.bubble_us or 0.0)


# A profile that was exported both as tables and as a database: the tables speak, because they have lines.

_OF_KERNELS = frozenset("run_kernels run_op run_family run_pair run_repeated run_small run_gaps".split())


def tables_first(facts: Iterable[Fact]) -> list[Fact]:
    """The facts, without those of a database that a table in its folder or below tells as well."""
    facts = list(facts)
    databases = {fact.path for fact in facts if isinstance(fact, RunSource) and fact.form == "database"}
    if not databases:
        return facts
    told = {(folder, _kind(fact)) for fact in facts if fact.path not in databases for folder in _above(fact.path)}
    return [
        fact
        for fact in facts
        if fact.path not in databases or isinstance(fact, RunSource) or (folder_of(fact.path), _kind(fact)) not in told
    ]


def _kind(fact: Fact) -> str:
    return "run_kernels" if fact.kind in _OF_KERNELS else fact.kind


def _above(path: str) -> list[str]:
    """The folder of a file, and all those that it lies in but the topmost."""
    folder = folder_of(path)
    above = [folder]
    while "/" in folder:
        folder = folder_of(folder)
        above.append(folder)
    return above


# What totals say again that a table of single kernels beside them tells better.

_TOTALS = (OperatorFamily, OperatorTotal, AicpuNode)


def with_covered(facts: Iterable[Fact]) -> list[Fact]:
    """The facts, in their order; those of totals (op_statistic, aicpu) are `covered` where a kernel table with
    operators lies in their folder, gaps between kernels where the steps are."""
    facts = list(facts)
    tables = {fact.path for fact in facts if isinstance(fact, KernelTable) and fact.level == "operators"}
    folders = {folder_of(path) for path in tables}
    stepped = {folder_of(fact.path) for fact in facts if isinstance(fact, StepBreakdown)}
    return [
        msgspec.structs.replace(fact, covered=True)
        if (isinstance(fact, _TOTALS) and not _of_kernels(fact, tables) and folder_of(fact.path) in folders)
        or (isinstance(fact, KernelGaps) and folder_of(fact.path) in stepped)
        else fact
        for fact in facts
    ]


def _of_kernels(fact: Fact, tables: set[str]) -> bool:
    """Whether it tells of a kernel table, perhaps of another slice of it."""
    return fact.path in tables or (isinstance(fact, OperatorFamily) and fact.form == "kernel_table")


# How many cores kernels could have used, where the profile names its device.

_KINDS = {"AI_CORE": "cores", "MIX_AIC": "cores", "AI_VECTOR_CORE": "vector_cores", "MIX_AIV": "vector_cores"}


def with_cores(facts: Iterable[Fact]) -> list[Fact]:
    """The facts, in their order; `cores`, `idle` and `waves` of `run_op` follow the devices of the profile, where
    all of these agree. Otherwise they stay what the kernels themselves show."""
    facts = list(facts)
    devices = {(fact.cores, fact.vector_cores) for fact in facts if isinstance(fact, ProfiledDevice)}
    if len(devices) != 1:
        return facts
    core_counts = dict(zip(("cores", "vector_cores"), devices.pop(), strict=True))
    return [_with_cores(fact, core_counts) if isinstance(fact, OperatorKernels) else fact for fact in facts]


def _with_cores(fact: OperatorKernels, core_counts: dict[str, float | None]) -> OperatorKernels:
    cores = core_counts.get(_KINDS.get(fact.core, ""))
    if not isinstance(cores, int) or cores <= 0:
        return fact
    idle, waves = idle_share(fact.block, cores), waves_of(fact.block, cores)
    return msgspec.structs.replace(fact, cores=cores, idle=idle, waves=waves)


# From the line of code that a profile or a log names, as the machine that ran it spells it, to the project's file.


def with_places(facts: Iterable[Fact], context: Context) -> list[Fact]:
    """The facts, in their order; those that name a line of the project's own code know its file (`at`) and the line
    there (`at_line`). A line that the project has not, or not for sure, has neither."""
    return [_with_place(fact, context) if isinstance(fact, LineFact) else fact for fact in facts]


def _with_place(fact: LineFact, context: Context) -> LineFact:
    if not fact.file or not fact.source_line or fact.source_line < 1:
        return fact
    files = context.memoize(Files, lambda: Files(context.project))
    module = files.likely(NodeFrame(fact.file, fact.source_line, fact.function or ""))
    if module is None or module.path.endswith(".ipynb"):
        return fact
    return msgspec.structs.replace(fact, at=module.path, at_line=fact.source_line)


def run_program(root: str, files: Iterable[FileFacts], programs: Sequence[Program], context: Context) -> Program:
    """One program for the artifacts of a project, whose other `programs` are known, as is what its code means."""
    paths = sorted(file.path for file in files)
    facts = without_foreign_output((fact.copy() for file in files for fact in file.facts), programs)
    facts = of_one_run(facts, paths)
    facts = with_places(facts, context)
    named = {fact.at for fact in facts if isinstance(fact, LineFact) and fact.at}
    near = at_work([candidate for candidate in programs if candidate.fact.framework in ("tensorflow", "torch")], named)
    fact = fact_of(home_of(near))
    fact.run = True
    tables = tables_of(near)
    program = Program(paths[0], root, paths, Index([table(facts), *tables]), fact)
    program.origins = Origins(context, near).of
    program.source_files = frozenset(path for neighbour in near for path in neighbour.paths)
    return program


def of_one_run(facts: list[Fact], paths: Sequence[str]) -> list[Fact]:
    """The facts of all artifacts, with what one says of another."""
    overflows = [fact for fact in facts if isinstance(fact, Overflow)]
    others = [fact for fact in facts if not isinstance(fact, Overflow)]
    others = together(with_covered(with_cores(with_step_shares(steps_once(tables_first(newest(others)))))))
    others = with_fusion_effects(others)
    others += across_ranks(others)
    return [*across(with_differences(others)), *ranked(with_operators(without_parsed(overflows, paths), paths))]
