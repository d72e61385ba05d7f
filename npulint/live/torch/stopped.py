"""Where and why a program stopped on the fake NPU, if it stops on a real one for the same reason."""

from __future__ import annotations

import re
import sys
from traceback import walk_tb

import msgspec

from npulint.facts.graph import Graph, Node, NodeFrame
from npulint.graphs.facts.graph_fact import STOP, Reason
from npulint.live.sources import is_own
from npulint.live.torch.session import FakeNpuError

_LONGEST = 200  # characters of an exception that are kept
_MIXED = "RuntimeError: Expected all tensors to be on the same device"
"""What an NPU raises where the fake one raises an error of its own."""
_SAID: tuple[tuple[Reason, str], ...] = (
    ("numpy", r"can't convert npu(?::\d+)? device type tensor to numpy"),
    ("mixed", r"Expected all tensors to be on the same device"),
    ("nccl", r"doesn't have NCCL built in|ProcessGroupNCCL is only supported with GPUs"),
    (
        "cuda",
        r"Torch not compiled with CUDA enabled|No CUDA GPUs are available|Found no NVIDIA driver|"
        r"deserialize object on a CUDA device|module 'torch\._C' has no attribute '_cuda_|"
        r"CUDA is not available|not linked with support for cuda devices|Device should be (?:CUDA|GPU), got npu|"
        r"torch\.cuda\.\w+ requires CUDA support|without ATen_cuda library|apex\.\S+ requires cuda extensions",
    ),
    ("npu_name", r"module 'torch\.npu' has no attribute|module 'torch_npu' has no attribute 'npu_"),
    ("same_device", r"^HCCL: ranks .* are on the same device"),
    ("host_send", r"No backend type associated with device type cpu"),
    ("fork", r"Cannot re-initialize NPU in forked subprocess"),
    ("float64", r"tensors of float64 have no collective communication"),
    (
        "scaler",
        r"No inf checks were recorded|unscale_\(\) (?:has already been called|is being called after step)|"
        r"step\(\) has already been called since the last update|Attempting to unscale FP16 gradients|"
        r"Attempted \w+ but _scale is None",
    ),
)
_LACKING = re.compile(r"Could not run 'aten::([\w.]+)' with arguments from the 'Sparse\w*' backend")


class Stop(msgspec.Struct, frozen=True):
    """An error that a program stopped with. `reason` is empty if it says nothing about the NPU; `operator` is the
    operator that raised it, if any; `text` the exception as Python prints it, in one line; `frames` are the lines of
    the user's code, innermost last. `sparse`: the operator has no kernel for the sparse tensors of the device."""

    reason: Reason | None
    operator: str
    text: str
    frames: tuple[NodeFrame, ...]
    sparse: bool = False

    @property
    def place(self) -> str:
        """The innermost line of the user's code."""
        return f"{self.frames[-1].path}:{self.frames[-1].line}" if self.frames else ""


def stop_of(error: BaseException, operator: str = "") -> Stop:
    """What an exception with its traceback says; `operator` is the last one that could not run."""
    reason = reason_of(error)
    text = _MIXED if reason == "mixed" else _printed(error)
    named = operator if isinstance(error, (FakeNpuError, NotImplementedError)) else ""
    lacking = _LACKING.match(str(error)) if isinstance(error, NotImplementedError) else None
    if lacking is not None:
        text = f"NotImplementedError: {lacking[0]}"
        named = f"aten.{lacking[1]}" + ("" if "." in lacking[1] else ".default")
    return Stop(reason, named, text, _frames(error), sparse=lacking is not None)


def _printed(error: BaseException) -> str:
    first = str(error).strip().split("\n", 1)[0].rstrip(".")
    return f"{type(error).__name__}: {first}"[:_LONGEST] if first else type(error).__name__


def reason_of(error: BaseException) -> Reason | None:
    """Why a real NPU raises this error; None if nothing is known about that. Only an error that the user's code does
    not catch counts, so the text decides, not the class."""
    if isinstance(error, FakeNpuError):
        return "mixed" if error.reason == "mixed" else None
    text = str(error)
    return next((reason for reason, pattern in _SAID if re.search(pattern, text)), None)


def with_stop(graph: Graph, stop: Stop) -> Graph:
    """The graph with a node for the stop, if it has a known reason, or for the operator that has no kernel."""
    if stop.reason is not None:
        attrs = {"reason": stop.reason, "operator": stop.operator, "error": stop.text}
        node = Node("stop", STOP, attrs=attrs, frames=stop.frames)
    elif stop.sparse:
        node = Node("stop", stop.operator, attrs={"layouts": ["sparse_coo"]}, frames=stop.frames, phase="backward")
    else:
        return graph
    body = graph.bodies[0]
    return msgspec.structs.replace(graph, bodies=[msgspec.structs.replace(body, nodes=[*body.nodes, node])])


def refused(reason: Reason, text: str) -> Stop:
    """A stop at the current line of the user's code that an NPU would raise, and this device does not."""
    frame, node_frames = sys._getframe(1), list[NodeFrame]()
    while frame is not None:
        code = frame.f_code
        if is_own(code.co_filename):
            node_frames.append(NodeFrame(code.co_filename, frame.f_lineno, code.co_name))
        frame = frame.f_back  # type: ignore[assignment]
    return Stop(reason, "", text, tuple(reversed(node_frames)))


def _frames(error: BaseException) -> tuple[NodeFrame, ...]:
    pairs = [(frame.f_code, line) for frame, line in walk_tb(error.__traceback__)]
    return tuple(NodeFrame(code.co_filename, line, code.co_name) for code, line in pairs if is_own(code.co_filename))
