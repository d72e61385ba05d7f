"""One of two programs that are compared, as far as steps are concerned that the other one lacks."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from npulint.compare.running import Running
from npulint.training_config.program import Home, Recipe
from npulint.training_config.steps.model import CodeStep


class Side(msgspec.Struct, frozen=True, eq=False):
    """One of the programs: which change its lonely steps are, its recipe and that of the other, which counterparts its
    functions have, and what of it runs."""

    change: str
    recipe: Recipe
    other: Recipe
    counterpart: Callable[[Home], Home | None]
    running: Running

    def known(self, step: CodeStep) -> bool:
        """Whether the function of a step has a counterpart that does something too."""
        return self.knows(home(step))

    def knows(self, place: Home) -> bool:
        """Whether a function has a counterpart."""
        return self.counterpart(place) is not None

    def opposite(self, step: CodeStep) -> list[CodeStep]:
        """The steps of the counterpart of the function that a step belongs to."""
        other = self.counterpart(home(step))
        return [] if other is None else self.other.homes.get(other, [])


def home(step: CodeStep) -> Home:
    """The function that a step belongs to."""
    return step.module.path, step.home
