"""Recursion over cursors that always ends: neither depth nor circles in the code under analysis can spoil it."""

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
    """Lets a function whose first argument is a cursor call itself safely: below `depth` nested calls, and where it
    comes back to a cursor that it is already asking about, the answer is `otherwise()`."""

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
