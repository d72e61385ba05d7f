"""What kinds of facts are made of: their attributes and the words that these may hold."""

from __future__ import annotations

import msgspec

Values = frozenset[str]

ANY: Values = frozenset()
FLAG: Values = frozenset(("yes", "no", "unknown"))
PURPOSE: Values = frozenset(("train", "evaluate", "export", "data", "unknown"))


class Kind(msgspec.Struct, frozen=True):
    """One kind of fact. `attributes` maps each attribute to the words that it may hold (none: any value);
    `arguments` tells whether facts of this kind are calls, so that `args` may be asked. `names` are those that its
    facts can have (none: any)."""

    attributes: dict[str, Values]
    arguments: bool = False
    names: Values = ANY


Kinds = dict[str, Kind]


def words(text: str) -> Values:
    """The words of an attribute, written with blanks between them."""
    return frozenset(text.split())


_PLACE: dict[str, Values] = {
    "active": FLAG,
    "in_input": words("yes maybe no"),
    "in_loop": FLAG,
    "in_test": FLAG,
    "step": words("yes gated host no"),
    "behind": words("npu cuda none"),
    "ranked": FLAG,
    "function": ANY,
    "under": ANY,
}


def plain(**attributes: Values) -> Kind:
    """A kind whose facts come from no Python code."""
    return Kind({"value": ANY, **attributes})


def code(**attributes: Values) -> Kind:
    """A kind whose facts are assignments or mentions in Python code."""
    return Kind({"value": ANY, **_PLACE, **attributes})


def call(**attributes: Values) -> Kind:
    """A kind whose facts are calls in Python code."""
    return Kind({"value": ANY, **_PLACE, **attributes}, arguments=True)
