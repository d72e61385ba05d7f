"""The alignment of two sequences of steps: what stands on both sides in the same order."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence

Pair = tuple[int | None, int | None]
"""A position on the left and one on the right; None where the other side has no counterpart."""

_Run = tuple[int, int, int]  # where it begins on the left and on the right, and its length

_LONG = 20_000  # elements; the comparison of two so long sequences takes 50 MB and a tenth of a second


def align(
    left: Sequence[Hashable], right: Sequence[Hashable], *coarser: tuple[Sequence[Hashable], Sequence[Hashable]]
) -> list[Pair]:
    """The longest common subsequence as pairs of positions, with all that it leaves over (the left side's first), in
    the order of both sides. Of several the one is preferred whose runs are long. What is left over between two pairs is
    aligned by `coarser` keys of the same elements, if there are any: what is alike there is a pair too."""
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
    """A gap between two pairs."""
    if ours and theirs and coarser:
        left, right = coarser[0]
        further = [(a[ours.start : ours.stop], b[theirs.start : theirs.stop]) for a, b in coarser[1:]]
        inner = align(left[ours.start : ours.stop], right[theirs.start : theirs.stop], *further)
        return [(None if a is None else a + ours.start, None if b is None else b + theirs.start) for a, b in inner]
    return [*((i, None) for i in ours), *((None, j) for j in theirs)]


def _runs(left: Sequence[Hashable], right: Sequence[Hashable]) -> list[_Run]:
    """The runs of a longest common subsequence."""
    numbers: dict[Hashable, int] = {}  # the library compares by hash, and -1 has that of -2
    ours = [numbers.setdefault(item, len(numbers)) for item in left]
    theirs = [numbers.setdefault(item, len(numbers)) for item in right]
    head = _common(ours, theirs)
    tail = _common(ours[head:][::-1], theirs[head:][::-1])
    ends = (len(ours), len(theirs))
    runs = [(0, 0, head), *_middle(ours, theirs, head, tail), (ends[0] - tail, ends[1] - tail, tail)]
    turned = _joined(_turned(_joined(runs, ours, theirs), *ends), ours[::-1], theirs[::-1])
    return _turned(turned, *ends)


def _middle(left: list[int], right: list[int], head: int, tail: int) -> list[_Run]:
    """The runs between the common beginning and the common end, of which no more than `_LONG` elements are compared."""
    ours, theirs = left[head : len(left) - tail][:_LONG], right[head : len(right) - tail][:_LONG]
    if not ours or not theirs:
        return []
    from rapidfuzz.distance import LCSseq  # the ordinary check needs none of it

    return [
        (head + step.src_start, head + step.dest_start, step.src_end - step.src_start)
        for step in LCSseq.opcodes(ours, theirs)
        if step.tag == "equal"
    ]


def _common(left: Sequence[int], right: Sequence[int]) -> int:
    """How many elements both sequences begin with."""
    count = 0
    for one, other in zip(left, right, strict=False):
        if one != other:
            break
        count += 1
    return count


def _turned(runs: Iterable[_Run], ours: int, theirs: int) -> list[_Run]:
    """Runs as they stand in the reversed sequences of these lengths."""
    return [(ours - i - length, theirs - j - length, length) for i, j, length in runs][::-1]


def _joined(runs: Iterable[_Run], left: Sequence[int], right: Sequence[int]) -> list[_Run]:
    """The runs, each moved up to the one before where the same stands there as well."""
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
