"""Attributes of facts: what checks may ask, worked out when first asked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, Literal, TypeVar, overload

_T = TypeVar("_T")
Flag = Literal["yes", "no", "unknown"]
"""An answer that may be unknown; attributes that always know are plain ``bool``."""


class attribute(Generic[_T]):
    """Marks a method of a fact class as an attribute that checks may ask for; its docstring explains it to their
    authors, its return type (``Literal``, ``bool``, `Flag`) names the words that it may hold. The answer is worked out
    once. `name` is given where the attribute's is a keyword of Python."""

    def __init__(self, work: Callable[[Any], _T], name: str = "") -> None:
        self.work = work
        self.name = name or work.__name__
        self.__doc__ = work.__doc__

    @overload
    def __get__(self, fact: None, owner: type) -> attribute[_T]: ...
    @overload
    def __get__(self, fact: object, owner: type) -> _T: ...
    def __get__(self, fact: object, owner: type) -> attribute[_T] | _T:
        """The answer of a fact, remembered in its ``__dict__``, which is asked first from then on."""
        if fact is None:
            return self
        answer = fact.__dict__[self.name] = self.work(fact)
        return answer


def flag(answer: bool | None) -> Flag:
    """``yes``, ``no``, or ``unknown`` for None."""
    return "unknown" if answer is None else "yes" if answer else "no"
