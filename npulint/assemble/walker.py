"""Recursion over cursors that always ends: neither depth nor circles in the code under analysis can spoil it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, TypeVar, cast

from npulint.assemble.context import Context

_F = TypeVar("_F", bound=Callable[..., Any])


class Cursor(Protocol):
    """A block, a call or an expression at its place."""

    @property
    def context(self) -> Context:
        """The project that it belongs to."""


class _Walk:
    """The calls of one function that are under way: their cursors, and how many there were since the outermost."""

    __slots__ = ("active", "steps")

    def __init__(self) -> None:
        self.active: set[object] = set()
        self.steps = 0


def walker(
    depth: int,
    otherwise: Callable[[], Any],
    steps: int = 1 << 30,
    key: Callable[[Any], object] = lambda cursor: cursor,
) -> Callable[[_F], _F]:
    """Lets a function whose first argument is a cursor call itself safely: below `depth` nested calls, after `steps`
    calls for one question, and where it comes back to a cursor that it is already asking about (to one of the same
    `key`), the answer is `otherwise()`."""

    def decorate(function: _F) -> _F:
        def walk(cursor: Cursor, *args: Any) -> Any:
            walks = cursor.context.walks
            state = walks.get(walk)
            if state is None:
                state = walks[walk] = _Walk()
            active = state.active
            state.steps = state.steps + 1 if active else 0
            if len(active) >= depth or state.steps > steps or cursor in active:
                return otherwise()
            active.add(cursor)
            try:
                return function(cursor, *args)
            finally:
                active.discard(cursor)

        walk.__doc__ = function.__doc__
        return cast(_F, walk)

    return decorate


def memoized(meanwhile: Callable[[], Any]) -> Callable[[_F], _F]:
    """Lets a function of one cursor work out its answer once for each cursor of a project. Where it comes back to a
    cursor whose answer it is still working out, the answer is `meanwhile()`."""

    def decorate(function: _F) -> _F:
        def answer(cursor: Cursor) -> Any:
            known: dict[object, Any] = cursor.context.answers.setdefault(answer, {})
            if cursor not in known:
                known[cursor] = meanwhile()
                known[cursor] = function(cursor)
            return known[cursor]

        answer.__doc__ = function.__doc__
        return cast(_F, answer)

    return decorate
