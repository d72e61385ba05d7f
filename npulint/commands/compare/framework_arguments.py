"""Compares arguments that training frameworks take by themselves, where only one side gives them: the other one has the
default of the framework."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from npulint.commands.compare.settings import side_of
from npulint.commands.training_config.provenance.plain import canonical
from npulint.data.compare_parts import known_arguments
from npulint.facts.comparison.difference import Difference, SideValue, of_one
from npulint.facts.recipe import TrainingSetting
from npulint.model.launches.project_launches import Launch

_GENERAL = frozenset(
    """seed data_seed learning_rate weight_decay max_steps warmup_steps warmup_ratio dataset_name max_length precision
    optim max_samples streaming train_batch_size torch_dtype model_max_length max_seq_length""".split()
)
"""Names of arguments that configuration files of projects use as well."""


def of_arguments(
    reference: Sequence[TrainingSetting], migrated: Sequence[TrainingSetting], start: Launch | None
) -> Iterator[Difference]:
    """The arguments of training frameworks that only one side gives a value that is not the default: the framework uses
    them, not the code of the project. `start` is the start of the migrated program."""
    first, second = ({one.what.lstrip("-"): one for one in side if one.traced.known} for side in (reference, migrated))
    handed = {name for side in (first, second) for name, one in side.items() if _is_handed_over(name, one)}
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
    return training_setting.what.startswith("-") or name not in _GENERAL


def _shaped(value: object) -> object:
    """A value of a framework's argument as its default is written."""
    return value.lower() if isinstance(value, str) else value
