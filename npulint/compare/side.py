"""One of two compared programs, as seen from the other."""

from __future__ import annotations

from collections.abc import Mapping

from npulint.compare.overrides import overridden
from npulint.compare.running import Running
from npulint.training_config.program import TrainingConfig
from npulint.training_config.steps.model import MODULE, CodeStep, Home


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
        self.running = running
        self.joined: dict[Home, Home] = {}  # functions that are matched by their steps
        self.inherited = overridden(config, other, blocks)

    def counterpart(self, home: Home) -> Home | None:
        """The function of the other program that matches a function."""
        found = self._blocks.get(home)
        if found is None and home[1] == MODULE and home[0] in self._modules:
            found = (self._modules[home[0]], MODULE)
        return found if found in self.other.homes else self.joined.get(home, found)

    def knows(self, home: Home) -> bool:
        """Whether a function has a counterpart."""
        return self.counterpart(home) is not None

    def opposite(self, step: CodeStep) -> list[CodeStep]:
        """The steps of the counterpart of the step's function."""
        other = self.counterpart(step.home)
        return [] if other is None else self.other.homes.get(other, [])
