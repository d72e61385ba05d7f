"""Partial functions: a function with arguments; those by keyword stand in a dict that the program may change."""

from __future__ import annotations

from npulint.model.abstract_values.value import UNKNOWN, Obj, Value
from npulint.model.execution.machine import Arguments, Machine


def make_partial(m: Machine, function: Value, given: Arguments) -> Value:
    """What ``functools.partial`` gives for a function and its arguments."""
    made = m.heap.make("partial", data=(function, Arguments(given.positional, {}, given.rest, given.options)))
    made.items = m.heap.mapping(given.keywords.items())
    return Value((made,))


def function_of(partial: Obj) -> Value:
    """The function that a partial calls."""
    function: Value = partial.data[0]
    return function


def keywords_of(partial: Obj) -> Value:
    """The dict of the arguments that a partial passes by keyword."""
    assert partial.items is not None
    return partial.items


def given_by(m: Machine, partial: Obj) -> Arguments:
    """The arguments that a partial passes now."""
    given: Arguments = partial.data[1]
    keywords = keywords_of(partial).single
    if isinstance(keywords, Obj) and m.heap.is_exact(keywords):
        entries = {key: value for key, value in m.heap.entries(keywords) if isinstance(key, str)}
        if len(entries) == len(m.heap.layout_of(keywords).keys):
            return Arguments(given.positional, entries, given.rest, given.options)
    return Arguments(given.positional, {}, given.rest, UNKNOWN)
