"""The programs of the graph files in a project."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from npulint.data.supported import SupportedOps
from npulint.facts.model import FileFacts
from npulint.graphs.facts.graph_programs import graph_programs
from npulint.graphs.facts.target import Target
from npulint.model.values.context import Context
from npulint.recognizers.programs import Program


def graphs_in(
    programs: Sequence[Program],
    context: Context,
    files: Iterable[FileFacts],
    adapter: str = "",
    cann: str = "",
    soc: str = "",
    supported: SupportedOps | None = None,
) -> list[Program]:
    """The programs of the graph files among some files of a project that is already assembled: `programs` are those of
    its code. `supported` are the operators in the list of the installation, if known."""
    target = Target(torch=context.torch, adapter=adapter, cann=cann, soc=soc)
    if supported is not None:
        target = msgspec.structs.replace(target, supported=supported)
    return graph_programs(files, programs, context, target)
