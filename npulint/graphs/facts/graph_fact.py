"""The base classes of facts about graphs: about some nodes, at the place of the code that makes them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, get_args

import msgspec

from npulint.facts.attributes import attribute
from npulint.facts.graph import Node
from npulint.facts.kinds import fact_kind
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


# Facts about where a recorded run stopped with an error that it would stop with on an NPU server as well.

STOP = "npulint.stop"
"""The operator of a node that is none: a recorded run stopped there."""

Reason = Literal[
    "mixed",
    "numpy",
    "cuda",
    "nccl",
    "npu_name",
    "float64",
    "scaler",
    "desync",
    "same_device",
    "host_send",
    "fork",
    "option",
    "option_ignored",
    "option_late",
    "adapter_name",
    "adapter_call",
    "adapter_unused",
    "gpu_device",
    "library",
    "eager",
]
REASONS: tuple[Reason, ...] = get_args(Reason)
"""Why a run stops on an NPU; see `GraphStop`."""


@fact_kind("graph_stop")
class GraphStop(GraphFact, eq=False, dict=True):
    """A recorded run stopped here with an error that an NPU server raises as well. The name is the reason. Of PyTorch:
    an operator received tensors of the host and of the NPU (mixed), numpy a tensor of the NPU (numpy); CUDA was used
    (cuda), or its communication library (nccl); torch_npu has no such name (npu_name); the device does not compute this
    in double precision (float64); the gradient scaler was used in the wrong order (scaler). With several ranks: not all
    of them call this collective (desync), two are on the same NPU (same_device), a collective of the NPU received a
    tensor of the host (host_send); a forked process uses the NPU of its parent (fork). Of TensorFlow: the adapter
    refuses an option (option), has no such name (adapter_name), or refuses a call (adapter_call); an operation is
    placed on a GPU (gpu_device); a library for GPUs is imported (library). Of TensorFlow, where the run continues, but
    not as written: the adapter ignores an option (option_ignored), or one that is set when the device is open
    (option_late), does not take a training step to the NPU (adapter_unused), or gradients are computed without a
    function (eager)."""

    name: Reason
    operator: str
    """The operator that stopped; empty if it was none."""
    error: str
    """The exception as Python prints it."""

    @attribute
    def what(self) -> str:
        """What stopped, for a sentence: the operator, or the exception."""
        return self.operator or self.error


def stop_at(node: Node, node_set: NodeSet) -> GraphStop | None:
    """The fact of a stop node; None if its reason is unknown."""
    reason = next((word for word in REASONS if word == node.attrs.get("reason")), None)
    if reason is None:
        return None
    operator, error = (str(node.attrs.get(key, "")) for key in ("operator", "error"))
    return GraphStop(node_set, reason, operator=operator, error=error)
