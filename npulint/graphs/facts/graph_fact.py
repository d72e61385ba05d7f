"""The base classes of facts about graphs: about some nodes, at the place of the code that makes them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import msgspec

from npulint.facts.attributes import attribute
from npulint.facts.model import Fact, Span

Place = tuple[str, Span]


class NodeSet(msgspec.Struct, frozen=True):
    """Nodes of a graph, at the place in the project's code that creates the first of them, or in the graph's file.
    `first` is the name of that node, `listed` the first names as Markdown, `places` are other places that create nodes
    of the set."""

    path: str
    span: Span
    first: str = ""
    listed: str = ""
    count: int = 0
    places: Sequence[Place] = ()


class GraphFact(Fact, eq=False, dict=True):
    """A fact about nodes of a graph."""

    node_set: NodeSet
    name: str

    @property
    def path(self) -> str:
        """The path of the code that creates the first node, or of the graph."""
        return self.node_set.path

    @property
    def span(self) -> Span:
        """The place of the first node in the code, or in the text of the graph."""
        return self.node_set.span

    @attribute
    def node(self) -> str:
        """The name of the first node."""
        return self.node_set.first

    @attribute
    def nodes(self) -> str:
        """The names of the first nodes, for a sentence."""
        return self.node_set.listed

    @attribute
    def count(self) -> int:
        """How many nodes there are; in a recorded step of PyTorch: how often they ran."""
        return self.node_set.count


class WholeGraph(GraphFact, eq=False, dict=True, kw_only=True):
    """A fact about a graph as a whole."""

    framework: Literal["tensorflow", "torch", "onnx"]
    """Its framework; onnx for a model in the exchange format."""
    version: str
    """The version of the framework that created it."""
    trains: bool
    """Whether it belongs to training."""
    functions: int
    """How many functions it has."""
    size: int
    """How many operators it has."""
    release: str
    """The release (of CANN or PyTorch) that it was judged for; empty if unknown."""
