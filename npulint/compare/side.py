"""One of two compared programs, as needed to judge its unmatched steps."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from npulint.compare.running import Running
from npulint.training_config.program import TrainingConfig
from npulint.training_config.steps.model import CodeStep, Home


class Side(msgspec.Struct, frozen=True, eq=False):
    """A program: whether its unmatched steps are removed or added, its training config and that of the other program,
    the counterparts of its functions, and which of its code runs."""

    change: str
    config: TrainingConfig
    other: TrainingConfig
    counterpart: Callable[[Home], Home | None]
    running: Running

    def known(self, step: CodeStep) -> bool:
        """Whether the function of a step has a counterpart that contains steps."""
        return self.knows(step.home)

    def knows(self, place: Home) -> bool:
        """Whether a function has a counterpart."""
        return self.counterpart(place) is not None

    def opposite(self, step: CodeStep) -> list[CodeStep]:
        """The steps of the counterpart of the step's function."""
        other = self.counterpart(step.home)
        return [] if other is None else self.other.homes.get(other, [])
