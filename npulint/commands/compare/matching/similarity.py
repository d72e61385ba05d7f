"""Similarity of units, and candidates for it."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence

from npulint.commands.compare.matching.features import Unit

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
            bag = self._frames[id(unit)] = _bag(one.frame for one in held)
        return bag

    def words(self, unit: Unit) -> Bag:
        """The multiset of word tokens, as `frame`."""
        bag = self._words.get(id(unit))
        if bag is None:
            held = self._within[id(unit)] if unit.kind == "class" else (unit,)
            bag = self._words[id(unit)] = _bag(one.words for one in held)
        return bag

    def of(self, left: Unit, right: Unit) -> float:
        """Similarity from 0 (nothing in common) to 1 (equal except for names)."""
        key = (id(left), id(right))
        known = self._known.get(key)
        if known is None:
            frame = self._jaccard(self.frame(left), self.frame(right))
            known = self._known[key] = max(frame, 0.6 * frame + 0.4 * self.wording(left, right))
        return known

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
        found: dict[int, list[Unit]] = {}
        for unit in units:
            for token in (*self.frame(unit), *self.words(unit)):
                found.setdefault(token, []).append(unit)
        return {token: held for token, held in found.items() if len(held) <= _RARE}

    def nearest(self, unit: Unit, leads: dict[int, list[Unit]], count: int) -> list[Unit]:
        """The units that share the most rare tokens with a unit, at most `count`."""
        tokens = sorted({t for t in (*self.frame(unit), *self.words(unit)) if t in leads}, key=self._rarity)[:_LEADS]
        shared: dict[int, float] = {}
        units: dict[int, Unit] = {}
        for token in tokens:
            for other in leads[token]:
                units[id(other)] = other
                shared[id(other)] = shared.get(id(other), 0.0) + self._weights[token]
        return [units[one] for one in sorted(shared, key=lambda one: -shared[one])[:count]]

    def _rarity(self, token: int) -> tuple[float, int]:
        return -self._weights[token], token


def _bag(lists: Iterable[Sequence[int]]) -> Bag:
    bag: Bag = {}
    for tokens in lists:
        for token in tokens:
            bag[token] = bag.get(token, 0) + 1
    return bag
