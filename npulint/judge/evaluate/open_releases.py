"""Checks that find nothing because a release or the chip is not known, and would find something for some."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from npulint.facts.model import Fact
from npulint.facts.roles import Role
from npulint.judge.catalogue.check import Check
from npulint.judge.evaluate.fact_index import matches
from npulint.judge.evaluate.match import Candidates, CompiledQuery
from npulint.judge.findings import OpenRelease
from npulint.model.programs.adapter_settings import AdapterSetting
from npulint.model.programs.configured.arguments import UnknownRelease

UNKNOWN = "unknown_release"
"""The kind of facts about arguments whose meaning depends on the release of a package."""
SUPPOSED = "training_argument"
"""The kind of the facts that such a release would make."""
SETTING = "setting"
"""The kind of the facts about settings of the adapter."""


def of_arguments(
    check: Check,
    subject: CompiledQuery,
    unknown: Iterable[Fact],
    candidates: Candidates,
    roles: Mapping[str, Role],
) -> Iterator[OpenRelease]:
    """What a check would find about arguments of training frameworks with other releases of their packages."""
    for fact in unknown:
        if not isinstance(fact, UnknownRelease) or fact.path in roles:
            continue
        if _finds(subject, fact.supposed(), candidates):
            yield OpenRelease(fact.package, fact.releases, check.name, check.code, fact.path, fact.span.line)


def asks_of_target(subject: CompiledQuery) -> bool:
    """Whether a check's ``find`` asks what a setting of the adapter is on the target."""
    leaves = (leaf for leaf in subject.sources() if leaf.kind == SETTING)
    return any(leaf.asks(attribute) for leaf in leaves for attribute in ("available", "on_soc"))


def of_settings(
    check: Check, subject: CompiledQuery, candidates: Candidates, roles: Mapping[str, Role]
) -> Iterator[OpenRelease]:
    """What a check would find about settings of the adapter in the release that is assumed, or on another chip."""
    for leaf in subject.sources():
        for fact in candidates.get(leaf, ()) if leaf.kind == SETTING else ():
            if isinstance(fact, AdapterSetting) and fact.path not in roles:
                for attribute, (key, word) in fact.supposed().items():
                    if leaf.asks(attribute) and leaf.finds(_Supposed(fact, attribute, word)):
                        yield OpenRelease(key, "", check.name, check.code, fact.path, fact.span.line)


class _Supposed:
    """A fact with another word for an attribute that is unknown."""

    def __init__(self, fact: Fact, attribute: str, word: str) -> None:
        self._fact, self._attribute, self._word = fact, attribute, word
        self.args = fact.args

    def get(self, attribute: str) -> Any:
        """The value of an attribute."""
        return self._word if attribute == self._attribute else self._fact.get(attribute)


def _finds(query: CompiledQuery, fact: Fact, candidates: Candidates) -> bool:
    """Whether a check's ``find`` would report a fact that the program may have."""
    if query.any:
        return any(_finds(part, fact, candidates) for part in query.any)
    if query.all:
        first, *others = query.all
        return _finds(first, fact, candidates) and all(part.true_of(candidates) is True for part in others)
    named = not query.names or any(matches(pattern, fact.name) for pattern in query.names)
    return query.kind == fact.kind and named and query.finds(fact)
