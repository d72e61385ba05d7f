"""Facts for tests: as tables, with any attributes, and whether they keep to their declarations."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from npulint.facts.model import Fact, Span
from npulint.judge.catalogue.vocabulary import fact_kinds


class TableFact(Fact, eq=False):
    """A fact of any kind, whose attributes are those of a table."""

    kind: str
    name: str
    path: str
    span: Span = Span()
    attrs: dict[str, Any] = msgspec.field(default_factory=dict)

    def get(self, attribute: str) -> Any:
        """See `Fact.get`."""
        return self.attrs.get(attribute)

    def own_attributes(self) -> list[str]:
        """See `Fact.own_attributes`."""
        return sorted(self.attrs)


def attrs_of(fact: Fact) -> dict[str, Any]:
    """The attributes that a fact has, as checks see them."""
    return {name: fact.get(name) for name in fact.own_attributes()}


def check_declared(facts: Iterable[Fact]) -> None:
    """Fail for an attribute that is not declared, or has another value than the declared words."""
    for fact in facts:
        declared = fact_kinds()[fact.kind].attributes
        for key, value in attrs_of(fact).items():
            assert not declared[key] or value in declared[key], (fact, key)
