"""An ONNX model with its opsets, its constants, and the places in the code that create its nodes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

from npulint.data.onnx import DOMAIN, Opsets, opsets_of
from npulint.facts.graph import Graph, Node
from npulint.facts.model import Span
from npulint.graphs.facts.graph_fact import NodeSet, Place
from npulint.graphs.facts.source_mapping import place_of
from npulint.graphs.facts.target import Target
from npulint.model.values.context import Context

_GIVEN = frozenset(("placeholder", "initializer"))
_LISTED = 3
_WIDTH = 160  # maximum characters of listed names


class OnnxView:
    """A whole model with its target environment."""

    def __init__(self, path: str, graph: Graph, context: Context, target: Target) -> None:
        self.path = path
        self.graph = graph
        self.target = target
        self._context = context

    @property
    def opset(self) -> int:
        """The opset of the standard operators; 0 if the model declares none."""
        return self.opset_of(DOMAIN)

    def opset_of(self, domain: str) -> int:
        """The opset of a domain; 0 if the model declares none."""
        return self.graph.collections.get(f"opset:{domain or DOMAIN}", 0)

    @property
    def parsed(self) -> Opsets:
        """The first and the newest opset that the ATC of the target parses."""
        return opsets_of(self.target.cann)

    def all(self) -> Iterator[Node]:
        """Every operator, including those of branches and loop bodies. Functions of the model are not expanded: ATC
        does not look into them either."""
        for body in self.graph.bodies:
            if not body.name or body.serves:
                yield from (node for node in body.nodes if node.op not in _GIVEN)

    def inputs(self) -> Iterator[Node]:
        """The inputs of the model."""
        return (node for node in self.graph.bodies[0].nodes if node.op == "placeholder")

    @property
    def judged_opset(self) -> int:
        """The opset that standard operators are judged for: that of the model, or the nearest one that ATC parses."""
        first, newest = self.parsed
        return min(max(self.opset, first), newest)

    @cached_property
    def functions(self) -> frozenset[str]:
        """The names of the model's own functions."""
        return frozenset(body.name for body in self.graph.bodies if body.name and not body.serves)

    @cached_property
    def constants(self) -> Mapping[str, Node]:
        """The nodes whose result the file contains, by name. Names are unique only within a body, so one that means
        something else in another body is none."""
        fixed, other = dict[str, Node](), set[str]()
        for body in self.graph.bodies:
            for node in body.nodes:
                if node.op in ("initializer", "Constant"):
                    fixed[node.name] = node
                else:
                    other.add(node.name)
        return {name: node for name, node in fixed.items() if name not in other}

    def place(self, node: Node) -> Place:
        """The place in the project's code that creates a node, else its line in a text model, or the first line."""
        path, span = place_of(node, self._context, "")
        return (path, span) if path else (self.path, Span.at(max(node.line, 1)) if node.line else Span())

    def node_set(self, nodes: Sequence[Node], place: Place) -> NodeSet:
        """Nodes at one place, with the first names, as many as can be read quickly."""
        listed: list[str] = []
        for node in nodes[:_LISTED]:
            if listed and sum(map(len, listed)) + len(node.name) > _WIDTH:
                break
            listed.append(f"`{node.name}`")
        return NodeSet(*place, nodes[0].name if nodes else "", ", ".join(listed), len(nodes))


def split(op: str) -> tuple[str, str]:
    """The domain and the type of an operator; the standard domain is empty."""
    domain, _, name = op.rpartition("::")
    return domain, name


def dtype_of(node: Node) -> str:
    """The element type of the first result of a node, or of an input or weight; empty if unknown."""
    return str(next(iter(node.attrs.get("dtypes", ())), ""))


def shape_of(node: Node) -> list[int | str] | None:
    """The shape of the same; None if unknown. Sizes that are not fixed are texts."""
    shape: list[int | str] | None = next(iter(node.attrs.get("shapes", ())), None)
    return shape
