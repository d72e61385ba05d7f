"""Compares two programs: every difference of their training configs once, at the place where it is written."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import msgspec

from npulint.commands.compare.across import of_frameworks, operations, scheduled
from npulint.commands.compare.amp import unify_mechanisms
from npulint.commands.compare.code_changes.code_differences import CodeComparer
from npulint.commands.compare.consolidation import consolidated
from npulint.commands.compare.evidence import PartEvidence, by_trainer, evidence, seen
from npulint.commands.compare.graph_rewrite import unify_graph_rewrite
from npulint.commands.compare.launchers import of_launchers
from npulint.commands.compare.matching.matches import Matches
from npulint.commands.compare.running import Running
from npulint.commands.compare.settings import of_components, of_sections, of_settings, side_of
from npulint.commands.compare.side import Side
from npulint.commands.compare.step_pairs import Pairer
from npulint.commands.compare.steps import of_pairs
from npulint.commands.compare.unmatched_steps import of_unmatched
from npulint.commands.compare.update_order import of_update_order
from npulint.commands.compare.values import Comparer
from npulint.commands.training_config.configs.lookup import Configs
from npulint.commands.training_config.execution import ProgramSources
from npulint.commands.training_config.program import TrainingConfig
from npulint.commands.training_config.provenance.plain import canonical
from npulint.commands.training_config.settings import settings
from npulint.commands.training_config.steps.formatting import shown
from npulint.commands.training_config.steps.model import Argument, CodeStep
from npulint.commands.training_config.tracer import Tracer
from npulint.data.compare_parts import known_arguments
from npulint.data.recipe import setting_parts
from npulint.facts.comparison.difference import Difference, SideValue, of_both, of_one, with_effects
from npulint.facts.model import Fact
from npulint.facts.recipe import TrainingSetting
from npulint.facts.values import PossibleValues
from npulint.model.launches.project_launches import Launch
from npulint.model.values.cursors import Scope
from npulint.recognizers.programs import Program

# Compares the NPU adapter options that decide numbers, and the mixed precision lists, of two programs.

_LIST = "mixlist_entry"
_LOWERING = frozenset(
    """allow_mix_precision allow_mix_precision_fp16 allow_mix_precision_bf16 mixed_float16 mixed_bfloat16
    force_fp16""".split()
)
"""Precision modes in which operators compute with 16 bits that the code lets compute with 32."""


def of_adapter(
    reference: Program, migrated: Program, first: Tracer, second: Tracer, mixed: bool = False
) -> Iterator[Difference]:
    """The differences between the adapter settings of two programs under the starts that the tracers follow. Settings
    missing from a reference that does not use the NPU are part of any migration, except mixed precision where the
    reference computes in float32 (is not `mixed`)."""
    ported = reference.fact.npu
    parts = setting_parts()
    settings = _by_name(reference, parts, first), _by_name(migrated, parts, second)
    for name in dict.fromkeys((*settings[0], *settings[1])):
        fact, other = (side.get(name) for side in settings)
        left, right = _side(fact), _side(other)
        if left is not None and right is not None:
            if _value(fact) is not None and _value(other) is not None:
                yield of_both(parts[name], _value(fact) == _value(other), name, "", left, right)
        else:
            lowers = not mixed and _value(other) in _LOWERING
            change, adapter = ("removed", False) if right is None else ("added", not ported and not lowers)
            yield Difference(parts[name], change, name, "", left, right, adapter=adapter)
    if ported:
        yield from _lists(reference, migrated)


def _by_name(program: Program, parts: dict[str, str], tracer: Tracer) -> dict[str, Fact]:
    name: dict[str, Fact] = {}
    for fact in program.index.of_kind("setting"):
        wanted = parts.get(fact.name, "seed") != "seed"
        if wanted and fact.get("active") != "no" and not _is_off(fact, tracer):
            name.setdefault(fact.name, fact)
    return name


def _is_off(fact: Fact, tracer: Tracer) -> bool:
    """Whether the options passed at this start rule out that the setting is made."""
    place = fact.scope
    return isinstance(place, Scope) and tracer.runs(place) is False


def _value(fact: Fact | None) -> object:
    """The value of a setting; None if unknown."""
    value = None if fact is None else fact.get("value")
    return value.single if isinstance(value, PossibleValues) else value


def _side(fact: Fact | None) -> SideValue | None:
    value = _value(fact)
    return None if fact is None else SideValue("?" if value is None else str(value), fact.path, fact.span)


def _lists(reference: Program, migrated: Program) -> Iterator[Difference]:
    """The differences between the mixed precision lists."""
    first, second = _entries(reference), _entries(migrated)
    near = next((side.shown_as("") for side in second.values()), None)
    for key in dict.fromkeys((*first, *second)):
        change = "none" if key in first and key in second else "removed" if key in first else "added"
        yield Difference("mix_list", change, ": ".join(key), "", first.get(key), second.get(key), near=near)


def _entries(program: Program) -> dict[tuple[str, str], SideValue]:
    return {
        (f"{fact.get('list')} {fact.get('action')}", fact.name): SideValue(fact.name, fact.path, fact.span)
        for fact in program.index.of_kind(_LIST)
    }


# Compares arguments that training frameworks take by themselves, where only one side gives them: the other one has
# the default of the framework.

_GENERAL_FRAMEWORK_ARGUMENTS = frozenset(
    """seed data_seed learning_rate weight_decay max_steps warmup_steps warmup_ratio dataset_name max_length precision
    optim max_samples streaming train_batch_size torch_dtype model_max_length max_seq_length""".split()
)
"""Names of arguments that configuration files of projects use as well."""


def of_arguments(
    reference: Sequence[TrainingSetting], migrated: Sequence[TrainingSetting], start: Launch | None
) -> Iterator[Difference]:
    """The arguments of training frameworks that only one side gives a value that is not the default: the framework uses
    them, not the code of the project. `start` is the start of the migrated program."""
    first, second = (
        {
            training_setting.what.lstrip("-"): training_setting
            for training_setting in side
            if training_setting.traced.known
        }
        for side in (reference, migrated)
    )
    handed = {
        name
        for side in (first, second)
        for name, training_setting in side.items()
        if _is_handed_over(name, training_setting)
    }
    for name in dict.fromkeys((*first, *second)):
        training_setting, other = first.get(name), second.get(name)
        given = training_setting or other
        known_argument = known_arguments().get(name)
        both = training_setting is not None and other is not None
        if given is None or known_argument is None or both or name not in handed:
            continue
        if not known_argument.has_default or canonical(_shaped(given.traced.value)) != canonical(
            _shaped(known_argument.default)
        ):
            near = None if start is None or other else SideValue("", start.fact.path, start.fact.span)
            change = "removed" if other is None else "added"
            sure = known_argument.has_default
            yield of_one(
                known_argument.part, change, given.what, "", side_of(given), near=near, named=True, certain=sure
            )


def _is_handed_over(name: str, training_setting: TrainingSetting) -> bool:
    """Whether a framework reads the value by itself: from the command line, or from a file of its own."""
    if len(training_setting.traced.provenance) != 1 or training_setting.path.endswith(".py"):
        return False
    return training_setting.what.startswith("-") or name not in _GENERAL_FRAMEWORK_ARGUMENTS


def _shaped(value: object) -> object:
    """A value of a framework's argument as its default is written."""
    return value.lower() if isinstance(value, str) else value


