"""Attributes of facts: the values that checks query, computed on demand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, Literal, TypeVar, overload

_T = TypeVar("_T")
Flag = Literal["yes", "no", "unknown"]
"""A yes/no value that may be unknown; attributes that are always known are plain ``bool``."""


class attribute(Generic[_T]):
    """Marks a method of a fact class as an attribute that checks can query, computed once. The docstring of the method
    documents it for authors of checks; its return type (``Literal``, ``bool``, `Flag`) lists the possible values.
    `name` is the attribute's name if that is a Python keyword."""

    def __init__(self, work: Callable[[Any], _T], name: str = "") -> None:
        self.work = work
        self.name = name or work.__name__
        self.__doc__ = work.__doc__

    @overload
    def __get__(self, fact: None, owner: type) -> attribute[_T]: ...
    @overload
    def __get__(self, fact: object, owner: type) -> _T: ...
    def __get__(self, fact: object, owner: type) -> attribute[_T] | _T:
        """The attribute's value, cached in the ``__dict__`` of the fact, which Python looks at first from then on."""
        if fact is None:
            return self
        answer = fact.__dict__[self.name] = self.work(fact)
        return answer


def flag(answer: bool | None) -> Flag:
    """``yes``, ``no``, or ``unknown`` for None."""
    return "unknown" if answer is None else "yes" if answer else "no"
