"""Matches files, and their module-level code."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from npulint.commands.compare.matching.features import Unit
from npulint.commands.compare.matching.file_overlap import best_pairs, sizes
from npulint.commands.compare.matching.pairing import Pairing

_FLOOR = 0.15  # minimum fraction of common code
_BECAME = 0.5  # similarity of module-level code and the function that it was moved to
_BETTER = 0.2  # required advantage over the other module's own module-level code
_LITTLE = 12  # different frame tokens; less code is not considered moved


def pair_files(pairing: Pairing) -> dict[str, str]:
    """The right file for each left file that has a counterpart: by the pairs within them, by module-level code and by
    path."""
    ours, theirs = sizes(pairing.left, _weight), sizes(pairing.right, _weight)
    scores: dict[tuple[str, str], float] = {}
    for unit, other in pairing.pairs():
        pair = (unit.path, other.path)
        weight = (_weight(unit) + _weight(other)) / (ours[unit.path] + theirs[other.path])
        scores[pair] = scores.get(pair, 0.0) + weight
    left, right = _bodies(pairing.left), _bodies(pairing.right)
    for path, partner in pairing.homes.partners.items():
        body, its = left[path], right[partner]
        part = (_weight(body) + _weight(its)) / (ours[path] + theirs[partner])
        alike = pairing.likeness.of(body, its) if body.frame and its.frame else 0.0
        near = pairing.homes.paths(path, partner)
        scores[path, partner] = scores.get((path, partner), 0.0) + alike * part + _FLOOR * near
    return best_pairs(scores, _FLOOR)


def pair_bodies(pairing: Pairing, files: Mapping[str, str]) -> None:
    """Pair the module-level code of paired files, unless it was moved into a function."""
    ours, theirs = _bodies(pairing.left), _bodies(pairing.right)
    functions = {unit.path: list[Unit]() for unit in pairing.left}
    others = {unit.path: list[Unit]() for unit in pairing.right}
    for unit in pairing.free_left("function"):
        functions[unit.path].append(unit)
    for unit in pairing.free_right("function"):
        others[unit.path].append(unit)
    for path, partner in files.items():
        one, other = ours[path], theirs[partner]
        became = _heir(one, other, others[partner], pairing)
        came = _heir(other, one, functions[path], pairing) if became is None else None
        pairing.pair(came or one, became or other)


def _heir(body: Unit, other: Unit, functions: Iterable[Unit], pairing: Pairing) -> Unit | None:
    """The function that the module-level code was moved to, where the other module has none of it."""
    likeness = pairing.likeness
    if likeness.size(body) <= _LITTLE:
        return None
    best, score = None, max(_BECAME, likeness.of(body, other) + _BETTER)
    for unit in functions:
        alike = likeness.of(body, unit)
        if alike > score:
            best, score = unit, alike
    return best


def _bodies(units: Sequence[Unit]) -> dict[str, Unit]:
    return {unit.path: unit for unit in units if unit.kind == "module"}


def _weight(unit: Unit) -> float:
    return 1.0 + len(unit.frame)
