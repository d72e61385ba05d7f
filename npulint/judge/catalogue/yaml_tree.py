"""YAML as a tree with places, without YAML's implicit types.

The tree is built from parse events with an explicit stack: nothing is constructed, so no tag can name a class, and
nothing recurses, so deep nesting cannot crash the C parser's composer. Only null, true, false and decimal integers are
typed; ``yes``, ``on``, ``1.10``, ``012``, ``12:30`` and dates stay text.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import TYPE_CHECKING

import msgspec

from npulint.core.errors import CatalogueProblem, suggestion
from npulint.judge.catalogue.sources import MAX_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterable

    import yaml

MAX_DEPTH = 64
_TOO_DEEP = f"nested deeper than {MAX_DEPTH} levels"

_INT = re.compile(r"(?:0|-?[1-9][0-9]{0,17})\Z")
_WORDS: dict[str, bool | None] = {"": None, "~": None, "null": None, "true": True, "false": False}


class YamlScalar(msgspec.Struct, frozen=True):
    """A scalar. `plain` says that it is neither quoted nor a block."""

    text: str
    plain: bool
    line: int
    column: int

    @property
    def value(self) -> str | int | bool | None:
        """The typed value; anything but null, true, false and integers is text."""
        if not self.plain:
            return self.text
        if self.text in _WORDS:
            return _WORDS[self.text]
        return int(self.text) if _INT.match(self.text) else self.text


class Sequence(msgspec.Struct, frozen=True):
    """A list."""

    items: tuple[YamlNode, ...]
    line: int
    column: int


class Mapping(msgspec.Struct, frozen=True):
    """A mapping in file order; keys are always text (``1``, ``no``)."""

    entries: dict[str, tuple[YamlScalar, YamlNode]]
    line: int
    column: int


YamlNode = YamlScalar | Sequence | Mapping
Place = tuple[int, int, str]


class TreeError(Exception):
    """Invalid YAML, or YAML that npulint does not accept; `places` holds (line, column, message) of each problem."""

    def __init__(self, places: list[Place]) -> None:
        self.places = places
        super().__init__("; ".join(f"{line}:{column}: {message}" for line, column, message in places))


def load_tree(data: bytes) -> YamlNode:
    """The tree of a UTF-8 document; raises `TreeError`."""
    if len(data) > MAX_BYTES:
        raise TreeError([(1, 1, f"larger than {MAX_BYTES // 1024} KB")])
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise TreeError([(data.count(b"\n", 0, error.start) + 1, 1, "not UTF-8")]) from None
    return parse_tree(text)


def parse_tree(text: str) -> YamlNode:
    """The tree of one document; raises `TreeError`. The caller limits the size."""
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    builder = _Builder()
    try:
        builder.feed(yaml.parse(text, Loader=loader))
    except yaml.MarkedYAMLError as error:
        raise TreeError([*builder.refused, _syntax_error(error)]) from None
    except yaml.YAMLError as error:
        raise TreeError([*builder.refused, (*_unreadable(text, error), "not YAML: a control character")]) from None
    if builder.refused:
        raise TreeError(builder.refused)
    if len(builder.roots) != 1:
        raise TreeError([(1, 1, "the file is empty" if not builder.roots else "more than one document")])
    return builder.roots[0]


def _syntax_error(error: yaml.MarkedYAMLError) -> Place:
    mark = error.problem_mark
    problem = error.problem or error.context or ""
    message = _TOO_DEEP if "nesting depth" in problem else f"not YAML: {problem}"
    return (mark.line + 1, mark.column + 1, message) if mark else (1, 1, message)


def _unreadable(text: str, error: yaml.YAMLError) -> tuple[int, int]:
    """The place of the first character that YAML does not allow."""
    position = getattr(error, "position", 0)
    before = text[:position] if isinstance(position, int) else ""
    return before.count("\n") + 1, len(before) - before.rfind("\n")


class _Open:
    """A list or mapping that is not complete yet."""

    def __init__(self, is_map: bool, line: int, column: int) -> None:
        self.is_map = is_map
        self.line = line
        self.column = column
        self.items: list[YamlNode] = []
        self.entries: dict[str, tuple[YamlScalar, YamlNode]] = {}
        self.key: YamlScalar | None = None

    def close(self) -> YamlNode:
        if self.is_map:
            return Mapping(self.entries, self.line, self.column)
        return Sequence(tuple(self.items), self.line, self.column)


class _Builder:
    """Builds the tree from events and records problems."""

    def __init__(self) -> None:
        self.roots: list[YamlNode] = []
        self.refused: list[Place] = []
        self._open: list[_Open] = []

    def feed(self, events: Iterable[yaml.Event]) -> None:
        """Process all events; raises `TreeError` at once if nested too deep."""
        import yaml

        for event in events:
            mark = event.start_mark
            line, column = (mark.line + 1, mark.column + 1) if mark else (1, 1)
            if isinstance(event, yaml.NodeEvent):
                self._refuse(event, line, column)
            if isinstance(event, yaml.ScalarEvent):
                self._add(YamlScalar(event.value, bool(event.implicit[0]), line, column))
            elif isinstance(event, yaml.AliasEvent):
                self._add(YamlScalar("", True, line, column))
            elif isinstance(event, yaml.CollectionStartEvent):
                if len(self._open) >= MAX_DEPTH:
                    raise TreeError([*self.refused, (line, column, _TOO_DEEP)])
                self._open.append(_Open(isinstance(event, yaml.MappingStartEvent), line, column))
            elif isinstance(event, yaml.CollectionEndEvent):
                self._add(self._open.pop().close())

    def _refuse(self, event: yaml.NodeEvent, line: int, column: int) -> None:
        if event.anchor is not None:
            self.refused.append((line, column, f"anchors and aliases are not allowed ('{event.anchor}')"))
        tag = getattr(event, "tag", None)
        if tag is not None:
            self.refused.append((line, column, f"tags are not allowed ('{tag}')"))

    def _add(self, node: YamlNode) -> None:
        if not self._open:
            self.roots.append(node)
            return
        parent = self._open[-1]
        if not parent.is_map:
            parent.items.append(node)
        elif parent.key is None:
            parent.key = self._key(node)
        else:
            self._entry(parent, parent.key, node)
            parent.key = None

    def _key(self, node: YamlNode) -> YamlScalar:
        if isinstance(node, YamlScalar):
            return node
        self.refused.append((node.line, node.column, "a key must be a single word"))
        return YamlScalar("", True, node.line, node.column)

    def _entry(self, parent: _Open, key: YamlScalar, node: YamlNode) -> None:
        earlier = parent.entries.get(key.text)
        if earlier is not None:
            self.refused.append(
                (key.line, key.column, f"'{key.text}' is given twice (first in line {earlier[0].line})")
            )
            return
        parent.entries[key.text] = (key, node)


# Reads typed values from a YAML tree, collecting all problems instead of stopping at the first.

Keys = dict[str, YamlNode]


class Fields:
    """The reader of one file. An invalid value is recorded in `problems` and read as empty."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.problems: list[CatalogueProblem] = []

    def problem(self, node: YamlNode, message: str) -> None:
        """Record a problem at a node."""
        self.problems.append(CatalogueProblem(self.path, node.line, node.column, message))

    def mapping(self, node: YamlNode, what: str, required: Collection[str], optional: Collection[str] = ()) -> Keys:
        """The values of a mapping with a closed set of keys."""
        if not isinstance(node, Mapping):
            self.problem(node, f"{what} must be a mapping")
            return {}
        allowed = {*required, *optional}
        for name, (key, _) in node.entries.items():
            if name not in allowed:
                self.problem(key, f"{what}: unknown key '{name}'{suggestion(name, allowed)}")
        for name in required:
            if name not in node.entries:
                self.problem(node, f"{what}: the key '{name}' is missing")
        return {name: value for name, (_, value) in node.entries.items() if name in allowed}

    def open_mapping(self, node: YamlNode, what: str) -> dict[str, tuple[YamlScalar, YamlNode]]:
        """The entries of a mapping whose keys the caller validates."""
        if isinstance(node, Mapping) and node.entries:
            return node.entries
        self.problem(node, f"{what} must be a non-empty mapping")
        return {}

    def items(self, node: YamlNode, what: str) -> tuple[YamlNode, ...]:
        """The items of a non-empty list."""
        if isinstance(node, Sequence) and node.items:
            return node.items
        self.problem(node, f"{what} must be a non-empty list")
        return ()

    def text(self, node: YamlNode, what: str) -> str:
        """A non-empty text."""
        if not isinstance(node, YamlScalar) or not isinstance(node.value, str):
            hint = "; put it in quotes" if isinstance(node, YamlScalar) and node.text else ""
            self.problem(node, f"{what} must be a string{hint}")
            return ""
        text = node.value.strip()
        if not text:
            self.problem(node, f"{what} is empty")
        return text

    def word(self, node: YamlNode, what: str, vocabulary: Collection[str]) -> str:
        """A word of a closed set."""
        word = self.text(node, what)
        if word and word not in vocabulary:
            self.problem(
                node, f"{what}: '{word}' is not one of {', '.join(sorted(vocabulary))}{suggestion(word, vocabulary)}"
            )
            return ""
        return word

    def flag(self, node: YamlNode, what: str) -> bool:
        """``true`` or ``false``."""
        if isinstance(node, YamlScalar) and isinstance(node.value, bool):
            return node.value
        self.problem(node, f"{what} must be true or false")
        return False

    def words(self, node: YamlNode, what: str, vocabulary: Collection[str] = ()) -> tuple[str, ...]:
        """One text or a list of texts, of a closed set if `vocabulary` is given."""
        nodes = (node,) if isinstance(node, YamlScalar) else self.items(node, what)
        read = [self.word(item, what, vocabulary) if vocabulary else self.text(item, what) for item in nodes]
        return tuple(word for word in read if word)
