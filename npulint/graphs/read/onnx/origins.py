"""Where the source code creates the nodes of an ONNX model, as exporters of PyTorch record it."""

from __future__ import annotations

from npulint.core.lazy_regex import lazy_compile
from npulint.facts.graph import NodeFrame
from npulint.graphs.read.onnx.schema import Message
from npulint.graphs.read.torch.frames import LIMIT, Traces, kept

_TRACE = "pkg.torch.onnx.stack_trace"  # of exporters on torch.export
_CALL = lazy_compile(
    r"(?m)^(?:#\s*)?(?P<path>[^\n()]{1,1024})\((?P<line>\d{1,9})\):\s*(?P<function>[\w<>.]{1,256})\s*$"
)


class Origins:
    """Parses what is recorded at nodes; many share one text."""

    def __init__(self) -> None:
        self._traces = Traces()
        self._calls: dict[str, tuple[NodeFrame, ...]] = {}

    def of(self, node: Message) -> tuple[NodeFrame, ...]:
        """The source locations that created a node, innermost last. The exporter based on TorchScript lists the calls
        in the documentation of a node, innermost first."""
        for one in node.get("metadata_props", ()):
            if one.get("key") == _TRACE:
                return self._traces.frames(one.get("value", ""))
        text = node.get("doc_string", "")
        if text and text not in self._calls:
            matches = list(_CALL.finditer(text))[:LIMIT]
            frames = [
                NodeFrame(match["path"].strip(), int(match["line"]), match["function"]) for match in reversed(matches)
            ]
            self._calls[text] = kept(frames)
        return self._calls[text] if text else ()
