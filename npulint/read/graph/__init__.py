"""Graphs: from a file to its operators, without the framework that wrote it; nothing is unpickled or run."""

from __future__ import annotations

from npulint.discover.graphs import HEAD, form_of, form_of_text, instead
from npulint.discover.safe_open import read_head
from npulint.facts.graph import Graph
from npulint.facts.model import Problem
from npulint.read.graph.errors import GraphError


def read_graph(location: str, path: str, given: bytes | None = None) -> Graph | Problem:
    """The graph in a file, or in the bytes that are `given` for it; else why it cannot be had. `path` names it for
    people. Never raises for what the file holds."""
    form = form_of(location) if given is None else form_of_text(path, given[:HEAD])
    try:
        return _read(form, location, given)
    except GraphError as error:
        return Problem(path, error.reason, error.detail)
    except (OSError, ValueError) as error:
        return Problem(path, "unreadable", getattr(error, "strerror", None) or "")
    except RecursionError:
        return Problem(path, "graph-damaged", "nested too deeply")


def _read(form: str, location: str, given: bytes | None) -> Graph:
    if form in ("graph_def", "meta_graph", "saved_model"):
        from npulint.read.graph.tensorflow.binary import read_binary

        return read_binary(form, location, given)
    if form == "text":
        from npulint.read.graph.tensorflow.text import read_text

        return read_text(location, given)
    if form in ("exported_program", "json"):
        from npulint.read.graph.torch.exported import read_exported

        return read_exported(location, given)
    if form == "torchscript":
        from npulint.read.graph.torch.torchscript import read_torchscript

        return read_torchscript(location)
    head = read_head(location, HEAD) if given is None else given[:HEAD]
    if given is None and not instead(head):
        from npulint.read.graph.torch.archive import reason_of

        raise GraphError(reason_of(location))
    raise GraphError("not-a-graph", instead(head))
