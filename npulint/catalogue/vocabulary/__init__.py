"""The fact kinds that queries may name, with their attributes (documented in docs/writing-checks.md)."""

from functools import cache

from npulint.catalogue.vocabulary import surroundings
from npulint.catalogue.vocabulary.declared import declared_kinds
from npulint.catalogue.vocabulary.words import Kind, Kinds

_TABLED: Kinds = surroundings.KINDS


@cache
def fact_kinds() -> Kinds:
    """All fact kinds by name."""
    declared = declared_kinds()
    mixed = {name: _both(_TABLED[name], kind) for name, kind in declared.items() if name in _TABLED}
    return _TABLED | declared | mixed


def _both(one: Kind, other: Kind) -> Kind:
    """The union of a kind declared in a table and by classes."""
    words = {
        name: one.attributes[name] | kind if one.attributes.get(name) and kind else kind
        for name, kind in other.attributes.items()
    }
    return Kind(one.attributes | words, one.arguments or other.arguments, one.names or other.names)


__all__ = ["Kind", "fact_kinds"]
