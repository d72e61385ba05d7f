"""A recorded step: the operators that ran on the fake NPU, as JSON.

`npulint try` writes it in the process of the user's program, and its parent reads it. As everything a user's program
may have written, it is only data: its fields are checked, and nothing is executed."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from npulint.discover.safe_open import TooLargeError, read_regular
from npulint.facts.graph import Body, Graph, Node, NodeFrame, NodeNames
from npulint.graphs.read.errors import GraphError

FORMAT = 1
LIMIT = 256 * 1024 * 1024
"""Maximum bytes of a recording."""


class RecordedNode(msgspec.Struct, omit_defaults=True):
    """One operator at one place and phase; see `npulint.facts.graph.Node`."""

    op: str
    frames: tuple[NodeFrame, ...] = ()
    phase: str = ""
    count: int = 1
    attrs: dict[str, Any] = {}


class Recording(msgspec.Struct, omit_defaults=True):
    """The file. `version` is that of the framework. A recording of TensorFlow only says where a run stopped."""

    npulint_recorded_step: int
    version: str = ""
    nodes: list[RecordedNode] = []
    framework: Literal["torch", "tensorflow"] = "torch"


_DECODER = msgspec.json.Decoder(Recording)


def read_recorded(location: str, content: bytes | None = None) -> Graph:
    """The graph of a recording in a file, or in `content` instead. Raises `GraphError`, and `OSError` if the file
    cannot be read."""
    if content is None:
        try:
            content = read_regular(location, LIMIT)
        except TooLargeError:
            raise GraphError("graph-too-large", f"more than {LIMIT} bytes") from None
    try:
        recording = _DECODER.decode(content)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise GraphError("graph-damaged", str(error)) from None
    if recording.npulint_recorded_step != FORMAT:
        raise GraphError("graph-damaged", f"npulint_recorded_step {recording.npulint_recorded_step}")
    return Graph(f"live_{recording.framework}", [Body("", _nodes(recording.nodes))], recording.version)


def _nodes(records: list[RecordedNode]) -> list[Node]:
    names = NodeNames()
    return [
        Node(
            names.of(record.op),
            record.op,
            attrs=record.attrs,
            frames=record.frames,
            phase=record.phase,
            count=record.count,
        )
        for record in records
    ]


def written(graph: Graph) -> bytes:
    """A recorded graph as the content of such a file."""
    nodes = [RecordedNode(node.op, node.frames, node.phase, node.count, node.attrs) for node in graph.bodies[0].nodes]
    return msgspec.json.encode(Recording(FORMAT, graph.version, nodes))
