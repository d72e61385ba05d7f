"""Where two noisy curves part: curves whose parting step is known, and curves that differ by noise alone."""

from __future__ import annotations

import math
import random
from collections.abc import Callable

import pytest

from npulint.runs.compare.parting import FEW, Parting, first_differs, parting

Gap = Callable[[int], float]


def curve(count: int, seed: int, noise: float, lasting: float = 0.0, gap: Gap = lambda step: 0.0) -> list[float]:
    """A loss that falls from 6 to 1, with noise and a relative difference by step."""
    source, kept, found = random.Random(seed), 0.0, []
    for step in range(count):
        kept = lasting * kept + math.sqrt(1 - lasting**2) * source.gauss(0, 1)
        found.append((1 + 5 * math.exp(-5 * step / count)) * (1 + gap(step)) * (1 + noise * kept))
    return found


def two(count: int, seed: int, noise: float, lasting: float = 0.0, gap: Gap = lambda step: 0.0) -> Parting:
    """The verdict on two runs with different noise, of which the second has the difference."""
    return parting(curve(count, 2 * seed, noise, lasting), curve(count, 2 * seed + 1, noise, lasting, gap))


@pytest.mark.parametrize(
    ("count", "noise", "lasting"), [(100, 0.02, 0), (100, 0.3, 0), (500, 0.1, 0.8), (2000, 0.02, 0.97)]
)
def test_noise_alone_is_no_difference(count: int, noise: float, lasting: float) -> None:
    verdicts = [two(count, seed, noise, lasting).verdict for seed in range(40)]
    assert verdicts.count("alike") >= 39


@pytest.mark.parametrize(
    ("count", "noise", "lasting", "step", "gap"),
    [
        (100, 0.001, 0.0, 37, 0.05),
        (100, 0.02, 0.0, 60, 0.1),
        (500, 0.02, 0.8, 200, 0.2),
        (500, 0.1, 0.0, 300, 0.3),
        (2000, 0.1, 0.0, 900, -0.15),
        (9000, 0.1, 0.0, 6000, 0.15),
    ],
)
def test_a_step_is_found_where_it_is(count: int, noise: float, lasting: float, step: int, gap: float) -> None:
    found = [two(count, seed, noise, lasting, lambda at: gap if at >= step else 0.0) for seed in range(15)]
    parted = sorted(one.at for one in found if one.verdict == "part")
    assert len(parted) >= 14
    assert abs(parted[len(parted) // 2] - step) <= max(2, count // 200)
    assert parted[len(parted) * 3 // 4] - step <= count // 20  # late ones are the exception
    assert found[0].gap == pytest.approx(gap, abs=0.05)


def test_a_growing_difference_is_found_after_it_begins() -> None:
    found = two(400, 1, 0.01, gap=lambda at: max(0, at - 200) / 400)
    assert found.verdict == "part" and 195 <= found.at <= 240


def test_a_difference_from_the_beginning_is_no_parting() -> None:
    found = two(200, 3, 0.02, gap=lambda at: 0.2)
    assert (found.verdict, found.at) == ("apart", 0)


def test_curves_that_meet_again_were_apart_for_a_while() -> None:
    found = two(300, 4, 0.01, gap=lambda at: 0.3 if 100 <= at < 200 else 0.0)
    assert found.verdict == "meet"
    assert abs(found.at - 100) <= 3 and abs(found.until - 200) <= 20


def test_differences_within_tolerance_do_not_count() -> None:
    """With the same data order the curves have no noise of their own, but rounding differs."""
    reference = curve(200, 1, 0.1)
    assert parting(reference, [one * 1.015 for one in reference]).verdict == "alike"
    assert parting(reference, [one * 1.03 for one in reference]).verdict == "apart"


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_a_run_that_ends_in_no_numbers_is_found(value: float) -> None:
    left, right = curve(100, 1, 0.02), curve(100, 2, 0.02)
    right[70:] = [value] * 30
    assert parting(left, right).verdict == "not_finite" and parting(left, right).at == 70
    left[70:] = [value] * 30
    assert parting(left, right).verdict == "alike"


def test_few_values_give_no_verdict() -> None:
    assert parting([1.0] * (FEW - 1), [2.0] * (FEW - 1)).verdict == "few"
    assert parting([], []).verdict == "few"


def test_the_first_value_differs_beyond_noise_only() -> None:
    left, right = curve(100, 1, 0.05), curve(100, 2, 0.05)
    assert not first_differs(left, right)
    right[0] = 2 * left[0]
    assert first_differs(left, right)
    assert not first_differs([1.0, math.nan], [1.01, 1.0])
    assert not first_differs([], [])


@pytest.mark.parametrize("values", [[0.0] * 50, [-1.0] * 50, [1e200] * 50])
def test_constant_curves_are_alike(values: list[float]) -> None:
    assert parting(values, values).verdict == "alike"
