"""What tests measure work with tells linear from quadratic."""

from __future__ import annotations

import pytest

from tests.growth import assert_linear


def test_linear_work_is_let_through() -> None:
    assert_linear(range, lambda numbers: sum(number * 2 for number in numbers), 400_000)


@pytest.mark.slow
def test_quadratic_work_is_seen() -> None:
    with pytest.raises(AssertionError, match="4 times the input took"):
        assert_linear(range, lambda numbers: [sum(numbers) for _ in numbers], 4_000)
