"""Facts as tables, for comparisons, and whether they keep to their declarations."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from npulint.catalogue.vocabulary import fact_kinds
from npulint.facts.model import Fact


def attrs_of(fact: Fact) -> dict[str, Any]:
    """The attributes that a fact has, as checks see them."""
    return {name: fact.get(name) for name in fact.own_attributes()}


def check_declared(facts: Iterable[Fact]) -> None:
    """Fail for an attribute that is not declared, or has another value than the declared words."""
    for fact in facts:
        declared = fact_kinds()[fact.kind].attributes
        for key, value in attrs_of(fact).items():
            assert not declared[key] or value in declared[key], (fact, key)
