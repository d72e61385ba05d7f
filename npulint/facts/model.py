"""The record that checks query: one fact, whatever input it came from."""

from __future__ import annotations

from typing import Any, Protocol

import msgspec

from npulint.facts.code import Code, Scalar
from npulint.facts.graph import Graph
from npulint.facts.values import PossibleValues


class Span(msgspec.Struct, frozen=True, array_like=True, gc=False, order=True):
    """A place in a file. Lines and columns count from 1; the end column is exclusive."""

    line: int = 1
    column: int = 1
    end_line: int = 1
    end_column: int = 1

    @classmethod
    def at(cls, line: int) -> Span:
        """The beginning of a line, where no columns are known."""
        return cls(line, 1, line, 1)


class Arguments(Protocol):
    """The arguments of a call, worked out when asked for."""

    def get(self, name: str, position: int) -> PossibleValues | None:
        """The value given by keyword or position (-1: keyword only); None when it is not given."""

    def starred(self) -> bool:
        """Whether ``*args`` or ``**kwargs`` may give more than is seen."""


class Surroundings(Protocol):
    """What may be asked about the place of a fact in its code."""

    def get(self, attribute: str) -> Any:
        """The answer, or None when the attribute is none of the place's."""


class Fact(msgspec.Struct, frozen=True, eq=False):
    """One thing that is so, at one place.

    `kind` is a word of the vocabulary (docs/writing-checks.md), `name` the canonical name, setting key,
    variable or operator it is about. `attrs` holds what a check may ask about it; a callable stands
    for an answer that is worked out on demand (`get`). `args` are a call's arguments, `around` answers
    for the place (active, in_input, in_loop …). Facts from text readers hold plain values only.
    """

    kind: str
    name: str
    path: str
    span: Span
    attrs: dict[str, Any] = {}
    args: Any = None
    around: Any = None

    def get(self, attribute: str) -> Any:
        """An attribute's value, or None when the fact has no such attribute."""
        value = self.attrs.get(attribute)
        if callable(value):
            value = self.attrs[attribute] = value()
        elif value is None and self.around is not None:
            value = self.around.get(attribute)
        return value

    def text(self, attribute: str) -> str:
        """An attribute's value if it is a text, else nothing."""
        value = self.get(attribute)
        return value if isinstance(value, str) else ""


class Problem(msgspec.Struct, frozen=True):
    """Why a file, or a part of it, could not be read. `reason` is a key of the engine's texts
    (``syntax-error``, ``python2``, ``encoding``, ``too-large``, ``not-a-file``, ``unreadable``,
    ``too-deep``, ``json``); `detail` completes the message. `fatal` means that nothing of the file
    was read."""

    path: str
    reason: str
    detail: str = ""
    span: Span = Span()
    fatal: bool = True


class Comment(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A suppression comment: its line, whether it stands alone on it, and its text after ``#``."""

    line: int
    alone: bool
    text: str


class FileFacts(msgspec.Struct, frozen=True):
    """Everything read from one file; the unit of the cache.

    `kind` is one of python, notebook, shell, mixlist, dependency, dockerfile, cuda, configuration, graph, other. Python
    and notebooks carry `code`, graphs their `graph`, the other kinds carry `facts`; `comments` are suppressions.
    """

    path: str
    kind: str
    code: Code | None = None
    facts: list[Fact] = []
    problems: list[Problem] = []
    comments: list[Comment] = []
    graph: Graph | None = None


__all__ = ["Arguments", "Comment", "Fact", "FileFacts", "Problem", "Scalar", "Span", "Surroundings"]