# Differences for the arguments of unmatched steps that belong to another part of the training config:
# ``drop_last=True`` of a distributed loader, ``clip_grad=1.0`` of a removed call.

_ROLES = frozenset(("drop_remainder", "clipping", "loss_scale"))
_OFF = (None, False, 0, -1)


def of_roles(unmatched: Sequence[tuple[Side, Sequence[CodeStep]]]) -> Iterator[Difference]:
    """The arguments of unmatched steps that belong to a different part than the step and have no counterpart in the
    function."""
    for side, steps in unmatched:
        for step in steps:
            other = side.counterpart(step.home)
            if other is None or step.evaluates or not step.counts:
                continue
            theirs = [*side.other.homes.get(other, ())]
            for argument in step.arguments:
                separate = _has_own_role(argument, step) and not any(_has(their, argument.role) for their in theirs)
                if separate and not any(candidate.part == argument.role for candidate in steps):
                    yield _difference(side, step, argument)


def _has_own_role(argument: Argument, step: CodeStep) -> bool:
    off = argument.expr.is_literal and argument.expr.literal in _OFF
    return argument.role in _ROLES and argument.role != step.part and not off


def _has(step: CodeStep, role: str) -> bool:
    return step.part == role or any(
        _has_own_role(argument, step) for argument in step.arguments if argument.role == role
    )


def _difference(side: Side, step: CodeStep, argument: Argument) -> Difference:
    value = SideValue(shown(argument.expr), step.scope.path, argument.span or step.span)
    sure = side.running.may(step)
    return of_one(argument.role, side.change, step.shown, argument.name, value, certain=sure, function=step.function)


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
    differences += _of_scaler(of_unmatched(pairing, removed, added))
    differences += of_roles(((removed, pairing.removed), (added, pairing.added)))
    differences = unify_mechanisms(differences, reference, migrated, first, second)
    differences = deduplicated(unify_graph_rewrite(differences, reference, migrated, first, second))
    start = starts[0]
    if start.reference_sources is not None and start.migrated_sources is not None:
        sources = start.reference_sources, start.migrated_sources
        differences = CodeComparer((removed, added), (first, second), sources).differences(differences)
    return with_effects(consolidated(_told(differences)))


def _of_scaler(differences: Iterable[Difference]) -> list[Difference]:
    """The rows; where only one program scales its loss, that it unscales the gradients is part of that."""
    rows = list(differences)
    scaled = {row.change for row in rows if row.part == "loss_scale"}
    return [
        msgspec.structs.replace(row, part="loss_scale") if row.what == "unscale_" and row.change in scaled else row
        for row in rows
    ]


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
