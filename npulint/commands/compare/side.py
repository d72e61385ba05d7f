"""One of two compared programs, as seen from the other."""

from __future__ import annotations

from collections.abc import Mapping

from npulint.commands.compare.running import Running
from npulint.commands.training_config.program import TrainingConfig
from npulint.commands.training_config.steps.model import MODULE, CodeStep, Home, home_of
from npulint.model.values.cursors import scope_named


class Side:
    """A program: whether its unmatched steps are removed or added (`change`), its training config and that of the other
    program, its matched `modules` and `blocks`, and which of its code runs."""

    def __init__(
        self,
        change: str,
        config: TrainingConfig,
        other: TrainingConfig,
        modules: Mapping[str, str],
        blocks: Mapping[Home, Home],
        running: Running,
    ) -> None:
        self.change = change
        self.config = config
        self.other = other
        self._modules = modules
        self._blocks = blocks
        self._taken = frozenset(blocks.values())
        self.running = running
        self.joined: dict[Home, Home] = {}  # functions that are matched by their steps
        self.inherited = _overridden(config, other, blocks)

    def counterpart(self, home: Home) -> Home | None:
        """The function of the other program that matches a function."""
        counterpart = self._blocks.get(home)
        if counterpart is None and home[1] == MODULE and home[0] in self._modules:
            counterpart = (self._modules[home[0]], MODULE)
            if counterpart in self._taken:  # its code is in a function here
                return self.joined.get(home)
        return counterpart if counterpart in self.other.homes else self.joined.get(home, counterpart)

    def knows(self, home: Home) -> bool:
        """Whether a function has a counterpart."""
        return self.counterpart(home) is not None

    def opposite(self, step: CodeStep) -> list[CodeStep]:
        """The steps of the counterpart of the step's function."""
        other = self.counterpart(step.home)
        return [] if other is None else self.other.homes.get(other, [])


def _overridden(own: TrainingConfig, other: TrainingConfig, matched: Mapping[Home, Home]) -> dict[Home, Home]:
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
    scope = scope_named(other.context, other.context.names.member(f"{owner.module.name}:{owner.qualname}()", name))
    return None if scope is None else (scope.path, scope.block)


def calls_base(config: TrainingConfig, home: Home) -> bool:
    """Whether a method calls the method that it overrides."""
    return any(home_of(site.scope) == home for site in config.scope(home).calls_named("super"))
