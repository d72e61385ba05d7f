"""Conditions on values, answered yes, no or unknown (True, False, None)."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from npulint.facts.code import Scalar
from npulint.facts.values import Known

Answer = bool | None


def holds(condition: Any, value: Any) -> Answer:
    """Whether `value` (a `Known`, plain text or number, or None for absent) meets a condition of a check."""
    if isinstance(condition, dict) and isinstance(value, Known) and value.exact and len(value.values) > 1:
        answers = {holds(condition, Known((v,), True, value.symbol)) for v in value.values}
        if len(answers) == 1:
            return answers.pop()
    if isinstance(condition, dict):
        return _and([_operator(name, operand, value) for name, operand in condition.items()])
    if condition == "present":
        return value is not None
    if condition == "absent":
        return value is None
    if condition == "known":
        return (isinstance(value, str | int | float) and value != "unknown") or (isinstance(value, Known) and value.exact)
    if condition == "unknown":
        return value == "unknown" or (isinstance(value, Known) and not value.exact)
    return _each(value, lambda v: _equal(v, condition))


def _operator(name: str, operand: Any, value: Any) -> Answer:
    if name == "not":
        answer = holds(operand, value)
        return None if answer is None else not answer
    if name == "maybe":
        return holds(operand, value) is not False
    if name == "one_of":
        return _or([holds(option, value) for option in operand])
    if name == "all":
        return _and([holds(option, value) for option in operand])
    if name == "contains":
        return _each(value, lambda v: isinstance(v, str) and str(operand) in v)
    if name == "matches":
        pattern = _compiled(operand)
        return _each(value, lambda v: isinstance(v, str) and pattern.search(v[:4096]) is not None)
    return _each(value, lambda v: _ordered(name, v, operand))


@lru_cache(maxsize=512)
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def _each(value: Any, test: Callable[[Scalar], bool]) -> Answer:
    """All possible values pass: yes; none does and there are no others: no; else unknown."""
    if not isinstance(value, Known):
        return test(value)
    answers = {test(v) for v in value.values}
    if not value.exact or not answers:
        return None
    return answers.pop() if len(answers) == 1 else None


def _equal(value: Scalar, wanted: Any) -> bool:
    if isinstance(value, bool) or isinstance(wanted, bool):
        return value is wanted
    return bool(value == wanted)


def _ordered(name: str, value: Scalar, bound: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    limit = float(bound)
    if name == "lt":
        return value < limit
    if name == "le":
        return value <= limit
    return value > limit if name == "gt" else value >= limit


def _and(answers: list[Answer]) -> Answer:
    return False if False in answers else None if None in answers else True


def _or(answers: list[Answer]) -> Answer:
    return True if True in answers else None if None in answers else False
