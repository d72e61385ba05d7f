"""Three-valued values: the possible values of an expression, determined without running it."""

from __future__ import annotations

import msgspec

from npulint.facts.code import Scalar


class PossibleValues(msgspec.Struct, frozen=True, gc=False):
    """The scalars that an expression may evaluate to. `exact`: there are no others. `symbol` names the option,
    parameter or environment variable that decides (its default is then among `values`). A framework constant is
    represented by its canonical name (``tensorflow.float16``)."""

    values: tuple[Scalar, ...] = ()
    exact: bool = False
    symbol: str = ""

    @property
    def single(self) -> Scalar:
        """The value if there is exactly one, else None."""
        return self.values[0] if self.exact and len(self.values) == 1 else None

    def text(self) -> str:
        """The value for messages: itself, the alternatives, or ``?``."""
        if not self.values:
            return self.symbol or "?"
        return " / ".join(str(v) for v in self.values)


NOTHING = PossibleValues()
YES = PossibleValues((True,), True)
NO = PossibleValues((False,), True)
NONE = PossibleValues((None,), True)


def merge(parts: list[PossibleValues]) -> PossibleValues:
    """The possible values of an expression that may be any of `parts`."""
    if len(parts) == 1:
        return parts[0]
    values: list[Scalar] = []
    for part in parts:
        values += [v for v in part.values if not any(v is w or (v == w and type(v) is type(w)) for w in values)]
    symbol = next((p.symbol for p in parts if p.symbol), "")
    return PossibleValues(tuple(values[:16]), bool(parts) and len(values) <= 16 and all(p.exact for p in parts), symbol)


def truth(values: PossibleValues) -> bool | None:
    """The truth value in a condition; None when undetermined."""
    if not values.exact or not values.values:
        return None
    answers = {bool(v) for v in values.values}
    return answers.pop() if len(answers) == 1 else None
