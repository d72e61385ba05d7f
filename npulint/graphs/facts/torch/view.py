"""A PyTorch graph with the places in the code that create its nodes, and whether it trains."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any, Literal, cast

from npulint.core.lazy_regex import lazy_compile
from npulint.data.aten import known
from npulint.facts.graph import Body, Graph, Node
from npulint.graphs.facts.graph_fact import STOP, GraphStop, NodeSet, Place, stop_at
from npulint.graphs.facts.source_mapping import place_of
from npulint.graphs.facts.target import Target
from npulint.model.values.context import Context

Phase = Literal["forward", "backward", "optimizer"]

_BACKWARD = lazy_compile(r"_backward\b")
_LOSS = lazy_compile(r"^aten\.(?:\w+_loss(?:_\w+)?|kl_div|binary_cross_entropy(?:_with_logits)?)(?:\.|$)")
_STATISTICS = ("running_mean", "running_var", "num_batches_tracked")
_TRAINING = ("train", "training")
_PLACES = {  # position of the flag, since scripts contain no argument names
    "aten.dropout": "2",
    "aten.feature_dropout": "2",
    "aten.alpha_dropout": "2",
    "aten.feature_alpha_dropout": "2",
    "aten.native_dropout": "2",
    "aten.batch_norm": "5",
    "aten.native_batch_norm": "5",
    "aten.rrelu": "3",
}
_RECURRENT = frozenset(("aten.lstm", "aten.gru", "aten.rnn_tanh", "aten.rnn_relu"))
_SHARES = (("5", "6"), ("6", "7"))  # positions of dropout and training flag; packed or not
_ATTENTION = "aten.scaled_dot_product_attention"
_GRADIENTS = ("loss_output", "gradient_to_parameter", "gradient_to_user_input")
_SCALAR = "scalar_output"
_LISTED = 3
_INNER = frozenset(("placeholder", "output", "get_attr", STOP))  # nodes that are not operators
_PYTHON = ("_operator.", "builtins.", "math.", "operator.", "aten.sym_", "aten._assert_scalar", "aten._assert_tensor_m")


class TorchGraphView:
    """A whole graph with its target environment."""

    def __init__(self, path: str, graph: Graph, context: Context, target: Target) -> None:
        self.path = path
        self.graph = graph
        self.context = context
        self.target = target
        self.live = graph.form.startswith("live_")

    def all(self) -> Iterator[Node]:
        """Every operator, including those of branches and loop bodies."""
        for body in self.graph.bodies:
            yield from self.of(body)

    def of(self, body: Body) -> Iterator[Node]:
        """The operators of one body; names are unique only within it."""
        script = self.graph.form == "torchscript"
        for node in body.nodes:
            if node.op not in _INNER and not node.op.startswith(_PYTHON) and (not script or known(node.op)):
                yield node

    def inputs(self) -> Iterator[Node]:
        """The graph inputs: parameters, buffers, and the inputs of the model."""
        for body in self.graph.bodies:
            if not body.serves:
                yield from (node for node in body.nodes if node.op == "placeholder")

    @cached_property
    def has_backward(self) -> bool:
        """Whether the graph contains the operators of the backward pass."""
        return any(node.phase == "backward" for node in self.all()) or any(
            name in self.graph.collections for name in _GRADIENTS[1:]
        )

    @cached_property
    def trains(self) -> bool:
        """Whether the graph belongs to training: it has a backward pass or an optimizer, computes a loss (a loss
        operator, or a scalar result with parameters), applies dropout, or updates normalisation statistics."""
        recorded = self.graph.collections
        if (
            self.has_backward
            or any(name in recorded for name in _GRADIENTS)
            or (_SCALAR in recorded and "parameter" in recorded)
        ):
            return True
        renewed = (node.attrs.get("mutated") and node.attrs.get("target", "") for node in self.inputs())
        return any(map(_of_training, self.all())) or any(str(name or "").endswith(_STATISTICS) for name in renewed)

    def place(self, node: Node) -> Place:
        """The place in the project's code that creates a node, else the first line of the graph's file."""
        return place_of(node, self.context, self.path)


def node_set(nodes: Sequence[Node], place: Place) -> NodeSet:
    """Nodes at one place, with the sum of their execution counts."""
    listed = ", ".join(f"`{node.name}`" for node in nodes[:_LISTED])
    return NodeSet(*place, nodes[0].name if nodes else "", listed, sum(node.count for node in nodes))


def phase_of(node: Node) -> Phase:
    """The phase of a step that a node belongs to; forward if it is not recorded."""
    return cast("Phase", node.phase or "forward")


def base_of(op: str) -> str:
    """An operator without its overload: ``aten.add``."""
    namespace, _, rest = op.partition(".")
    return f"{namespace}.{rest.partition('.')[0]}"


def overload_of(op: str) -> str:
    """The overload of an operator: ``Tensor``; empty if it is not recorded."""
    return op.partition(".")[2].partition(".")[2]


def _of_training(node: Node) -> bool:
    if node.phase == "optimizer" or _BACKWARD.search(node.op) or _LOSS.search(node.op):
        return True
    arguments = node.attrs.get("arguments", {})
    name = base_of(node.op).removesuffix("_")
    if name == _ATTENTION:
        share = arguments.get("dropout_p", arguments.get("4"))
        return isinstance(share, float) and share > 0
    if _in_training_mode(arguments) or arguments.get(_PLACES.get(name, "")) is True:
        return True
    return name in _RECURRENT and any(
        isinstance(arguments.get(at), float) and arguments.get(to) is True for at, to in _SHARES
    )


def _in_training_mode(arguments: dict[str, Any]) -> bool:
    return any(arguments.get(name) is True for name in _TRAINING)


# Facts about where a recorded step of PyTorch stopped; and products in double precision, which stop a real NPU.

_PRODUCTS = frozenset(
    "mm bmm mv addmm addmv addbmm baddbmm matmul linear convolution _convolution conv1d conv2d conv3d "
    "conv_transpose1d conv_transpose2d conv_transpose3d".split()
)


def stop_facts(view: TorchGraphView) -> list[GraphStop]:
    """One fact per node that says so, and per place with a matrix product or convolution in float64, for which no chip
    has a kernel: the fake NPU computes it."""
    nodes = [node for body in view.graph.bodies for node in body.nodes if node.op == STOP]
    graph_stops = [
        graph_stop for node in nodes if (graph_stop := stop_at(node, node_set([node], view.place(node)))) is not None
    ]
    return graph_stops + (_double(view) if view.live else [])


def _double(view: TorchGraphView) -> list[GraphStop]:
    groups: dict[Place, list[Node]] = {}
    for node in view.all():
        if "float64" in node.attrs.get("dtypes", ())[:1] and _is_product(node.op):
            groups.setdefault(view.place(node), []).append(node)
    return [
        GraphStop(node_set(nodes, place), "float64", operator=base_of(nodes[0].op), error="")
        for place, nodes in groups.items()
    ]


def _is_product(op: str) -> bool:
    namespace, _, name = base_of(op).partition(".")
    return namespace == "aten" and name in _PRODUCTS
