"""Methods that a class of one program defines and that of the other program inherits."""

from __future__ import annotations

from collections.abc import Mapping

from npulint.assemble.cursors import scope_named
from npulint.training_config.program import TrainingConfig
from npulint.training_config.steps.model import MODULE, Home, home_of


def overridden(own: TrainingConfig, other: TrainingConfig, matched: Mapping[Home, Home]) -> dict[Home, Home]:
    """The methods that only `own` defines, with the methods that the other program inherits instead."""
    alone = (home for home in own.homes if home[1] != MODULE and home not in matched)
    return {home: base for home in alone if (base := _inherited(own, home, other, matched)) is not None}


def _inherited(own: TrainingConfig, home: Home, other: TrainingConfig, classes: Mapping[Home, Home]) -> Home | None:
    """The function that the counterpart of a method's class (`classes` maps classes) inherits in the `other` program;
    None if there is none."""
    method = own.scope(home)
    around = method.parent
    matched = classes.get((around.path, around.block)) if around is not None and around.kind == "class" else None
    if matched is None:
        return None
    owner, name = other.scope(matched), method.record.name.rpartition(".")[2]
    if owner.definition(name) is not None:
        return None
    found = scope_named(other.context, other.context.names.member(f"{owner.module.name}:{owner.qualname}()", name))
    return None if found is None else (found.path, found.block)


def calls_base(config: TrainingConfig, home: Home) -> bool:
    """Whether a method calls the method that it overrides."""
    return any(home_of(site.scope) == home for site in config.scope(home).calls_named("super"))
