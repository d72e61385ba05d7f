"""Alignment of two sequences of steps: longest common subsequence."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence

Pair = tuple[int | None, int | None]
"""A left and a right position; None where the other side has no counterpart."""

_Run = tuple[int, int, int]  # start on the left, start on the right, length

_LONG = 20_000  # elements; comparing two sequences of this length takes 50 MB and 0.1 s


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
    numbers: dict[Hashable, int] = {}  # rapidfuzz compares by hash, and hash(-1) == hash(-2)
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
    from rapidfuzz.distance import LCSseq  # only comparisons need it

    return [
        (head + step.src_start, head + step.dest_start, step.src_end - step.src_start)
        for step in LCSseq.opcodes(ours, theirs)
        if step.tag == "equal"
    ]


def _common(left: Sequence[int], right: Sequence[int]) -> int:
    """The length of the common prefix."""
    count = 0
    for one, other in zip(left, right, strict=False):
        if one != other:
            break
        count += 1
    return count


def _turned(runs: Iterable[_Run], ours: int, theirs: int) -> list[_Run]:
    """Runs in the coordinates of the reversed sequences, whose lengths are `ours` and `theirs`."""
    return [(ours - i - length, theirs - j - length, length) for i, j, length in runs][::-1]


def _joined(runs: Iterable[_Run], left: Sequence[int], right: Sequence[int]) -> list[_Run]:
    """The runs, each shifted up to the previous one where the elements there are equal as well."""
    found: list[_Run] = []
    i = j = 0
    for first, second, length in runs:
        if not length:
            continue
        if first == i and second > j and right[j : j + length] == right[second : second + length]:
            second = j
        elif second == j and first > i and left[i : i + length] == left[first : first + length]:
            first = i
        if found and first == i and second == j:
            start, other, before = found.pop()
            found.append((start, other, before + length))
        else:
            found.append((first, second, length))
        i, j = first + length, second + length
    return found
