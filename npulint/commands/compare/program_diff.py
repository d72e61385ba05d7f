"""Compares two programs: every difference of their training configs once, at the place where it is written."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import msgspec

from npulint.commands.compare.across import of_frameworks, operations, scheduled
from npulint.commands.compare.adapter import of_adapter
from npulint.commands.compare.amp import unify_mechanisms
from npulint.commands.compare.consolidation import consolidated
from npulint.commands.compare.evidence import PartEvidence, by_trainer, evidence, seen
from npulint.commands.compare.framework_arguments import of_arguments
from npulint.commands.compare.graph_rewrite import unify_graph_rewrite
from npulint.commands.compare.launchers import of_launchers
from npulint.commands.compare.matching.matches import Matches
from npulint.commands.compare.roles import of_roles
from npulint.commands.compare.running import Running
from npulint.commands.compare.settings import of_components, of_sections, of_settings
from npulint.commands.compare.side import Side
from npulint.commands.compare.step_pairs import Pairer
from npulint.commands.compare.steps import of_pairs
from npulint.commands.compare.unmatched_steps import of_unmatched
from npulint.commands.compare.update_order import of_update_order
from npulint.commands.compare.values import Comparer
from npulint.commands.training_config.configs.lookup import Configs
from npulint.commands.training_config.execution import ProgramSources
from npulint.commands.training_config.program import TrainingConfig
from npulint.commands.training_config.settings import settings
from npulint.commands.training_config.tracer import Tracer
from npulint.facts.comparison.difference import Difference, SideValue
from npulint.facts.comparison.effects import with_effects
from npulint.model.launches.project_launches import Launch

_MIXED = frozenset(("autocast", "precision_mode", "half_cast", "loss_scale"))
_GENERAL = ("setting", "")


class Start(msgspec.Struct, frozen=True, eq=False):
    """How the two programs are started, by a launcher or directly, the configuration files that they then read, and
    the files of both sides."""

    reference: Launch | None
    migrated: Launch | None
    reference_configs: Configs | None = None
    migrated_configs: Configs | None = None
    reference_sources: ProgramSources | None = None
    migrated_sources: ProgramSources | None = None


class ProgramComparison(msgspec.Struct, frozen=True, eq=False):
    """The compared rows of two programs, different and equal, and the evidence of each part."""

    rows: list[Difference]
    parts: list[PartEvidence]


def compared(
    reference: TrainingConfig, migrated: TrainingConfig, matched: Matches, starts: Sequence[Start]
) -> ProgramComparison:
    """The comparison of two training configs. The first start determines the values of expressions; settings are
    compared for each start."""
    left = [
        Tracer(reference.context, s.reference, s.reference_configs, reference.program.entry, s.reference_sources)
        for s in starts
    ]
    right = [
        Tracer(migrated.context, s.migrated, s.migrated_configs, migrated.program.entry, s.migrated_sources)
        for s in starts
    ]
    tracers = left, right
    rows = _rows(reference, migrated, matched, starts, tracers)
    first, second = left[0], right[0]
    sides = seen(reference, first, settings(first)), seen(migrated, second, settings(second))
    return ProgramComparison(rows, evidence(rows, *sides, by_trainer(reference, first)))


def _rows(
    reference: TrainingConfig,
    migrated: TrainingConfig,
    matched: Matches,
    starts: Sequence[Start],
    followed: tuple[Sequence[Tracer], Sequence[Tracer]],
) -> list[Difference]:
    """The differences, and (`change` none) the compared equal values."""
    left, right = followed
    first, second = left[0], right[0]
    frameworks = {reference.program.fact.framework, migrated.program.fact.framework} - {"none"}
    if len(frameworks) > 1:
        kinds = operations(reference, first), operations(migrated, second)
        rates = scheduled(reference), scheduled(migrated)
        return with_effects(deduplicated(of_frameworks(*kinds, settings(first), settings(second), rates)))
    blocks, origins = matched.blocks, matched.reference_blocks
    removed = Side("removed", reference, migrated, matched.modules, blocks, Running(reference, left))
    added = Side("added", migrated, reference, matched.reference_modules, origins, Running(migrated, right))
    pairing = Pairer(removed, added, blocks).pairing()
    differences: list[Difference] = []
    for start, *tracers in zip(starts, left, right, strict=True):
        both = settings(tracers[0]), settings(tracers[1])
        options = _without_effect(of_settings(*both), removed.running, added.running)
        differences += [*options, *of_components(*both), *of_sections(*both), *of_arguments(*both, start.migrated)]
        files = tracers[0].configs, tracers[1].configs
        differences += of_launchers(reference.context, start.reference, migrated.context, start.migrated, files)
    differences += of_adapter(reference.program, migrated.program, first, second, _is_mixed(reference))
    differences += of_pairs(pairing, Comparer(first, second))
    differences += of_update_order(pairing)
    differences += of_unmatched(pairing, removed, added)
    differences += of_roles(((removed, pairing.removed), (added, pairing.added)))
    differences = unify_mechanisms(differences, reference, migrated, first, second)
    differences = deduplicated(unify_graph_rewrite(differences, reference, migrated, first, second))
    return with_effects(consolidated(_told(differences)))


def _without_effect(differences: Iterable[Difference], *running: Running) -> Iterator[Difference]:
    """The rows of settings; options that are only read in code that no start runs have no effect."""
    for difference in differences:
        idle = (
            difference.change == "changed"
            and difference.what.startswith("-")
            and not any(r.may_read(difference.what) for r in running)
        )
        yield msgspec.structs.replace(difference, effect="idle") if idle else difference


def _told(differences: Iterable[Difference]) -> Iterator[Difference]:
    """The rows; one that shows the same on both sides says nothing, so that it counts as undetermined, unless the text
    leaves out what certainly differs."""
    for difference in differences:
        shown = {side.text for side in (difference.reference, difference.migrated) if side is not None}
        alike = difference.change == "changed" and len(shown) == 1
        cut = difference.certain and any("…" in text for text in shown)
        yield msgspec.structs.replace(difference, change="unknown") if alike and not cut else difference


def _is_mixed(config: TrainingConfig) -> bool:
    """Whether a program computes in mixed precision by calls of its own."""
    return any(step.part in _MIXED and not step.evaluates for step in config.all_steps())


def deduplicated(differences: Iterable[Difference]) -> list[Difference]:
    """Keep the most informative difference of a value that is written once and used several times."""
    unique: dict[object, Difference] = {}
    for difference in differences:
        key = (
            difference.change in ("none", "unknown"),
            _spot(difference.reference),
            _spot(difference.migrated),
            _own(difference),
        )
        first = unique.get(key)
        if first is None:
            unique[key] = difference
        elif first.part in _GENERAL and difference.part not in _GENERAL:
            unique[key] = msgspec.structs.replace(first, part=difference.part)
    return _without_passed_on(list(unique.values()))


def _without_passed_on(differences: list[Difference]) -> list[Difference]:
    """Of a value that is passed to a project function, keep the differences at its uses, not the one at the call."""
    used = {_place(difference) for difference in differences if difference.named and difference.change == "changed"}
    return [
        difference
        for difference in differences
        if difference.named or difference.change != "changed" or _place(difference) not in used
    ]


def _place(difference: Difference) -> object:
    return tuple(
        [None if mark is None else (_spot(mark), mark.text) for mark in (difference.reference, difference.migrated)]
    )


def _spot(mark: SideValue | None) -> object:
    return None if mark is None else (mark.path, mark.span.line)


def _own(difference: Difference) -> object:
    """The subject of a difference, which separates those on one line. A named value is one, whatever uses it."""
    texts = [None if mark is None else mark.text for mark in (difference.reference, difference.migrated)]
    return tuple(texts) if difference.named else (difference.what, difference.argument, difference.change)
