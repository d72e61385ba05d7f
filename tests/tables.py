"""Thousands of small cases as one test: pytest spends more on a test than many of them on their assertion."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

T = TypeVar("T")


def for_all(cases: Mapping[str, T]) -> Callable[[Callable[[T], None]], Callable[[], None]]:
    """Turn the test of one case into a test of all these cases, which fails with the names of those that fail."""

    def decorated(test: Callable[[T], None]) -> Callable[[], None]:
        def test_of_all() -> None:
            assert cases, "there are no cases"
            wrong = []
            for name, case in cases.items():
                try:
                    test(case)
                except AssertionError as error:
                    wrong.append(f"{name}: {error}")
            assert not wrong, "\n".join(wrong)

        test_of_all.__doc__ = test.__doc__
        return test_of_all

    return decorated
