"""Compares what launchers, options and configuration files set on both sides."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from npulint.commands.training_config.provenance.plain import canonical
from npulint.commands.training_config.steps.components import TYPE
from npulint.commands.training_config.steps.unresolved import SPLIT, component, refined_part
from npulint.core.lazy_regex import lazy_compile
from npulint.facts.comparison.difference import Difference, SideValue, of_both, of_one
from npulint.facts.recipe import TrainingSetting

_FUSED = lazy_compile(r"(?i)^npu_?fused_?(?=\w)")
_ANY_EPSILON = lazy_compile(r"(?i)-*(?:eps|epsilon)")
_TYPE = f".{TYPE}"


def of_settings(reference: Sequence[TrainingSetting], migrated: Sequence[TrainingSetting]) -> Iterator[Difference]:
    """Compares settings of the same name whose values are both known. A setting that only one side has is not reported:
    its use is."""
    theirs = {training_setting.what: training_setting for training_setting in migrated}
    for training_setting in {training_setting.what: training_setting for training_setting in reference}.values():
        other = theirs.get(training_setting.what)
        if other is not None and training_setting.traced.known and other.traced.known:
            same = are_equal(training_setting.traced.value, other.traced.value, training_setting.what)
            part = refined_part(
                other.part if training_setting.part == "setting" else training_setting.part, training_setting.what
            )
            if part == "optimizer" and _ANY_EPSILON.fullmatch(training_setting.what):
                part = "setting"  # a small number of anything: of an optimizer, a norm, an attack
            if part == "schedule" and all(_is_mode(each.traced.value) for each in (training_setting, other)):
                part = "evaluation"  # what is run when
            if part == "checkpoint" and not (training_setting.traced.value or other.traced.value):
                continue  # none, in two ways
            if part == "dataset" and not same and _is_named_elsewhere(training_setting, other):
                continue  # no program trains without data: a start that is not shown names them
            yield of_both(part, same, training_setting.what, "", side_of(training_setting), side_of(other), named=True)


def of_sections(reference: Sequence[TrainingSetting], migrated: Sequence[TrainingSetting]) -> Iterator[Difference]:
    """Sections of configuration files that one side has and the other turns off: ``clip_grad=dict(max_norm=1)``
    against ``clip_grad=None``."""
    left, right = (
        {training_setting.what: training_setting for training_setting in side if training_setting.traced.known}
        for side in (reference, migrated)
    )
    for ours, theirs, is_added in ((left, right, True), (right, left, False)):
        told: set[str] = set()
        for name, training_setting in theirs.items():
            section = name.rpartition(".")[0]
            off = ours.get(section)
            if off is not None and off.traced.value in (None, False) and name not in ours and section not in told:
                told.add(section)
                pair = (side_of(off), side_of(training_setting).shown_as("{…}"))
                part = training_setting.part if off.part in ("setting", "") else off.part
                yield of_both(part, False, section, "", *(pair if is_added else pair[::-1]), named=True)


def _is_named_elsewhere(training_setting: TrainingSetting, other: TrainingSetting) -> bool:
    values = (training_setting.traced.value, other.traced.value)
    return None in values and not any(isinstance(value, int | float) for value in values)


def _is_mode(value: object) -> bool:
    """Whether a value names training or evaluation: ``eval_after_train``."""
    return isinstance(value, str) and bool(SPLIT.search(value))


def are_equal(value: object, other: object, what: str) -> bool:
    """Whether two values of a setting are equal; a fused NPU optimizer equals the optimizer it replaces."""
    if canonical(value) == canonical(other):
        return True
    if not isinstance(value, str) or not isinstance(other, str):
        return False
    if what.endswith(_TYPE):
        first, second = component(value), component(other)
        return first is not None and second is not None and first.same_as == second.same_as
    return bool(_FUSED.match(value) or _FUSED.match(other)) and _plain(value) == _plain(other)


def _plain(name: str) -> str:
    return _FUSED.sub("", name).replace("_", "").lower()


def side_of(training_setting: TrainingSetting) -> SideValue:
    """The side of a difference that a setting is."""
    return SideValue.traced(training_setting.traced, training_setting.path, training_setting.span)


def of_components(reference: Sequence[TrainingSetting], migrated: Sequence[TrainingSetting]) -> Iterator[Difference]:
    """The differences between lists of components (``{type: RandomFlip, prob: 0.5}``) that both sides have: components
    that only one side's list has, and lists in a different order."""
    left, right = _lists(reference), _lists(migrated)
    for name, members in left.items():
        others = right.get(name)
        if others is None:
            continue
        for change, own, theirs in (("removed", members, others), ("added", others, members)):
            for what, training_setting in own.items():
                if what not in theirs:
                    yield of_one(training_setting.part, change, what, "", side_of(training_setting), named=True)
        first = [what for what in members if what in others]
        second = [what for what in others if what in members]
        if first != second and members[first[0]].part == "transform":
            what = next(what for what, instead in zip(first, second, strict=True) if what != instead)
            training_setting, other = members[what], others[what]
            yield Difference(
                training_setting.part, "reordered", what, "", side_of(training_setting), side_of(other), named=True
            )


def _lists(settings: Sequence[TrainingSetting]) -> dict[str, dict[str, TrainingSetting]]:
    """The members of each list by name; a list is identified by the name of the setting that holds it."""
    lists: dict[str, dict[str, TrainingSetting]] = {}
    for setting in settings:
        if setting.what.endswith(_TYPE) and setting.traced.known:
            name, _, member = setting.what.removesuffix(_TYPE).rpartition(".")
            if member.partition("#")[0] == setting.traced.value:
                lists.setdefault(name, {})[member] = setting
    return lists
