"""Fact kinds of comparisons."""

from __future__ import annotations

from npulint.catalogue.vocabulary.words import ANY, FLAG, Kind, Kinds, words
from npulint.facts.recipe import ITEM_OF, ITEMS

_PARTS = frozenset(ITEM_OF)
_ITEM = frozenset(ITEMS)
_SURE = words("yes no")

KINDS: Kinds = {
    "difference": Kind(
        {
            "item": _ITEM,
            "change": words("changed removed added reordered"),
            "what": ANY,
            "argument": ANY,
            "reference": ANY,
            "migrated": ANY,
            "reference_place": ANY,
            "migrated_place": ANY,
            "count": ANY,
            "certain": _SURE,
            "adapter": _SURE,
            "function": ANY,
            "evaluates": _SURE,
        },
        names=_PARTS,
    ),
    "ingredient": Kind(
        {"item": _ITEM, "side": words("reference migrated"), "what": ANY, "value": ANY, "known": _SURE, "same": FLAG},
        names=_PARTS,
    ),
}
