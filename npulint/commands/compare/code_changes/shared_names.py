"""The names under which functions and parameters of two programs are compared: those of the migrated program."""

from __future__ import annotations

from collections.abc import Hashable

from npulint.commands.compare.side import Side
from npulint.commands.training_config.program import TrainingConfig
from npulint.commands.training_config.steps.model import Home


class OwnNames:
    """The names of the migrated program, as they are."""

    def own(self, home: Home) -> Hashable:
        """The function itself."""
        return home

    def parameter(self, home: Home, name: str) -> str:
        """The name itself."""
        return name


class NamesOfCounterparts:
    """For the reference: the names of the counterparts."""

    def __init__(self, side: Side) -> None:
        self._side = side
        self._parameters: dict[Home, dict[str, str]] = {}

    def own(self, home: Home) -> Hashable:
        """The counterpart of a function; a key of its own for one that has none."""
        return self._side.counterpart(home) or ("reference", home)

    def parameter(self, home: Home, name: str) -> str:
        """The name of a parameter in the counterpart: the same one, or that at the same place among the others."""
        if home not in self._parameters:
            other = self._side.counterpart(home)
            ours = _parameters(self._side.config, home)
            theirs = _parameters(self._side.other, other) if other is not None else ours
            gone = [each for each in ours if each not in theirs]
            new = [each for each in theirs if each not in ours]
            self._parameters[home] = dict(zip(gone, new, strict=True)) if len(gone) == len(new) else {}
        return self._parameters[home].get(name, name)


def _parameters(config: TrainingConfig, home: Home) -> tuple[str, ...]:
    function = config.scope(home).called_block
    return () if function is None else function.parameters
