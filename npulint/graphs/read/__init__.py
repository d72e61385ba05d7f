"""Reads graph files without the framework that wrote them; nothing is unpickled or executed."""

from __future__ import annotations

from npulint.discover.graphs import HEAD, form_of, form_of_text, instead
from npulint.discover.safe_open import read_head
from npulint.facts.graph import Graph
from npulint.facts.model import Problem
from npulint.graphs.read.errors import GraphError


def read_graph(location: str, path: str, content: bytes | None = None) -> Graph | Problem:
    """The graph in a file, or in `content` instead; a problem if unreadable. `path` is for display. Never raises for
    the content."""
    form = form_of(location) if content is None else form_of_text(path, content[:HEAD])
    try:
        return _read(form, location, content)
    except GraphError as error:
        return Problem(path, error.reason, error.detail)
    except (OSError, ValueError) as error:
        return Problem(path, "unreadable", getattr(error, "strerror", None) or "")
    except RecursionError:
        return Problem(path, "graph-damaged", "nested too deeply")


def _read(form: str, location: str, content: bytes | None) -> Graph:
    if form in ("graph_def", "meta_graph", "saved_model"):
        from npulint.graphs.read.tensorflow.binary import read_binary

        return read_binary(form, location, content)
    if form == "text":
        from npulint.graphs.read.tensorflow.text import read_text

        return read_text(location, content)
    if form == "onnx":
        from npulint.graphs.read.onnx import binary

        return binary.read_binary(location, content)
    if form == "onnx_text":
        from npulint.graphs.read.onnx import text

        return text.read_text(location, content)
    if form in ("exported_program", "json"):
        from npulint.graphs.read.torch.exported import read_exported

        return read_exported(location, content)
    if form == "recorded":
        from npulint.graphs.read.torch.recorded import read_recorded

        return read_recorded(location, content)
    if form == "torchscript":
        from npulint.graphs.read.torch.torchscript import read_torchscript

        return read_torchscript(location)
    head = read_head(location, HEAD) if content is None else content[:HEAD]
    if content is None and not instead(head):
        from npulint.graphs.read.torch.archive import reason_of

        raise GraphError(reason_of(location))
    raise GraphError("not-a-graph", instead(head))
