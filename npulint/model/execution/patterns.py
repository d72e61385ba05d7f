"""Patterns of ``match``."""

from __future__ import annotations

import ast
from typing import Final

from npulint.model.abstract_values.heap import key_of
from npulint.model.abstract_values.hosted import Unhosted, hosted
from npulint.model.abstract_values.value import ABSENT, UNKNOWN, Const, Obj, Value, const, joined
from npulint.model.execution import attributes, expressions, items
from npulint.model.execution.exceptions import attribute_or_absent
from npulint.model.execution.machine import Machine
from npulint.model.execution.names import bind
from npulint.model.execution.truth import truth

Captures = dict[str, Value]
"""The names that a pattern binds once all of it has matched."""


def bind_all(m: Machine, captures: Captures) -> None:
    """Bind what a pattern has captured."""
    for name, value in captures.items():
        bind(m, name, value)


def matches(m: Machine, pattern: ast.pattern, subject: Value, captures: Captures) -> bool | None:
    """Whether a pattern matches; None if that is not known. Adds what it captures."""
    if isinstance(pattern, ast.MatchValue):
        return truth(m, expressions.compare(m, ast.Eq(), subject, m.evaluate(pattern.value)))
    if isinstance(pattern, ast.MatchSingleton):
        return truth(m, expressions.compare(m, ast.Is(), subject, const(pattern.value)))
    if isinstance(pattern, ast.MatchAs):
        answer = True if pattern.pattern is None else matches(m, pattern.pattern, subject, captures)
        if answer is not False and pattern.name is not None:
            captures[pattern.name] = subject
        return answer
    if isinstance(pattern, ast.MatchOr):
        return _first_of(m, pattern, subject, captures)
    if isinstance(pattern, ast.MatchSequence):
        return _sequence(m, pattern, subject, captures)
    if isinstance(pattern, ast.MatchMapping):
        return _mapping(m, pattern, subject, captures)
    if isinstance(pattern, ast.MatchClass):
        return _class(m, pattern, subject, captures)
    return None


def _first_of(m: Machine, pattern: ast.MatchOr, subject: Value, captures: Captures) -> bool | None:
    """Whether one of several patterns matches; the first that does captures."""
    possible: list[Captures] = []
    result: bool | None = False
    for part in pattern.patterns:
        own: Captures = {}
        answer = matches(m, part, subject, own)
        if answer is False:
            continue
        possible.append(own)
        result = answer
        if answer:
            break
    for name in {name for own in possible for name in own}:
        captures[name] = joined([own.get(name, UNKNOWN) for own in possible])
    return result


def _all(answers: list[bool | None]) -> bool | None:
    return False if False in answers else None if None in answers else True


def _capture_all(m: Machine, pattern: ast.pattern, subject: Value, captures: Captures) -> None:
    """Capture parts of a value that are not known, which may be changed through their names."""
    m.unseen("", [subject])
    for part in ast.walk(pattern):
        name = getattr(part, "rest" if isinstance(part, ast.MatchMapping) else "name", None)
        if isinstance(part, ast.pattern) and name:
            captures[name] = UNKNOWN


def _sequence(m: Machine, pattern: ast.MatchSequence, subject: Value, captures: Captures) -> bool | None:
    alternative = subject.single
    held = items.builtin_part(alternative) if isinstance(alternative, (Const, Obj)) else None
    if isinstance(held, Const) and isinstance(held.value, range):
        _capture_all(m, pattern, subject, captures)
        return None
    if isinstance(held, Const) or (isinstance(held, Obj) and held.kind in ("dict", "set")):
        return False
    content = m.heap.items_of(held) if isinstance(held, Obj) and held.kind in ("list", "tuple") else None
    if content is None or content.items is None:
        _capture_all(m, pattern, subject, captures)
        return None
    values = content.items
    star = next((index for index, part in enumerate(pattern.patterns) if isinstance(part, ast.MatchStar)), None)
    if star is None:
        if len(values) != len(pattern.patterns):
            return False
        return _all([matches(m, part, value, captures) for part, value in zip(pattern.patterns, values, strict=True)])
    after = len(pattern.patterns) - star - 1
    if len(values) < star + after:
        return False
    rest = pattern.patterns[star]
    assert isinstance(rest, ast.MatchStar)
    if rest.name is not None:
        captures[rest.name] = m.heap.sequence("list", values[star : len(values) - after])
    parts = [*pattern.patterns[:star], *pattern.patterns[star + 1 :]]
    kept = [*values[:star], *values[len(values) - after :]]
    return _all([matches(m, part, value, captures) for part, value in zip(parts, kept, strict=True)])


