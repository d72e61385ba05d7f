"""The alignment of two sequences of steps: what stands on both sides, in the same order."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

Pair = tuple[int | None, int | None]
"""A position on the left and one on the right; None where the other side has no counterpart."""


def align(left: Sequence[Hashable], right: Sequence[Hashable]) -> list[Pair]:
    """A longest common subsequence as pairs of positions, with all that it leaves over (on the left first), in the order
    of both sides. Of several the one is taken whose runs are long."""
    from rapidfuzz.distance import LCSseq  # the ordinary check needs none of it

    numbers: dict[Hashable, int] = {}
    ours = [numbers.setdefault(item, len(numbers)) for item in left]
    theirs = [numbers.setdefault(item, len(numbers)) for item in right]
    pairs: list[Pair] = []
    for step in LCSseq.opcodes(ours, theirs):
        if step.tag == "equal":
            pairs += zip(range(step.src_start, step.src_end), range(step.dest_start, step.dest_end), strict=True)
        else:
            pairs += [(i, None) for i in range(step.src_start, step.src_end)]
            pairs += [(None, i) for i in range(step.dest_start, step.dest_end)]
    return pairs
