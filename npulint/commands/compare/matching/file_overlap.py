"""How much code the files of two programs share; decides between several similar functions."""

from __future__ import annotations

import posixpath
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence

from npulint.commands.compare.matching.features import Unit, digest

_LEAST = 0.15  # minimum similarity of partners
_FOLDER = 0.2  # bonus for files whose neighbours are partners
_CROWD = 36  # pairs of units with the same key; more are not significant


class FileOverlap:
    """Similarity of two files from 0 to 1: mostly by shared code, a little by their paths. `partners` maps left files
    to the most similar right file, each right file at most once."""

    def __init__(self, left: Sequence[Unit], right: Sequence[Unit]) -> None:
        self._alike = _shared(left, right)
        self._ours = _below_common(unit.path for unit in left)
        self._theirs = _below_common(unit.path for unit in right)
        scores = {pair: self.of(*pair) for pair in self._candidates()}
        self.partners = best_pairs(_with_folders(scores, best_pairs(scores, _LEAST)), _LEAST)

    def of(self, left: str, right: str) -> float:
        """The similarity of two files."""
        return 0.75 * self._alike.get((left, right), 0.0) + 0.25 * self.paths(left, right)

    def paths(self, left: str, right: str) -> float:
        """How many trailing path parts two files share, as a fraction."""
        ours, theirs = self._ours[left], self._theirs[right]
        same = 0
        for one, other in zip(ours, theirs, strict=False):
            if one != other:
                break
            same += 1
        return 0.5 * (same > 0) + 0.5 * same / max(len(ours), len(theirs))

    def _candidates(self) -> list[tuple[str, str]]:
        named: dict[str, list[str]] = {}
        for path, parts in self._theirs.items():
            named.setdefault(parts[0], []).append(path)
        same = [(path, other) for path, parts in self._ours.items() for other in named.get(parts[0], ())]
        return list(dict.fromkeys([*self._alike, *same]))


def _with_folders(scores: dict[tuple[str, str], float], partners: dict[str, str]) -> dict[tuple[str, str], float]:
    """The scores, increased for pairs whose folders contain other partners: among variants of a script, prefer the one
    whose modules were taken over with it."""
    folder = posixpath.dirname
    together = Counter((folder(one), folder(other)) for one, other in partners.items())
    folders = {}
    for (one, other), score in scores.items():
        more = together[folder(one), folder(other)] - (partners.get(one) == other)
        folders[one, other] = score + _FOLDER * more / (more + 1) if score >= _LEAST else score
    return folders


def best_pairs(scores: dict[tuple[str, str], float], floor: float) -> dict[str, str]:
    """Greedy assignment: best pairs first, each path once, none below `floor`."""
    pairs: dict[str, str] = {}
    taken: set[str] = set()
    for left, right in sorted(scores, key=lambda pair: (-scores[pair], pair)):
        if scores[left, right] >= floor and left not in pairs and right not in taken:
            pairs[left] = right
            taken.add(right)
    return pairs


def _below_common(paths: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """The parts of each path below the common folder, file name first."""
    parts = {path: path.split("/") for path in paths}
    common = len(posixpath.commonprefix([found[:-1] for found in parts.values()]))
    return {path: tuple(found[common:][::-1]) for path, found in parts.items()}


def _shared(left: Sequence[Unit], right: Sequence[Unit]) -> dict[tuple[str, str], float]:
    """The fraction of the code of two files that occurs in both: equal code, or units of the same name."""
    common: dict[tuple[str, str], float] = {}
    _vote(left, right, lambda unit: (digest(unit), tuple(unit.words)), common, 1.0)
    _vote(left, right, lambda unit: (unit.kind, unit.name or posixpath.basename(unit.path)), common, 0.5)
    ours, theirs = sizes(left, _weight), sizes(right, _weight)
    return {(a, b): min(1.0, 2 * shared / (1.5 * (ours[a] + theirs[b]))) for (a, b), shared in common.items()}


def _vote(
    left: Sequence[Unit],
    right: Sequence[Unit],
    key: Callable[[Unit], Hashable],
    common: dict[tuple[str, str], float],
    weight: float,
) -> None:
    groups: dict[Hashable, tuple[list[Unit], list[Unit]]] = {}
    for side, units in enumerate((left, right)):
        for unit in units:
            if unit.kind != "module" or unit.frame:
                groups.setdefault(key(unit), ([], []))[side].append(unit)
    for ours, theirs in groups.values():
        if ours and theirs and len(ours) * len(theirs) <= _CROWD:
            for our in ours:
                for other in theirs:
                    pair = (our.path, other.path)
                    size = min(_weight(our), _weight(other)) / max(len(ours), len(theirs))
                    common[pair] = common.get(pair, 0.0) + weight * size


def sizes(units: Sequence[Unit], weight: Callable[[Unit], float]) -> dict[str, float]:
    """The total weight of the units of each file."""
    found: dict[str, float] = {}
    for unit in units:
        found[unit.path] = found.get(unit.path, 0.0) + weight(unit)
    return found


def _weight(unit: Unit) -> float:
    return 1.0 + min(len(unit.frame), 200)
