"""Matches functions and classes that matched units call at corresponding positions."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence

from npulint.commands.compare.align import align
from npulint.commands.compare.matching.features import Spot, Unit
from npulint.commands.compare.matching.pairing import Edge, Pairing

_CALLED = 0.25  # minimum similarity

_Line = list[tuple[Hashable, int]]


def pair_called(pairing: Pairing) -> None:
    """Pair the callees at corresponding positions of paired units, until no new pairs appear."""
    ours = {unit.spot: unit.number for unit in pairing.left}
    theirs = {unit.spot: unit.number for unit in pairing.right}
    queue = sorted(pairing.to.items())
    while queue:
        edges: list[Edge] = []
        same = {other: other for other in pairing.back}
        for one, other in queue:
            left = _line(pairing.left[one], ours, pairing.to)
            if any(number >= 0 and number not in pairing.to for _, number in left):
                edges += _aligned(left, _line(pairing.right[other], theirs, same), pairing)
        before = set(pairing.to)
        pairing.take(edges)
        queue = sorted((one, other) for one, other in pairing.to.items() if one not in before)


def _line(unit: Unit, numbers: Mapping[Spot, int], paired: Mapping[int, int]) -> _Line:
    """The sequence of calls in a unit: a key that is comparable across both sides, and the project's own unit that is
    called."""
    line: _Line = []
    for _, _, token, spot in sorted(unit.calls, key=lambda call: call[:3]):
        number = numbers.get(spot, -1) if spot is not None else -1
        line.append((("own", paired.get(number, -1)) if number >= 0 else token, number))
    return line


def _aligned(left: _Line, right: _Line, pairing: Pairing) -> Sequence[Edge]:
    edges: list[Edge] = []
    for a, b in align([key for key, _ in left], [key for key, _ in right]):
        one, other = (left[a][1], right[b][1]) if a is not None and b is not None else (-1, -1)
        if one >= 0 and one not in pairing.to and other not in pairing.back:
            unit, theirs = pairing.left[one], pairing.right[other]
            if unit.kind == theirs.kind and pairing.likeness.of(unit, theirs) >= _CALLED:
                edges.append(pairing.edge(unit, theirs))
    return edges
