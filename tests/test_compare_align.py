"""The alignment of sequences of steps."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from npulint.commands.compare.align import Pair, align

LETTERS = st.lists(st.sampled_from("abcd"), max_size=24)


def both(pairs: list[Pair]) -> list[tuple[int, int]]:
    return [(one, other) for one, other in pairs if one is not None and other is not None]


def runs(pairs: list[tuple[int, int]]) -> int:
    """How many uninterrupted runs some pairs make."""
    return sum(1 for pair in pairs if (pair[0] - 1, pair[1] - 1) not in pairs)


def longest(left: list[str], right: list[str]) -> int:
    """The length of the longest common subsequence, by the book."""
    row = [0] * (len(right) + 1)
    for one in left:
        above = row[:]
        for j, other in enumerate(right):
            row[j + 1] = above[j] + 1 if one == other else max(row[j], above[j + 1])
    return row[-1]


@given(LETTERS, LETTERS)
def test_every_position_stands_once_and_in_order(left: list[str], right: list[str]) -> None:
    pairs = align(left, right)
    assert [i for i, _ in pairs if i is not None] == list(range(len(left)))
    assert [j for _, j in pairs if j is not None] == list(range(len(right)))


@given(LETTERS, LETTERS)
def test_the_common_subsequence_is_a_longest_one_of_equal_elements(left: list[str], right: list[str]) -> None:
    pairs = both(align(left, right))
    assert all(left[i] == right[j] for i, j in pairs)
    assert len(pairs) == longest(left, right)


@given(LETTERS)
def test_a_sequence_is_aligned_with_itself(items: list[str]) -> None:
    assert align(items, items) == [(i, i) for i in range(len(items))]


@given(LETTERS, st.integers(0, 24), LETTERS)
def test_what_is_put_in_leaves_at_most_two_runs(items: list[str], place: int, more: list[str]) -> None:
    place = min(place, len(items))
    pairs = both(align(items, [*items[:place], *more, *items[place:]]))
    assert len(pairs) == len(items)
    if set(more).isdisjoint(items):
        assert runs(pairs) <= 2


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        ("abcd", "abxbcd", 2),  # the first b as well as the second would do
        ("xabc", "xabyabc", 2),
        ("abcabd", "abd", 1),
        ("abxab", "ab", 1),
    ],
)
def test_long_runs_are_preferred(left: str, right: str, expected: int) -> None:
    assert runs(both(align(left, right))) <= expected


def test_a_removed_block_is_one_gap() -> None:
    left = "conv64 norm relu conv128 norm relu conv256 norm relu".split()
    right = "conv64 norm relu conv256 norm relu".split()
    gone = [i for i, j in align(left, right) if j is None]
    assert gone == [3, 4, 5]


def test_a_gap_is_aligned_by_coarser_keys() -> None:
    left, right = ["conv 64", "relu", "conv 128"], ["conv 32", "relu", "conv 128", "dropout"]
    rough = (["conv", "relu", "conv"], ["conv", "relu", "conv", "dropout"])
    assert align(left, right) == [(0, None), (None, 0), (1, 1), (2, 2), (None, 3)]
    assert align(left, right, rough) == [(0, 0), (1, 1), (2, 2), (None, 3)]


@given(LETTERS, LETTERS)
def test_coarser_keys_keep_the_order(left: list[str], right: list[str]) -> None:
    pairs = align(left, right, ([one in "ab" for one in left], [one in "ab" for one in right]))
    assert [i for i, _ in pairs if i is not None] == list(range(len(left)))
    assert [j for _, j in pairs if j is not None] == list(range(len(right)))
    assert set(both(align(left, right))) <= set(both(pairs))


def test_elements_of_one_hash_are_told_apart() -> None:
    assert hash(-1) == hash(-2)
    assert both(align([(-1,)], [(-2,)])) == []


def test_what_is_too_long_is_aligned_at_both_ends() -> None:
    left = [*range(50_000), *"end"]
    right = [*range(100), -1, *range(100, 50_000), *"end"]
    assert len(both(align(left, right))) == 50_003
    far = align([*range(30_000)], [*range(30_000, 60_000)])
    assert len(far) == 60_000