def _mapping(m: Machine, pattern: ast.MatchMapping, subject: Value, captures: Captures) -> bool | None:
    alternative = subject.single
    held = items.builtin_part(alternative) if isinstance(alternative, (Const, Obj)) else None
    if isinstance(held, Const) or (isinstance(held, Obj) and held.kind in ("list", "tuple", "set")):
        return False
    if not isinstance(held, Obj) or held.kind != "dict":
        _capture_all(m, pattern, subject, captures)
        return None
    answers: list[bool | None] = []
    for key, part in zip(pattern.keys, pattern.patterns, strict=True):
        name = m.evaluate(key).single
        plain_key = key_of(name, m.heap) if isinstance(name, (Const, Obj)) else None
        value = UNKNOWN if plain_key is None else m.heap.get(held, plain_key)
        if value.single is ABSENT:
            return False
        answer = matches(m, part, value.without(ABSENT), captures)
        answers.append(None if answer and value.may_be_absent else answer)
    if pattern.rest is not None:
        captures[pattern.rest] = items.copy_of(m, held)
        for key in pattern.keys:
            items.delete_item(m, captures[pattern.rest], m.evaluate(key))
    return _all(answers)


def _class(m: Machine, pattern: ast.MatchClass, subject: Value, captures: Captures) -> bool | None:
    answer = truth(m, m.call_library_values("builtins.isinstance", [subject, m.evaluate(pattern.cls)]))
    if answer is False:
        return False
    cls = m.evaluate(pattern.cls).single
    if len(pattern.patterns) == 1 and not pattern.kwd_patterns and isinstance(cls, Obj) and cls.name in _WHOLE:
        return _all([answer, matches(m, pattern.patterns[0], subject, captures)])
    positional = _positional_names(m, cls) if pattern.patterns else []
    if positional is None or len(positional) < len(pattern.patterns):
        _capture_all(m, pattern, subject, captures)
        return None
    names = [*positional[: len(pattern.patterns)], *pattern.kwd_attrs]
    answers: list[bool | None] = [answer]
    for name, part in zip(names, [*pattern.patterns, *pattern.kwd_patterns], strict=True):
        single = subject.single
        value = attribute_or_absent(m, single, name) if isinstance(single, (Const, Obj)) else UNKNOWN
        if value.single is ABSENT:
            return False
        if value.may_be_absent:
            answers.append(None)
            value = value.without(ABSENT)
        answers.append(matches(m, part, value, captures))
    return _all(answers)


_WHOLE: Final = frozenset(f"builtins.{name}" for name in ("int", "str", "float", "bool", "dict", "list", "tuple"))
"""Classes whose pattern with one position matches the subject itself."""


def _positional_names(m: Machine, cls: object) -> list[str] | None:
    """The attributes that the positions of a pattern of a class mean; None if they are not known."""
    if not isinstance(cls, Obj) or cls.kind != "class" or m.class_extends_unseen(cls):
        return None
    named, _ = attributes.class_attribute(m, cls, "__match_args__")
    if named.single is not ABSENT:
        try:
            given = hosted(named, m.heap)
        except Unhosted:
            return None
        return [str(name) for name in given] if isinstance(given, tuple) else None
    record = next((m.records[base] for base in m.mro(cls) if base in m.records), None)
    return (
        None
        if record is None
        else [field.name for field in record.fields if field.is_argument and not field.keyword_only]
    )
