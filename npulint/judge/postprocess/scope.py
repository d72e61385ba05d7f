"""The scope of a run: which findings it reports when it has read more files than were named."""

from __future__ import annotations

from typing import TypeAlias

import msgspec

from npulint.facts.model import Span
from npulint.judge.evaluate.places import covered, moved_to, place_of
from npulint.judge.findings import Finding

FindingKey: TypeAlias = tuple[str, str, Span]
"""The key of a finding: code, path and span."""


class ReportScope(msgspec.Struct, frozen=True):
    """`context_only` files are read only because the named files depend on them. `caused` are findings in them that a
    change of the named files caused."""

    context_only: frozenset[str] = frozenset()
    caused: frozenset[FindingKey] = frozenset()

    def in_scope(self, finding: Finding) -> bool:
        """Whether to report the finding: its place or a related location is in a named file, or it was caused."""
        if finding.path not in self.context_only or finding_key(finding) in self.caused:
            return True
        if any(place.path not in self.context_only for place in finding.related):
            return True
        return any((finding.code, *place_of(place)) in self.caused for place in covered(finding))

    def shown(self, finding: Finding) -> Finding:
        """A finding in scope at its first place in scope: a change of one place is reported there, not at another."""
        if finding.path not in self.context_only or finding_key(finding) in self.caused:
            return finding
        for place in covered(finding):
            if place.path not in self.context_only or (finding.code, *place_of(place)) in self.caused:
                return moved_to(finding, place_of(place))
        return finding


def finding_key(finding: Finding) -> FindingKey:
    """The key of a finding at its own place."""
    return finding.code, finding.path, finding.span


def covered_keys(finding: Finding) -> set[FindingKey]:
    """The keys of a finding at all places that it covers."""
    return {(finding.code, *place_of(place)) for place in covered(finding)}


def finding_keys(finding: Finding) -> set[FindingKey]:
    """The keys of a finding at its own place and all related locations."""
    return {finding_key(finding), *((finding.code, place.path, place.span) for place in finding.related)}
