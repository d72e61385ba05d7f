"""Recursion over cursors that always ends: neither depth nor circles in the code under analysis can spoil it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

from npulint.assemble.cursors import CallSite, Expr, Scope

_F = TypeVar("_F", bound=Callable[..., Any])
Cursor = Scope | CallSite | Expr


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
