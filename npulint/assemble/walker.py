"""Recursion over cursors that always terminates, whatever the depth and the cycles of the analysed code."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, TypeVar, cast

from npulint.assemble.context import Context
from npulint.assemble.recursion import Recursion

_F = TypeVar("_F", bound=Callable[..., Any])


class Cursor(Protocol):
    """Anything hashable that knows the project that it belongs to."""

    @property
    def context(self) -> Context: ...


def walker(
    depth: int,
    otherwise: Callable[[], Any],
    steps: int = 1 << 30,
    key: Callable[[Any], object] | None = None,
) -> Callable[[_F], _F]:
    """Decorates a recursive function whose first argument is a cursor: beyond `depth` nested calls, and for a cursor
    that is already being evaluated, the result is `otherwise()`."""

    def decorate(function: _F) -> _F:
        def walk(cursor: Cursor, *args: Any) -> Any:
            recursion = cursor.context.walks.get(walk)
            if recursion is None:
                recursion = cursor.context.walks[walk] = Recursion(depth, steps)
            question = cursor if key is None else key(cursor)
            active = recursion.active  # as `Recursion.enter` and `leave`, which cost more than many walks
            recursion.count = recursion.count + 1 if active else 0
            if len(active) >= depth or recursion.count > steps or question in active:
                return otherwise()
            active.add(question)
            try:
                return function(cursor, *args)
            finally:
                active.discard(question)

        walk.__doc__ = function.__doc__
        return cast(_F, walk)

    return decorate


def memoized(meanwhile: Callable[[], Any]) -> Callable[[_F], _F]:
    """Lets a function of one cursor work out its answer once for each cursor of a project. Where it comes back to a
    cursor whose answer it is still working out, the answer is `meanwhile()`."""

    def decorate(function: _F) -> _F:
        def answer(cursor: Cursor) -> Any:
            answers = cursor.context.answers
            known: dict[object, Any] | None = answers.get(answer)
            if known is None:
                known = answers[answer] = {}
            elif cursor in known:
                return known[cursor]
            known[cursor] = meanwhile()
            found = known[cursor] = function(cursor)
            return found

        answer.__doc__ = function.__doc__
        return cast(_F, answer)

    return decorate
