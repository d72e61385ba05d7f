"""Recursion over cursors that always terminates, whatever the depth and the cycles of the analysed code."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, TypeVar, cast

from npulint.assemble.context import Context

_F = TypeVar("_F", bound=Callable[..., Any])


class Cursor(Protocol):
    """Anything hashable that knows the project that it belongs to."""

    @property
    def context(self) -> Context: ...


def walker(depth: int, otherwise: Callable[[], Any]) -> Callable[[_F], _F]:
    """Decorates a recursive function whose first argument is a cursor: beyond `depth` nested calls, and for a cursor
    that is already being evaluated, the result is `otherwise()`."""

    def decorate(function: _F) -> _F:
        def walk(cursor: Cursor, *args: Any) -> Any:
            active: set[object] = cursor.context.walks.setdefault(walk, set())
            if len(active) >= depth or cursor in active:
                return otherwise()
            active.add(cursor)
            try:
                return function(cursor, *args)
            finally:
                active.discard(cursor)

        walk.__doc__ = function.__doc__
        return cast(_F, walk)

    return decorate
