"""Calls as the comparison of two programs sees them."""

from __future__ import annotations

from typing import NamedTuple

from npulint.data.recipe import RecipeCall, recipe_call


def known(name: str, framework: str = "torch") -> RecipeCall:
    call = recipe_call(name, framework)
    assert call is not None, name
    return call


class Compared(NamedTuple):
    """A call as it is compared: under which name, with which values, and what it would have without arguments."""

    same_as: str
    values: dict[str, object]
    usual: dict[str, object]

    def agrees(self, other: Compared) -> bool:
        """Whether the calls do the same. What only one of them can be given must have the value that it has anyway."""
        names = self.values.keys() | other.values.keys()
        return self.same_as == other.same_as and all(
            self.values.get(name, other.usual.get(name)) == other.values.get(name, self.usual.get(name))
            for name in names
        )


def compared(name: str, *args: object, **keywords: object) -> Compared:
    """A call with `args` by place (``...`` for one that is not known) and keywords."""
    call = known(name)
    arguments = {call.parameter(place): value for place, value in enumerate(args) if value is not ...}
    return Compared(call.same_as, call.effective({**arguments, **keywords}), call.effective({}))


def neutral(name: str, *args: object, **keywords: object) -> tuple[str, dict[str, object]]:
    call = known(name)
    return call.neutral, call.neutral_values(compared(name, *args, **keywords).values)
