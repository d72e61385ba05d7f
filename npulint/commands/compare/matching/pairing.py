"""The pairs of units found so far, and the evidence they provide for others."""

from __future__ import annotations

import math
import posixpath
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence

from npulint.commands.compare.matching.features import Unit, digest

# How much code the files of two programs share; decides between several similar functions.

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
        for part, other in zip(ours, theirs, strict=False):
            if part != other:
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
    together = Counter((folder(path), folder(other)) for path, other in partners.items())
    folders = {}
    for (path, other), score in scores.items():
        more = together[folder(path), folder(other)] - (partners.get(path) == other)
        folders[path, other] = score + _FOLDER * more / (more + 1) if score >= _LEAST else score
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
    common = len(posixpath.commonprefix([path_parts[:-1] for path_parts in parts.values()]))
    return {path: tuple(path_parts[common:][::-1]) for path, path_parts in parts.items()}


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
    totals: dict[str, float] = {}
    for unit in units:
        totals[unit.path] = totals.get(unit.path, 0.0) + weight(unit)
    return totals


def _weight(unit: Unit) -> float:
    return 1.0 + min(len(unit.frame), 200)


# Similarity of units, and candidates for it.

_RARE = 12  # a token in at most so many units of the other side leads to candidates
_LEADS = 24  # rarest tokens of a unit that are looked up
_TRUST = 2.0  # common frame tokens at which a similarity counts half

Bag = dict[int, int]


class Similarity:
    """Compares units by their tokens, weighted by rarity. A class is compared including everything in it."""

    def __init__(self, left: Sequence[Unit], right: Sequence[Unit]) -> None:
        self._frames: dict[int, Bag] = {}
        self._words: dict[int, Bag] = {}
        self._within: dict[int, list[Unit]] = {}
        self._known: dict[tuple[int, int], float] = {}
        for units in (left, right):
            self._gather(units)
        self._weights: dict[int, float] = {}
        self._weigh((*left, *right))

    def _gather(self, units: Sequence[Unit]) -> None:
        """Collect the nested units of each class; enclosing units come first."""
        for unit in reversed(units):
            held = self._within.setdefault(id(unit), [unit])
            if unit.parent >= 0 and units[unit.parent].kind != "module":
                around = units[unit.parent]
                self._within.setdefault(id(around), [around]).extend(held)

    def _weigh(self, units: Sequence[Unit]) -> None:
        seen: Counter[int] = Counter()
        for unit in units:
            seen.update(set(unit.frame))
            seen.update(set(unit.words))
        total = len(units) + 1
        self._weights = {token: 0.3 + math.log(total / count) for token, count in seen.items()}

    def frame(self, unit: Unit) -> Bag:
        """The multiset of frame tokens of a unit, including nested units of a class."""
        bag = self._frames.get(id(unit))
        if bag is None:
            held = self._within[id(unit)] if unit.kind == "class" else (unit,)
            bag = self._frames[id(unit)] = _bag(inner.frame for inner in held)
        return bag

    def words(self, unit: Unit) -> Bag:
        """The multiset of word tokens, as `frame`."""
        bag = self._words.get(id(unit))
        if bag is None:
            held = self._within[id(unit)] if unit.kind == "class" else (unit,)
            bag = self._words[id(unit)] = _bag(inner.words for inner in held)
        return bag

    def of(self, left: Unit, right: Unit) -> float:
        """Similarity from 0 (nothing in common) to 1 (equal except for names)."""
        key = (id(left), id(right))
        similarity = self._known.get(key)
        if similarity is None:
            frame = self._jaccard(self.frame(left), self.frame(right))
            similarity = self._known[key] = max(frame, 0.6 * frame + 0.4 * self.wording(left, right))
        return similarity

    def wording(self, left: Unit, right: Unit) -> float:
        """From 0 to 1: the share of common names and texts."""
        return self._jaccard(self.words(left), self.words(right))

    def trusted(self, left: Unit, right: Unit) -> float:
        """As `of`, discounted where there is little code to compare: for units without other evidence."""
        ours, theirs = self.frame(left), self.frame(right)
        common = sum(min(count, theirs[token]) for token, count in ours.items() if token in theirs)
        return self.of(left, right) * common / (common + _TRUST)

    def size(self, unit: Unit) -> int:
        """The number of distinct frame tokens of a unit."""
        return len(self.frame(unit))

    def _jaccard(self, left: Bag, right: Bag) -> float:
        if not left and not right:
            return 1.0
        weights = self._weights
        common = total = 0.0
        for token, count in left.items():
            other = right.get(token, 0)
            weight = weights[token]
            if other < count:
                common += other * weight
                total += count * weight
            else:
                common += count * weight
                total += other * weight
        for token, count in right.items():
            if token not in left:
                total += count * weights[token]
        return common / total

    def files(self, left: Sequence[Unit], right: Sequence[Unit]) -> float:
        """From 0 to 1: the similarity of two files, each given by its units; mostly by what the code does."""
        frames = [_bag(unit.frame for unit in units) for units in (left, right)]
        words = [_bag(unit.words for unit in units) for units in (left, right)]
        return 0.6 * self._jaccard(*frames) + 0.4 * self._jaccard(*words)

    def leads(self, units: Iterable[Unit]) -> dict[int, list[Unit]]:
        """An index of the units by each token that is rare among them."""
        index: dict[int, list[Unit]] = {}
        for unit in units:
            for token in (*self.frame(unit), *self.words(unit)):
                index.setdefault(token, []).append(unit)
        return {token: held for token, held in index.items() if len(held) <= _RARE}

    def nearest(self, unit: Unit, leads: dict[int, list[Unit]], count: int) -> list[Unit]:
        """The units that share the most rare tokens with a unit, at most `count`."""
        tokens = sorted({t for t in (*self.frame(unit), *self.words(unit)) if t in leads}, key=self._rarity)[:_LEADS]
        shared: dict[int, float] = {}
        units: dict[int, Unit] = {}
        for token in tokens:
            for other in leads[token]:
                units[id(other)] = other
                shared[id(other)] = shared.get(id(other), 0.0) + self._weights[token]
        return [units[number] for number in sorted(shared, key=lambda number: -shared[number])[:count]]

    def _rarity(self, token: int) -> tuple[float, int]:
        return -self._weights[token], token


