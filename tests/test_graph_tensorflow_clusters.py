"""How a graph is cut apart by what stays on the host, on random graphs."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from npulint.graphs.facts.tensorflow.clusters import cut, ordered
from tests.growth import assert_linear

Drawn = tuple[dict[int, list[int]], frozenset[int]]


@st.composite
def graphs(draw: st.DrawFn) -> Drawn:
    """What has to run before each node, and the nodes of the device."""
    count = draw(st.integers(1, 12))
    before = {n: draw(st.lists(st.integers(0, n - 1), max_size=3)) if n else [] for n in range(count)}
    return before, frozenset(draw(st.sets(st.integers(0, count - 1))))


def reached(before: dict[int, list[int]]) -> dict[int, set[int]]:
    """By node, all that comes before it."""
    found: dict[int, set[int]] = {}
    for n in sorted(before):
        found[n] = {p for one in before[n] for p in (one, *found[one])}
    return found


@given(graphs())
def test_no_way_between_kept_nodes_leads_over_the_host(drawn: Drawn) -> None:
    before, device = drawn
    above = reached(before)
    kept = cut(ordered(before, before), before, device).kept
    assert kept <= device
    hosts = before.keys() - device
    assert [(u, h, v) for v in kept for h in hosts & above[v] for u in kept & above[h]] == []


@given(graphs())
def test_what_cuts_has_device_nodes_on_both_sides(drawn: Drawn) -> None:
    before, device = drawn
    above = reached(before)
    found = cut(ordered(before, before), before, device)
    between = {h for h in before.keys() - device if above[h] & device and any(h in above[v] for v in device)}
    assert found.cutting == between
    if not between:
        assert found.kept == device
        assert found.pieces == bool(device)
    else:
        assert found.pieces > 1
        assert len(found.kept) * found.pieces >= len(device)  # one part in so many is at least the average


@given(graphs(), st.randoms(use_true_random=False))
def test_numbers_and_order_of_nodes_do_not_matter(drawn: Drawn, random: Random) -> None:
    before, device = drawn
    names = list(before)
    random.shuffle(names)
    renamed = {names[n]: [names[p] for p in taken] for n, taken in before.items()}
    moved = cut(ordered(renamed, renamed), renamed, frozenset(names[n] for n in device))
    found = cut(ordered(before, before), before, device)
    assert moved.kept == {names[n] for n in found.kept}
    assert moved.cutting == {names[n] for n in found.cutting}
    assert moved.pieces == found.pieces


@given(graphs())
def test_order_puts_each_node_behind_what_it_needs(drawn: Drawn) -> None:
    before, _ = drawn
    place = {n: number for number, n in enumerate(ordered(before, before))}
    assert place.keys() == before.keys()
    assert all(place[p] < place[n] for n in before for p in before[n])


def test_circles_come_last_and_do_no_harm() -> None:
    before = {0: [2], 1: [0], 2: [1], 3: [], 4: [3, 4]}
    order = ordered(before, before)
    assert order[0] == 3
    assert sorted(order) == [0, 1, 2, 3, 4]
    assert cut(order, before, frozenset((0, 2, 3))).kept <= {0, 2, 3}


def test_weights_of_the_kept_part_stay_with_it() -> None:
    """0 -> 1 -> host 2 -> 3 -> 4 -> 5, with a variable 6 that 4 and 5 use."""
    before = {0: [], 1: [0], 2: [1], 3: [2], 4: [3, 6], 5: [4, 6], 6: []}
    found = cut(ordered(before, before), before, frozenset((0, 1, 3, 4, 5, 6)))
    assert found.kept == {3, 4, 5, 6}
    assert found.pieces == 2


@pytest.mark.slow
def test_time_grows_with_the_size_only() -> None:
    def graph(count: int) -> dict[int, list[int]]:
        return {n: [n - 1, n // 2] if n else [] for n in range(count)}

    def work(before: dict[int, list[int]]) -> None:
        cut(ordered(before, before), before, frozenset(n for n in before if n % 1000))

    assert_linear(graph, work, 16_000)
