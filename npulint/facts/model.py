"""`Fact`, the record that checks query, and what is read from one file."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

import msgspec

from npulint.facts.attributes import attribute
from npulint.facts.code import Assignment, Call, Code, Import, NameUse, Scalar, TorchExpression
from npulint.facts.graph import Graph
from npulint.facts.values import PossibleValues

_PLAIN = frozenset(
    ("name", "path", "span", "call", "scope", "assignment", "record", "node_set")
)  # of all facts, or handles


class Span(msgspec.Struct, frozen=True, array_like=True, gc=False, order=True):
    """A place in a file. Lines and columns count from 1; the end column is exclusive."""

    line: int = 1
    column: int = 1
    end_line: int = 1
    end_column: int = 1

    @classmethod
    def at(cls, line: int) -> Span:
        """The beginning of a line, where the column is unknown."""
        return cls(line, 1, line, 1)

    @classmethod
    def of(cls, record: Call | Assignment | TorchExpression | NameUse | Import) -> Span:
        """The place of a record of Python code. Names and imports end on the line that they begin on."""
        end_line = record.line if isinstance(record, NameUse | Import) else record.end_line
        return cls(record.line, record.column, end_line, record.end_column)


class Arguments(Protocol):
    """The arguments of a call, evaluated on demand."""

    def argument_value(self, name: str, position: int) -> PossibleValues | None:
        """The value passed by keyword or position (-1: keyword only); None when the argument is absent."""

    @property
    def starred(self) -> bool:
        """Whether ``*args`` or ``**kwargs`` may pass more arguments than are visible."""


class Fact(msgspec.Struct, eq=False, dict=True):
    """One recognized thing at one place: all that a check sees. Each kind of fact is a subclass (see
    `npulint.facts.kinds`), whose fields and `attribute` methods are what checks can query. `name` is the canonical
    name, setting key, variable or operator that it is about."""

    is_call: ClassVar[bool] = False
    """Whether facts of the class are calls, whose arguments checks can query."""

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
    def is_editable(self) -> bool:
        """Whether its place in the source says it directly, so that an edit there changes it and nothing else."""
        return True

    @property
    def args(self) -> Any:
        """The `Arguments` of a call; None for other facts."""
        return None

    @property
    def scope(self) -> Any:
        """The block of Python code that it is in (`npulint.model.values.cursors.Scope`); None for other facts."""
        return None

    @property
    def used_by(self) -> Fact | None:
        """Of what a file says, the fact of the code that surely takes it from there; None where none is known."""
        return None

    def copy(self) -> Fact:
        """The same fact, of which nothing is computed yet."""
        return msgspec.structs.replace(self)

    def get(self, attribute: str) -> Any:
        """The value of an attribute as checks see it (``yes`` and ``no`` for bool); None when the fact has no such
        attribute."""
        if attribute not in _attribute_names(self.__class__):
            return None
        value = getattr(self, attribute)
        return "yes" if value is True else "no" if value is False else value

    def get_text(self, attribute: str) -> str:
        """The value of an attribute if it is a string, else an empty string."""
        value = self.get(attribute)
        return value if isinstance(value, str) else ""

    def own_attributes(self) -> list[str]:
        """The names of this fact's attributes, without those common to all facts from Python code."""
        return [name for name in sorted(self.attribute_names()) if self.get(name) is not None]

    @classmethod
    def attribute_names(cls) -> frozenset[str]:
        """The names of the attributes that checks can query: the methods marked `attribute` and the fields that
        subclasses declare, except those that begin with an underscore."""
        return _attribute_names(cls)


@cache
def _attribute_names(cls: type[Fact]) -> frozenset[str]:
    members = ((name, member) for base in cls.__mro__ for name, member in vars(base).items())
    marked = {name for name, member in members if isinstance(member, attribute)}
    fields = {name for name in cls.__struct_fields__ if not name.startswith("_")}
    return frozenset(marked | fields) - _PLAIN


class FileFact(Fact, eq=False):
    """A fact that a reader makes of a file. The cache stores the fields of its class, not what is computed of them."""

    name: str
    path: str
    span: Span


class Problem(msgspec.Struct, frozen=True):
    """Why a file, or a part of it, could not be read. `reason` is a key of the engine's texts (``syntax-error``,
    ``python2``, ``encoding``, ``too-large``, ``not-a-file``, ``link-outside``, ``unreadable``, ``too-deep``,
    ``json``); `detail` completes the message. `fatal`: nothing of the file was read."""

    path: str
    reason: str
    detail: str = ""
    span: Span = Span()
    fatal: bool = True


class Comment(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A suppression comment: its line, whether it is the only thing on that line, and its text after ``#``."""

    line: int
    alone: bool
    text: str


class FileFacts(msgspec.Struct, frozen=True):
    """Everything read from one file; the unit of the cache.

    `kind` is one of python, notebook, shell, makefile, mixlist, dependency, dockerfile, cuda, configuration, graph,
    data, other. Python and notebooks have `code`, graphs `graph`, data files their `content` (it is parsed if a program
    loads the file), the other kinds `facts` (which `npulint.facts.model` stores); `comments` are suppressions.
    `checksum` is the CRC-32 of the bytes that were read, 0 if not known."""

    path: str
    kind: str
    code: Code | None = None
    facts: list[Fact] = []
    problems: list[Problem] = []
    comments: list[Comment] = []
    graph: Graph | None = None
    content: bytes = b""
    checksum: int = 0


__all__ = ["Arguments", "Comment", "Fact", "FileFact", "FileFacts", "Problem", "Scalar", "Span"]


# Facts of a file as bytes and back, for the cache.

_FILE = msgspec.msgpack.Decoder(tuple[FileFacts, list[tuple[str, msgspec.Raw]]])


def encode(file: FileFacts) -> bytes:
    """The bytes of a file's facts. Readers make instances of `FileFact`, whose fields are plain; each is stored with
    the name of its class."""
    named = [(f"{type(fact).__module__}:{type(fact).__qualname__}", fact) for fact in file.facts]
    return msgspec.msgpack.encode((msgspec.structs.replace(file, facts=[]), named))


def decode(data: bytes) -> FileFacts:
    """The facts of bytes from `encode`, each as an instance of its class. Raises `msgspec.MsgspecError` for others."""
    file, named = _FILE.decode(data)
    return msgspec.structs.replace(file, facts=[_decoder(name).decode(fact) for name, fact in named]) if named else file


@cache
def _decoder(name: str) -> msgspec.msgpack.Decoder[Fact]:
    """The decoder of a class, whose module is imported when the cache has a fact of it."""
    module, _, cls = name.partition(":")
    fact_class = getattr(import_module(module), cls, None) if module.startswith("npulint.") else None
    if not (isinstance(fact_class, type) and issubclass(fact_class, Fact)):
        raise msgspec.ValidationError(f"not a class of facts: {name}")
    return msgspec.msgpack.Decoder(fact_class)