def _bag(lists: Iterable[Sequence[int]]) -> Bag:
    bag: Bag = {}
    for tokens in lists:
        for token in tokens:
            bag[token] = bag.get(token, 0) + 1
    return bag


_SMALL = 3  # frame tokens; so little code may occur anywhere
_SAME_FILE = 0.3  # similarity of files that certainly belong together
_NAMESAKE = 0.3  # similarity of two functions that share more than the name

Edge = tuple[float, int, int]
"""The evidence for a pair, and the numbers of its units."""


class Pairing:
    """One-to-one pairs of units of two sides: `to` maps left numbers to right ones, `back` the reverse."""

    def __init__(self, left: Sequence[Unit], right: Sequence[Unit], likeness: Similarity, homes: FileOverlap) -> None:
        self.left = left
        self.right = right
        self.likeness = likeness
        self.homes = homes
        self.to: dict[int, int] = {}
        self.back: dict[int, int] = {}

    def pairs(self) -> Iterator[tuple[Unit, Unit]]:
        """The pairs in the order of the left side."""
        return ((self.left[number], self.right[self.to[number]]) for number in sorted(self.to))

    def free_left(self, kind: str) -> list[Unit]:
        """The unpaired units of the left side."""
        return [unit for unit in self.left if unit.kind == kind and unit.number not in self.to]

    def free_right(self, kind: str) -> list[Unit]:
        """The unpaired units of the right side."""
        return [unit for unit in self.right if unit.kind == kind and unit.number not in self.back]

    def pair(self, unit: Unit, other: Unit) -> None:
        self.to[unit.number] = other.number
        self.back[other.number] = unit.number

    def take(self, edges: Iterable[Edge]) -> None:
        """Pair units that are still free, strongest evidence first."""
        for _, number, other in sorted(edges, key=lambda edge: (-edge[0], edge[1], edge[2])):
            if number not in self.to and other not in self.back:
                self.to[number] = other
                self.back[other] = number

    def edge(self, unit: Unit, other: Unit) -> Edge:
        """The evidence for a pair: similarity, then name, enclosing units, and position in the file."""
        name = 0.5 * (unit.simple == other.simple) + 0.5 * (unit.name == other.name)
        far = abs(unit.number - other.number) / (len(self.left) + len(self.right) + 1)
        alike = self.likeness.of(unit, other) + 0.2 * self.likeness.wording(unit, other)
        return alike + 0.3 * name + 0.5 * self.nearness(unit, other) - 0.01 * far, unit.number, other.number

    def is_small(self, unit: Unit) -> bool:
        """Whether a unit is too small to be identified by its code."""
        return self.likeness.size(unit) <= _SMALL

    def nearness(self, unit: Unit, other: Unit) -> float:
        """From 0 to 1: how well the enclosing units and files of two units correspond."""
        around, theirs = surroundings(unit, self.left), surroundings(other, self.right)
        if around is not None and theirs is not None and around.number in self.to:
            return 1.0 if self.to[around.number] == theirs.number else 0.0
        bonus = 0.25 if (around is None) == (theirs is None) else 0.0
        if self.homes.partners.get(unit.path) == other.path:
            return 1.0 if around is None and theirs is None else 0.5 + bonus
        return 0.5 * self.homes.of(unit.path, other.path) + bonus

    def together(self, unit: Unit, other: Unit) -> bool:
        """Whether the enclosing units of two units of the same name are paired."""
        around, theirs = surroundings(unit, self.left), surroundings(other, self.right)
        if around is not None and around.number in self.to:
            return theirs is not None and self.to[around.number] == theirs.number
        return unit.name == other.name and self.homes.partners.get(unit.path) == other.path

    def doubt(self, unit: Unit, other: Unit) -> float:
        """The minimum similarity required of two units of the same name; lower the more certain it is that their files
        match."""
        inside = surroundings(unit, self.left) is not None
        return 0.0 if inside or self.homes.of(unit.path, other.path) >= _SAME_FILE else _NAMESAKE


def surroundings(unit: Unit, units: Sequence[Unit]) -> Unit | None:
    """The enclosing class or function of a unit."""
    around = units[unit.parent] if unit.parent >= 0 else None
    return around if around is not None and around.kind != "module" else None


def grouped(units: Iterable[Unit], key: Callable[[Unit], Hashable]) -> dict[Hashable, list[Unit]]:
    groups: dict[Hashable, list[Unit]] = {}
    for unit in units:
        groups.setdefault(key(unit), []).append(unit)
    return groups
