"""Building blocks of fact kinds: attributes and their possible words."""

from __future__ import annotations

import msgspec

Values = frozenset[str]

ANY: Values = frozenset()
FLAG: Values = frozenset(("yes", "no", "unknown"))


class Kind(msgspec.Struct, frozen=True):
    """One fact kind. `attributes` maps each attribute to its possible words (none: any value); `arguments` says whether
    its facts are calls, so that `args` can be queried. `names` are the possible fact names (none: any)."""

    attributes: dict[str, Values]
    arguments: bool = False
    names: Values = ANY


Kinds = dict[str, Kind]


def words(text: str) -> Values:
    """The words of an attribute from a blank-separated text."""
    return frozenset(text.split())


def plain(**attributes: Values) -> Kind:
    """A kind whose facts do not come from Python code."""
    return Kind({"value": ANY, **attributes})
