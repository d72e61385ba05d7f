"""Reads typed values from a YAML tree, collecting all problems instead of stopping at the first."""

from __future__ import annotations

from collections.abc import Collection

from npulint.core.errors import CatalogueProblem, suggestion
from npulint.judge.catalogue.yaml_tree import Mapping, Sequence, YamlNode, YamlScalar

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
        known = {*required, *optional}
        for name, (key, _) in node.entries.items():
            if name not in known:
                self.problem(key, f"{what}: unknown key '{name}'{suggestion(name, known)}")
        for name in required:
            if name not in node.entries:
                self.problem(node, f"{what}: the key '{name}' is missing")
        return {name: value for name, (_, value) in node.entries.items() if name in known}

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

    def word(self, node: YamlNode, what: str, known: Collection[str]) -> str:
        """A word of a closed set."""
        word = self.text(node, what)
        if word and word not in known:
            self.problem(node, f"{what}: '{word}' is not one of {', '.join(sorted(known))}{suggestion(word, known)}")
            return ""
        return word

    def flag(self, node: YamlNode, what: str) -> bool:
        """``true`` or ``false``."""
        if isinstance(node, YamlScalar) and isinstance(node.value, bool):
            return node.value
        self.problem(node, f"{what} must be true or false")
        return False

    def words(self, node: YamlNode, what: str, known: Collection[str] = ()) -> tuple[str, ...]:
        """One text or a list of texts, of a closed set if `known` is given."""
        nodes = (node,) if isinstance(node, YamlScalar) else self.items(node, what)
        found = [self.word(item, what, known) if known else self.text(item, what) for item in nodes]
        return tuple(word for word in found if word)
