"""The record that checks query: one fact, whatever input it came from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Protocol

import msgspec

from npulint.facts.attributes import attribute
from npulint.facts.code import Code, Scalar
from npulint.facts.graph import Graph
from npulint.facts.values import PossibleValues

_PLAIN = frozenset(("name", "path", "span", "call", "scope", "assignment", "record"))  # of all facts, or handles


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

    def argument_value(self, name: str, position: int) -> PossibleValues | None:
        """The value given by keyword or position (-1: keyword only); None when it is not given."""

    @property
    def starred(self) -> bool:
        """Whether ``*args`` or ``**kwargs`` may give more than is seen."""


class Surroundings(Protocol):
    """What may be asked about the place of a fact in its code."""

    def get(self, attribute: str) -> Any:
        """The answer, or None when the attribute is none of the place's."""


class Fact(msgspec.Struct, eq=False, dict=True):
    """One thing that holds at one place: all that a check sees. Each kind of fact is a subclass (see
    `npulint.facts.kinds`), whose fields and `attribute` methods are what checks may ask about it. `name` is the
    canonical name, setting key, variable or operator that it is about."""

    is_call: ClassVar[bool] = False
    """Whether the facts are calls, so that checks may ask for their arguments."""

    if TYPE_CHECKING:

        @property
        def kind(self) -> str: ...
        @property
        def name(self) -> str: ...
        @property
        def path(self) -> str: ...
        @property
        def span(self) -> Span: ...
        @property
        def attrs(self) -> dict[str, Any]: ...

    @property
    def args(self) -> Any:
        """The `Arguments` of a call; None for facts that are no calls."""
        return None

    @property
    def around(self) -> Any:
        """The block of code that it stands in; None for facts that are not from Python code."""
        return None

    def get(self, attribute: str) -> Any:
        """An attribute's value as checks see it (``yes`` and ``no`` for bool), or None when the fact has none of this
        name."""
        value = getattr(self, attribute, None) if attribute in type(self).attribute_names() else None
        return ("no", "yes")[value] if isinstance(value, bool) else value

    def get_text(self, attribute: str) -> str:
        """An attribute's value if it is a text, else nothing."""
        value = self.get(attribute)
        return value if isinstance(value, str) else ""

    def own_attributes(self) -> list[str]:
        """The names of the attributes that this fact has, without those that all facts from Python code have."""
        return [name for name in sorted(self.attribute_names()) if self.get(name) is not None]

    @classmethod
    def attribute_names(cls) -> frozenset[str]:
        """The names of the attributes that checks may ask for: the methods marked `attribute` and the fields that
        subclasses declare, but for those that begin with an underscore."""
        names: frozenset[str] | None = cls.__dict__.get("_attribute_names")
        if names is None:
            members = ((name, member) for base in cls.__mro__ for name, member in vars(base).items())
            marked = {name for name, member in members if isinstance(member, attribute)}
            fields = {name for name in cls.__struct_fields__ if not name.startswith("_")}
            names = frozenset(marked | fields) - _PLAIN
            cls._attribute_names = names  # type: ignore[attr-defined]
        return names


class GenericFact(Fact, eq=False):
    """A fact of any kind, its attributes in a table. A callable among them stands for an answer that is worked out
    on demand. `arguments` are a call's, `around` answers for the place (active, in_input, in_loop …)."""

    kind: str
    name: str
    path: str
    span: Span
    attrs: dict[str, Any] = {}
    arguments: Any = None
    around: Any = None

    @property
    def args(self) -> Any:
        """See `Fact.args`."""
        return self.arguments

    def own_attributes(self) -> list[str]:
        """See `Fact.own_attributes`."""
        return sorted(self.attrs)

    def get(self, attribute: str) -> Any:
        """See `Fact.get`."""
        value = self.attrs.get(attribute)
        if callable(value):
            value = self.attrs[attribute] = value()
        elif value is None and self.around is not None:
            value = self.around.get(attribute)
        return value


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
    if TYPE_CHECKING:
        facts: list[Fact] = []
    else:
        facts: list[GenericFact] = []  # as which the cache decodes them
    problems: list[Problem] = []
    comments: list[Comment] = []
    graph: Graph | None = None


__all__ = ["Arguments", "Comment", "Fact", "FileFacts", "GenericFact", "Problem", "Scalar", "Span", "Surroundings"]
