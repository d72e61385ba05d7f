"""A test of many cases fails with all those that are wrong, and only with them."""

from __future__ import annotations

import pytest

from tests.tables import for_all


def test_all_cases_that_are_wrong_are_named() -> None:
    seen = []

    @for_all({"one": 1, "two": 2, "three": 3})
    def small(case: int) -> None:
        """Whether it is small."""
        seen.append(case)
        assert case < 2, f"{case} is too large"

    with pytest.raises(AssertionError, match=r"(?s)two.*2 is too large.*three.*3 is too large") as failed:
        small()
    assert "one" not in str(failed.value)
    assert seen == [1, 2, 3]
    assert small.__doc__ == "Whether it is small."


def test_other_errors_are_not_taken_for_a_wrong_case() -> None:
    @for_all({"one": 0})
    def divided(case: int) -> None:
        assert 1 / case

    with pytest.raises(ZeroDivisionError):
        divided()


def test_no_cases_are_no_test() -> None:
    @for_all({})
    def never(case: object) -> None:
        """Nothing."""

    with pytest.raises(AssertionError):
        never()
