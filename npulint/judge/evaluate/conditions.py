"""Three-valued conditions on values: True, False, or None for unknown."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from npulint.core.lazy_regex import lazy_compile
from npulint.facts.code import Scalar
from npulint.facts.values import PossibleValues

Answer = bool | None
Test = Callable[[Any], Answer]


def tester(condition: Any) -> Test:
    """The test for a condition of a check: from a value (`PossibleValues`, text, number, or None if absent) to an
    answer."""
    if isinstance(condition, dict):
        return _operators([_operator(name, operand) for name, operand in condition.items()])
    if isinstance(condition, str):
        return _WORDS.get(condition) or _text(condition)
    return _each(lambda value: _equal(value, condition))


_WORDS: dict[str, Test] = {
    "present": lambda value: value is not None,
    "absent": lambda value: value is None,
    "known": lambda value: (
        value.exact
        if isinstance(value, PossibleValues)
        else isinstance(value, str | int | float) and value != "unknown"
    ),
    "unknown": lambda value: not value.exact if isinstance(value, PossibleValues) else bool(value == "unknown"),
}


def _operators(tests: list[Test]) -> Test:
    """The conjunction of `tests`; if several possible values each pass or each fail, the answer is certain."""

    def test(value: Any) -> Answer:
        if isinstance(value, PossibleValues) and value.exact and len(value.values) > 1:
            answers = {test(PossibleValues((v,), True, value.symbol)) for v in value.values}
            if len(answers) == 1:
                return answers.pop()
        return both(operator(value) for operator in tests)

    return test


def _operator(name: str, operand: Any) -> Test:
    if name in ("not", "maybe"):
        inner = tester(operand)
        if name == "not":
            return lambda value: opposite(inner(value))
        return lambda value: inner(value) is not False
    if name in ("one_of", "all"):
        tests = [tester(option) for option in operand]
        join = either if name == "one_of" else both
        return lambda value: join([test(value) for test in tests])
    if name == "contains":
        part = str(operand)
        return _each(lambda value: isinstance(value, str) and part in value)
    if name == "matches":
        pattern = lazy_compile(operand)
        return _each(lambda value: isinstance(value, str) and pattern.search(value[:4096]) is not None)
    return _each(lambda value: _ordered(name, value, operand))


def _text(expected: str) -> Test:
    """Equality with a text, the most frequent condition."""
    each = _each(lambda value: value == expected)
    return lambda value: value == expected if isinstance(value, str) else each(value)


def _each(test: Callable[[Scalar], bool]) -> Test:
    """A test of possible values: True if all pass, False if none can, else None."""

    def answer(value: Any) -> Answer:
        if not isinstance(value, PossibleValues):
            return test(value)
        answers = {test(v) for v in value.values}
        return answers.pop() if value.exact and len(answers) == 1 else None

    return answer


def _equal(value: Scalar, expected: Any) -> bool:
    if isinstance(value, bool) or isinstance(expected, bool):
        return value is expected
    return bool(value == expected)


def _ordered(name: str, value: Scalar, bound: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    limit = float(bound)
    if name == "lt":
        return value < limit
    if name == "le":
        return value <= limit
    return value > limit if name == "gt" else value >= limit


def opposite(answer: Answer) -> Answer:
    """Not; None stays None."""
    return None if answer is None else not answer


def both(answers: Iterable[Answer]) -> Answer:
    """And of any number of answers; those after the first False are not asked for."""
    return _until(False, answers)


def either(answers: Iterable[Answer]) -> Answer:
    """Or of any number of answers; those after the first True are not asked for."""
    return _until(True, answers)


def _until(decisive: bool, answers: Iterable[Answer]) -> Answer:
    doubt = False
    for answer in answers:
        if answer is decisive:
            return decisive
        doubt = doubt or answer is None
    return None if doubt else not decisive
