"""Patterns of ``match``."""

from __future__ import annotations

import ast

from npulint.running import attributes, expressions, items
from npulint.running.machine import Machine
from npulint.running.names import bind
from npulint.running.truth import truth
from npulint.values.heap import key_of
from npulint.values.value import ABSENT, UNKNOWN, Const, Obj, Value, const


def matches(m: Machine, pattern: ast.pattern, subject: Value) -> bool | None:
    """Whether a pattern matches; None if that is not known. Binds what it captures where it may match."""
    if isinstance(pattern, ast.MatchValue):
        return truth(m, expressions.compare(m, ast.Eq(), subject, m.evaluate(pattern.value)))
    if isinstance(pattern, ast.MatchSingleton):
        return truth(m, expressions.compare(m, ast.Is(), subject, const(pattern.value)))
    if isinstance(pattern, ast.MatchAs):
        answer = True if pattern.pattern is None else matches(m, pattern.pattern, subject)
        if answer is not False and pattern.name is not None:
            bind(m, pattern.name, subject)
        return answer
    if isinstance(pattern, ast.MatchOr):
        return _any([matches(m, part, subject) for part in pattern.patterns])
    if isinstance(pattern, ast.MatchSequence):
        return _sequence(m, pattern, subject)
    if isinstance(pattern, ast.MatchMapping):
        return _mapping(m, pattern, subject)
    if isinstance(pattern, ast.MatchClass):
        return _class(m, pattern, subject)
    return None


def _any(answers: list[bool | None]) -> bool | None:
    return True if True in answers else None if None in answers else False


def _all(answers: list[bool | None]) -> bool | None:
    return False if False in answers else None if None in answers else True


def _capture_all(m: Machine, pattern: ast.pattern) -> None:
    for part in ast.walk(pattern):
        name = getattr(part, "rest" if isinstance(part, ast.MatchMapping) else "name", None)
        if isinstance(part, ast.pattern) and name:
            bind(m, name, UNKNOWN)


def _sequence(m: Machine, pattern: ast.MatchSequence, subject: Value) -> bool | None:
    one = subject.single
    held = items.builtin_part(one) if isinstance(one, (Const, Obj)) else None
    if isinstance(held, Const) or (isinstance(held, Obj) and held.kind in ("dict", "set")):
        return False
    content = m.heap.items_of(held) if isinstance(held, Obj) and held.kind in ("list", "tuple") else None
    if content is None or content.items is None:
        _capture_all(m, pattern)
        return None
    values = content.items
    star = next((index for index, part in enumerate(pattern.patterns) if isinstance(part, ast.MatchStar)), None)
    if star is None:
        if len(values) != len(pattern.patterns):
            return False
        return _all([matches(m, part, value) for part, value in zip(pattern.patterns, values, strict=True)])
    after = len(pattern.patterns) - star - 1
    if len(values) < star + after:
        return False
    rest = pattern.patterns[star]
    assert isinstance(rest, ast.MatchStar)
    if rest.name is not None:
        bind(m, rest.name, m.heap.sequence("list", values[star : len(values) - after]))
    parts = [*pattern.patterns[:star], *pattern.patterns[star + 1 :]]
    kept = [*values[:star], *values[len(values) - after :]]
    return _all([matches(m, part, value) for part, value in zip(parts, kept, strict=True)])


def _mapping(m: Machine, pattern: ast.MatchMapping, subject: Value) -> bool | None:
    one = subject.single
    held = items.builtin_part(one) if isinstance(one, (Const, Obj)) else None
    if isinstance(held, Const) or (isinstance(held, Obj) and held.kind in ("list", "tuple", "set")):
        return False
    if not isinstance(held, Obj) or held.kind != "dict":
        _capture_all(m, pattern)
        return None
    answers: list[bool | None] = []
    for key, part in zip(pattern.keys, pattern.patterns, strict=True):
        name = m.evaluate(key).single
        known = key_of(name, m.heap) if isinstance(name, (Const, Obj)) else None
        value = UNKNOWN if known is None else m.heap.get(held, known)
        if value.single is ABSENT:
            return False
        answer = matches(m, part, value.without(ABSENT))
        answers.append(None if answer and value.may_be_absent else answer)
    if pattern.rest is not None:
        bind(m, pattern.rest, UNKNOWN)
    return _all(answers)


def _class(m: Machine, pattern: ast.MatchClass, subject: Value) -> bool | None:
    answer = truth(m, m.call_library_values("builtins.isinstance", [subject, m.evaluate(pattern.cls)]))
    if answer is False:
        return False
    if pattern.patterns:
        if len(pattern.patterns) == 1 and not pattern.kwd_patterns:
            one = m.evaluate(pattern.cls).single
            if isinstance(one, Obj) and one.name in (
                "builtins.int",
                "builtins.str",
                "builtins.float",
                "builtins.bool",
                "builtins.dict",
                "builtins.list",
                "builtins.tuple",
            ):
                inner = matches(m, pattern.patterns[0], subject)
                return _all([answer, inner])
        _capture_all(m, pattern)
        return None
    answers: list[bool | None] = [answer]
    for name, part in zip(pattern.kwd_attrs, pattern.kwd_patterns, strict=True):
        value = attributes.get(m, subject, name)
        answers.append(matches(m, part, value))
    return _all(answers)
