"""Size limits of graphs. A training graph of 50,000 nodes uses a tenth to a quarter of each."""

from __future__ import annotations

from typing import Any

from npulint.graphs.read.errors import GraphError

NODES = 200_000
FUNCTIONS = 20_000
OPERATORS = 20_000  # types; TensorFlow itself has some 1,500
KEPT = 200_000_000  # bytes of Python objects
STEPS = 5_000_000  # fields that are visited
PARTS = 200_000  # fields of one message that are kept
TEXT = 256  # characters of a string attribute
NAME = 4096  # characters of the name of a node, a function or an attribute; real ones have some hundred
LIST = 64  # members of a list attribute
DIMENSIONS = 256  # of a shape; no operator takes as many
COLLECTIONS = 10_000
TAGS = 64

_NODE = 200  # bytes of a node without its texts
_ENTRY = 48  # bytes of a text without its characters


class Tally:
    """Counts kept data and visited fields of one file against the limits."""

    def __init__(self) -> None:
        self._nodes = 0
        self._kept = 0
        self._steps = 0
        self._functions = 0
        self._operators: set[str] = set()

    def node(self, texts: int, characters: int) -> None:
        """Count a node with the number and total length of its names and attributes. Raises `GraphError`."""
        self._nodes += 1
        if self._nodes > NODES:
            raise GraphError("graph-too-large", f"more than {NODES:,} nodes")
        self.kept(_NODE + _ENTRY * texts + characters)

    def function(self) -> None:
        """Count one function. Raises `GraphError`."""
        self._functions += 1
        if self._functions > FUNCTIONS:
            raise GraphError("graph-too-large", f"more than {FUNCTIONS:,} functions")

    def operator(self, name: str) -> None:
        """Count a new operator type. Raises `GraphError`."""
        self._operators.add(name)
        if len(self._operators) > OPERATORS:
            raise GraphError("graph-too-large", f"more than {OPERATORS:,} types of operators")

    def kept(self, size: int) -> None:
        """Count bytes that are kept. Raises `GraphError`."""
        self._kept += size
        if self._kept > KEPT:
            raise GraphError("graph-too-large", f"more than {KEPT // 1_000_000} MB of names and attributes")

    def text(self, length: int) -> None:
        """Check the length of a text before it is read. Raises `GraphError`."""
        self.kept(_ENTRY + length)

    def step(self, count: int = 1) -> None:
        """Count steps. Raises `GraphError`."""
        self._steps += count
        if self._steps > STEPS:
            raise GraphError("graph-too-large", f"more than {STEPS:,} fields")


def weight(value: Any) -> int:
    """The approximate bytes of an attribute value. Values are nested no deeper than a list of shapes."""
    if isinstance(value, str):
        return _ENTRY + len(value)
    if isinstance(value, list):
        return _ENTRY + sum(8 + weight(one) for one in value)
    if isinstance(value, dict):
        return 4 * _ENTRY + sum(weight(one) for one in value.values())
    return 32
