"""Recursion over cursors that always terminates, whatever the depth and the cycles of the analysed code."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, TypeVar, cast

from npulint.model.code.recursion import Cuts, Recursion
from npulint.model.values.context import Context

_F = TypeVar("_F", bound=Callable[..., Any])
_MISSING = object()
DEPTH = 80
"""How many questions of one kind may be asked within each other by default; each takes several calls of Python."""


class Cursor(Protocol):
    """Anything hashable that knows the project that it belongs to."""

    @property
    def context(self) -> Context: ...


def walker(
    depth: int,
    otherwise: Callable[[], Any],
    steps: int = 1 << 30,
    key: Callable[[Any], object] | None = None,
    kept: bool = False,
) -> Callable[[_F], _F]:
    """Decorates a recursive function whose first argument is a cursor: beyond `depth` nested calls, and for a cursor
    that is already being evaluated, the result is `otherwise()`. With `kept`, answers are kept for the next time,
    outside of situations (`Context.assumed`), and as long as what such a limit has cut in them does not change. Do not
    modify what is kept."""

    def decorate(function: _F) -> _F:
        def walk(cursor: Cursor, *args: Any) -> Any:
            recursion = cursor.context.walks.get(walk)
            if recursion is None:
                recursion = cursor.context.walks[walk] = Recursion(depth, steps)
            question = cursor if key is None else key(cursor)
            active = recursion.active  # as `Recursion.enter` and `leave`, which cost more than many walks
            recursion.count = recursion.count + 1 if active else 0
            if len(active) >= depth or recursion.count > steps or question in active:
                recursion.cut(question, kept)
                return otherwise()
            active[question] = Cuts.open
            try:
                return function(cursor, *args)
            finally:
                active.pop(question, None)

        decorated = _kept(walk, otherwise) if kept else walk
        decorated.__doc__ = function.__doc__
        return cast(_F, decorated)

    return decorate


def _kept(walk: Callable[..., Any], otherwise: Callable[[], Any]) -> Callable[..., Any]:
    """A walk whose answers are kept. They depend on nothing but the project, whatever is being asked around: answers
    that a cut may have changed are kept only as long as they would be the same. Without them, code in which all
    functions call each other would be walked along each of its paths."""

    def answer(cursor: Cursor, *args: Any) -> Any:
        context = cursor.context
        if context.assumed:
            return walk(cursor, *args)
        answers = context.answers.get(answer)
        if answers is None:
            answers = context.answers[answer] = {}
        question = (cursor, *args) if args else cursor
        worked_out = answers.get(question, _MISSING)
        if worked_out is not _MISSING:
            if context.provisional:
                context.note_use(answers, question)
            return worked_out
        number, outer = Cuts.begin()
        try:
            worked_out = walk(cursor, *args)
        finally:
            lowest = Cuts.end(number, outer)
        if number or lowest >= 0:
            answers[question] = worked_out
        if lowest < number or Cuts.assumed or Cuts.limited:
            context.settle(answers, question, number, lowest, worked_out == otherwise())
        return worked_out

    return answer


def memoized(meanwhile: Callable[[], Any]) -> Callable[[_F], _F]:
    """Lets a function of one cursor work out its answer once for each cursor of a project. Where it comes back to a
    cursor whose answer it is still working out, or would work out more than `DEPTH` answers within each other, the
    answer is `meanwhile()`. Answers that such a cut may have changed are not kept longer than they hold: they would
    depend on what was asked first."""

    def decorate(function: _F) -> _F:
        pending: dict[object, int] = {}

        def answer(cursor: Cursor) -> Any:
            context = cursor.context
            cached: dict[object, Any] | None = context.answers.get(answer)
            if cached is None:
                cached = context.answers[answer] = {}
            elif cursor in cached:
                if Cuts.open and cursor in pending:
                    Cuts.at(pending[cursor], is_own=True)
                elif context.provisional:
                    context.note_use(cached, cursor)
                return cached[cursor]
            if len(pending) >= DEPTH:
                Cuts.at(next(iter(pending.values())), is_own=False)
                return meanwhile()
            assumed = cached[cursor] = meanwhile()
            number, outer = Cuts.begin()
            pending[cursor] = number
            try:
                worked_out = cached[cursor] = function(cursor)
            finally:
                pending.pop(cursor, None)
                lowest = Cuts.end(number, outer)
                if lowest < number or Cuts.assumed or Cuts.limited:
                    context.settle(cached, cursor, number, lowest, cached[cursor] == assumed)
            return worked_out

        answer.__doc__ = function.__doc__
        return cast(_F, answer)

    return decorate
