"""What a run speaks about, when it knows more files than those that were named."""

from __future__ import annotations

from typing import TypeAlias

import msgspec

from npulint.facts.model import Span
from npulint.findings import Finding

FindingKey: TypeAlias = tuple[str, str, Span]
"""Where a check speaks: code, path and span."""


class Scope(msgspec.Struct, frozen=True):
    """The `context_only` files were only read because the named ones cannot be judged without them. `caused` are
    findings in silent files that a change of the named ones brought about."""

    context_only: frozenset[str] = frozenset()
    caused: frozenset[FindingKey] = frozenset()

    def in_scope(self, one: Finding) -> bool:
        """Whether the finding is told: it lies in a file that is not silent, rests on a place there, or was caused."""
        if one.path not in self.context_only or finding_key(one) in self.caused:
            return True
        return any(place.path not in self.context_only for place in one.related)


def finding_key(one: Finding) -> FindingKey:
    """Where a finding stands."""
    return one.code, one.path, one.span


def finding_keys(one: Finding) -> set[FindingKey]:
    """The same of all places that a finding names, as if it stood there."""
    return {finding_key(one), *((one.code, place.path, place.span) for place in one.related)}
