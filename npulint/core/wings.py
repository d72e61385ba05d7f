"""Wings: whole topics that few projects need. The core rooms ask them by the entries of one table, and import nothing.

Graph files and what training runs left behind are read, assembled and summarised in `npulint.graphs` and
`npulint.runs`. Each entry names a function there; it is imported when a project first needs it."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any, Final, Literal

Service = Literal[
    "read_graph", "read_artifact", "graph_programs", "run_program", "changes", "graph_summary", "run_summary", "shown"
]
"""What the core asks of wings."""

SERVICES: Final[dict[Service, str]] = {
    "read_graph": "npulint.graphs.read:read_graph",
    "read_artifact": "npulint.runs.read:read_artifact",
    "graph_programs": "npulint.graphs.programs:graphs_in",
    "run_program": "npulint.runs.facts.run_program:run_program",
    "changes": "npulint.runs.facts.changes:changes_from",
    "graph_summary": "npulint.graphs.summary:summarise_graph",
    "run_summary": "npulint.runs.evaluate.runs:summarise_run",
    "shown": "npulint.runs.evaluate.runs_shown:shown",
}
"""The functions of the wings, as ``module:name``."""


@cache
def service(name: Service) -> Any:
    """The function of a wing that does this; the caller says its type."""
    module, _, function = SERVICES[name].partition(":")
    return getattr(import_module(module), function)
