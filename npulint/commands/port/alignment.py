"""Divides a block of changed lines into the smallest changes: a line with the one that it has become."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher

Range = tuple[int, int]

_LONG = 40  # lines of a block that is divided; the work grows with the square
_ALIKE = 0.5


def aligned(old: Sequence[bytes], new: Sequence[bytes]) -> list[tuple[Range, Range]]:
    """The ranges of lines before and after that belong together, in order; together they cover both blocks."""
    if not old or not new or len(old) > _LONG or len(new) > _LONG:
        return [((0, len(old)), (0, len(new)))]
    pairs = _pairs(old, new)
    found: list[tuple[Range, Range]] = []
    first = begin = 0
    for here, there in [*pairs, (len(old), len(new))]:
        if here > first or there > begin:
            found.append(((first, here), (begin, there)))
        if here < len(old):
            found.append(((here, here + 1), (there, there + 1)))
        first, begin = here + 1, there + 1
    return found


def _pairs(old: Sequence[bytes], new: Sequence[bytes]) -> list[tuple[int, int]]:
    """The pairs of similar lines, in the same order on both sides, whose similarity is the greatest in sum."""
    best = [[0.0] * (len(new) + 1) for _ in range(len(old) + 1)]
    alike = [[_likeness(one, other) for other in new] for one in old]
    for i in reversed(range(len(old))):
        for j in reversed(range(len(new))):
            best[i][j] = max(best[i + 1][j], best[i][j + 1], alike[i][j] + best[i + 1][j + 1] if alike[i][j] else 0)
    pairs = []
    i = j = 0
    while i < len(old) and j < len(new):
        if alike[i][j] and best[i][j] == alike[i][j] + best[i + 1][j + 1]:
            pairs.append((i, j))
            i, j = i + 1, j + 1
        elif best[i][j] == best[i + 1][j]:
            i += 1
        else:
            j += 1
    return pairs


def _likeness(one: bytes, other: bytes) -> float:
    """How alike two lines are, from 0; 0 below the limit."""
    before, after = (line.strip().decode("latin-1") for line in (one, other))
    compared = SequenceMatcher(None, before, after, autojunk=False)
    if compared.real_quick_ratio() < _ALIKE or compared.quick_ratio() < _ALIKE:
        return 0.0
    ratio = compared.ratio()
    return ratio if ratio >= _ALIKE else 0.0
