"""Stack traces in exported programs and recordings: Python's format, or that of FX."""

from __future__ import annotations

from npulint.core.lazy_regex import lazy_compile
from npulint.facts.graph import NodeFrame

LIMIT = 64
"""Maximum frames of one node, innermost ones."""

_TEXT = 100_000  # characters of a stack trace
_PATH = 1024
_LINE = lazy_compile(
    r'(?m)^[ \t]*(?:File "(?P<path>[^"\n]+)", line (?P<line>\d{1,9})(?:, in (?P<function>[^\n]+))?'
    r"|(?:# )?File: (?P<fx_path>[^\n]{1,1024}?):(?P<fx_line>\d{1,9})"
    r"(?: in (?P<fx_function>[^\n,]{1,256}), code:[^\n]*)?)[ \t]*$"
)
_OWN = lazy_compile(
    r"[\\/](?:site|dist)-packages[\\/]torch[\\/]"
    r"|^torch[\\/](?:_\w+|ao|autograd|distributed|export|fx|jit|nn|optim|utils)[\\/]"
    r"|^<[^<>/]*>(?:\.\d+)?$"
)


class Traces:
    """Parses stack traces to frames; cached, because many nodes share one text."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[NodeFrame, ...]] = {"": ()}

    def frames(self, text: str) -> tuple[NodeFrame, ...]:
        """The source locations in a stack trace, innermost last, without those in PyTorch and in generated code."""
        node_frames = self._known.get(text)
        if node_frames is None:
            node_frames = self._known[text] = frames(text)
        return node_frames


def frames(text: str) -> tuple[NodeFrame, ...]:
    """See `Traces.frames`."""
    node_frames = []
    for match in _LINE.finditer(text[-_TEXT:]):
        path = match["path"] or match["fx_path"]
        line = int(match["line"] or match["fx_line"])
        node_frames.append(NodeFrame(path, line, (match["function"] or match["fx_function"] or "").strip()[:256]))
    return kept(node_frames)


def kept(node_frames: list[NodeFrame]) -> tuple[NodeFrame, ...]:
    """The relevant frames: the innermost ones outside PyTorch itself."""
    return tuple(
        [
            node_frame
            for node_frame in node_frames
            if len(node_frame.path) <= _PATH and not _OWN.search(node_frame.path)
        ][-LIMIT:]
    )
