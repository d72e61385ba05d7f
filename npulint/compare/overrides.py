"""Methods that a class of one program defines and that of the other program inherits."""

from __future__ import annotations

from collections.abc import Mapping

from npulint.training_config.program import Home, TrainingConfig
from npulint.training_config.steps.code_context import home_of
from npulint.training_config.steps.model import MODULE


def overridden(own: TrainingConfig, other: TrainingConfig, matched: Mapping[Home, Home]) -> dict[Home, Home]:
    """The methods that only `own` defines, with the methods that the other program inherits instead."""
    alone = (home for home in own.homes if home[1] != MODULE and home not in matched)
    return {home: base for home in alone if (base := inherited(own, home, other, matched)) is not None}


def inherited(own: TrainingConfig, home: Home, other: TrainingConfig, classes: Mapping[Home, Home]) -> Home | None:
    """The function that the counterpart of a method's class (`classes` maps classes) inherits in the `other` program;
    None if there is none."""
    module = own.context.project.modules[home[0]]
    around = module.class_of(home[1])
    owner = classes.get((home[0], around)) if around >= 0 else None
    name = module.blocks[home[1]].name.rpartition(".")[2]
    if owner is None or module.blocks[home[1]].parent != around:
        return None
    theirs = other.context.project.modules[owner[0]]
    if theirs.definition(owner[1], name) >= 0:
        return None
    names = other.context.names
    found = names.function(names.member(f"{theirs.name}:{theirs.qualname(owner[1])}()", name))
    return None if found is None else (found[0].path, found[1])


def calls_base(config: TrainingConfig, home: Home) -> bool:
    """Whether a method calls the method that it overrides."""
    module = config.context.project.modules[home[0]]
    return any(home_of(module, module.code.calls[index].block) == home[1] for index in module.calls_of("super"))
