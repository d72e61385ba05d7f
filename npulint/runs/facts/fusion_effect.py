"""Two runs, one with fusion and one with (nearly) all passes switched off: whether training is better without."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable
from typing import Literal, NamedTuple

from npulint.facts.kinds import fact_kind
from npulint.facts.model import Fact, FileFact
from npulint.runs.read.fusion import FusionPass
from npulint.runs.read.fusion_switches import FusionSwitch
from npulint.runs.read.quantities import share
from npulint.runs.read.series.loss import MeasureSeries
from npulint.runs.read.source_fact import RunSource

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
    found = [(_better(*pair), *pair) for pair in both]
    certain = [one for one in found if one[0] > 0]
    if not certain:
        return facts
    better, fused, unfused = max(certain, key=lambda one: (one[0], one[1].path, one[1].label))
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
