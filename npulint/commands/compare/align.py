"""Alignment of two sequences of steps: longest common subsequence."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence

Pair = tuple[int | None, int | None]
"""A left and a right position; None where the other side has no counterpart."""

_Run = tuple[int, int, int]  # start on the left, start on the right, length

_LONG = 20_000  # elements; comparing two sequences of this length takes 50 MB and 0.7 s


def align(
    left: Sequence[Hashable], right: Sequence[Hashable], *coarser: tuple[Sequence[Hashable], Sequence[Hashable]]
) -> list[Pair]:
    """Align two sequences: pairs of equal elements (a longest common subsequence, preferring long runs) and all other
    elements unpaired, left before right, in the order of both sides. Unpaired elements between two pairs are then
    aligned by `coarser` keys of the same elements, if any."""
    pairs: list[Pair] = []
    i = j = 0
    for first, second, length in (*_runs(left, right), (len(left), len(right), 0)):
        pairs += _between(range(i, first), range(j, second), coarser)
        i, j = first + length, second + length
        pairs += zip(range(first, i), range(second, j), strict=True)
    return pairs


def _between(
    ours: range, theirs: range, coarser: Sequence[tuple[Sequence[Hashable], Sequence[Hashable]]]
) -> list[Pair]:
    """The alignment of a gap between two pairs."""
    if ours and theirs and coarser:
        left, right = coarser[0]
        further = [(a[ours.start : ours.stop], b[theirs.start : theirs.stop]) for a, b in coarser[1:]]
        inner = align(left[ours.start : ours.stop], right[theirs.start : theirs.stop], *further)
        return [(None if a is None else a + ours.start, None if b is None else b + theirs.start) for a, b in inner]
    return [*((i, None) for i in ours), *((None, j) for j in theirs)]


def _runs(left: Sequence[Hashable], right: Sequence[Hashable]) -> list[_Run]:
    """The runs of a longest common subsequence."""
    numbers: dict[Hashable, int] = {}  # elements are compared often, and integers faster
    ours = [numbers.setdefault(item, len(numbers)) for item in left]
    theirs = [numbers.setdefault(item, len(numbers)) for item in right]
    head = _common(ours, theirs)
    tail = _common(ours[head:][::-1], theirs[head:][::-1])
    ends = (len(ours), len(theirs))
    runs = [(0, 0, head), *_middle(ours, theirs, head, tail), (ends[0] - tail, ends[1] - tail, tail)]
    turned = _joined(_turned(_joined(runs, ours, theirs), *ends), ours[::-1], theirs[::-1])
    return _turned(turned, *ends)


def _middle(left: list[int], right: list[int], head: int, tail: int) -> list[_Run]:
    """The runs between the common prefix and the common suffix; at most `_LONG` elements are compared."""
    ours, theirs = left[head : len(left) - tail][:_LONG], right[head : len(right) - tail][:_LONG]
    if not ours or not theirs:
        return []
    return [(head + i, head + j, length) for i, j, length in _longest(ours, theirs)]


def _longest(left: list[int], right: list[int]) -> Iterator[_Run]:
    """The runs of a longest common subsequence: the bit-parallel algorithm of Hyyrö, with integers as bit vectors. A
    zero at bit `i` of `rows[j]` says that the subsequence of ``left[:i + 1]`` and ``right[:j + 1]`` is longer than that
    without the last element of `left`."""
    masks: dict[int, int] = {}
    for i, item in enumerate(left):
        masks[item] = masks.get(item, 0) | 1 << i
    full = (1 << len(left)) - 1
    row, rows = full, list[int]()
    for item in right:
        met = row & masks.get(item, 0)
        row = (row + met | row - met) & full
        rows.append(row)
    pairs = []
    i, j = len(left), len(right)
    while i and j:
        if rows[j - 1] >> i - 1 & 1:
            i -= 1
        elif j > 1 and not rows[j - 2] >> i - 1 & 1:
            j -= 1
        else:
            i, j = i - 1, j - 1
            pairs.append((i, j))
    return _as_runs(reversed(pairs))


def _as_runs(pairs: Iterable[tuple[int, int]]) -> Iterator[_Run]:
    """Pairs of positions as runs."""
    first = second = length = 0
    for i, j in pairs:
        if (i, j) != (first + length, second + length):
            if length:
                yield first, second, length
            first, second, length = i, j, 0
        length += 1
    if length:
        yield first, second, length


def _common(left: Sequence[int], right: Sequence[int]) -> int:
    """The length of the common prefix."""
    count = 0
    for ours, other in zip(left, right, strict=False):
        if ours != other:
            break
        count += 1
    return count


def _turned(runs: Iterable[_Run], ours: int, theirs: int) -> list[_Run]:
    """Runs in the coordinates of the reversed sequences, whose lengths are `ours` and `theirs`."""
    return [(ours - i - length, theirs - j - length, length) for i, j, length in runs][::-1]


def _joined(runs: Iterable[_Run], left: Sequence[int], right: Sequence[int]) -> list[_Run]:
    """The runs, each shifted up to the previous one where the elements there are equal as well."""
    joined: list[_Run] = []
    i = j = 0
    for first, second, length in runs:
        if not length:
            continue
        if first == i and second > j and right[j : j + length] == right[second : second + length]:
            second = j
        elif second == j and first > i and left[i : i + length] == left[first : first + length]:
            first = i
        if joined and first == i and second == j:
            start, other, before = joined.pop()
            joined.append((start, other, before + length))
        else:
            joined.append((first, second, length))
        i, j = first + length, second + length
    return joined
