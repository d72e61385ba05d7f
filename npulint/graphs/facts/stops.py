"""Facts about where a recorded run stopped with an error that it would stop with on an NPU server as well."""

from __future__ import annotations

from typing import Literal, get_args

from npulint.facts.attributes import attribute
from npulint.facts.graph import Node
from npulint.facts.kinds import fact_kind
from npulint.graphs.facts.graph_fact import GraphFact, NodeSet

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
    reason = next((one for one in REASONS if one == node.attrs.get("reason")), None)
    if reason is None:
        return None
    operator, error = (str(node.attrs.get(key, "")) for key in ("operator", "error"))
    return GraphStop(node_set, reason, operator=operator, error=error)
