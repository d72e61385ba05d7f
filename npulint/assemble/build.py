"""From the files of one project to its programs."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable
from typing import TYPE_CHECKING

import msgspec

from npulint.assemble.context import Context
from npulint.assemble.cursors import scope_at
from npulint.assemble.environment_variables import typed
from npulint.assemble.index import FactTable, table
from npulint.assemble.launches.launch_options import launch_options
from npulint.assemble.npu_server import npu_server
from npulint.assemble.programs import Program, Programs
from npulint.assemble.project import Project
from npulint.assemble.project_options import Declared
from npulint.assemble.recognizers import recognise
from npulint.assemble.resources import complete
from npulint.assemble.torch_release import torch_release
from npulint.facts.model import Fact, FileFacts

if TYPE_CHECKING:
    from npulint.data.supported import SupportedOps

DEFAULT_ADAPTER = "1.15"  # the release line that is assumed when none is declared


class Assembled(msgspec.Struct, frozen=True, eq=False):
    """A project whose names have their meaning, and its programs: entry scripts first, then what none of them
    reaches."""

    context: Context
    programs: list[Program]


def assemble(
    root: str,
    given: Iterable[FileFacts],
    adapter: str = "",
    torch: str = "",
    cann: str = "",
    soc: str = "",
    supported: SupportedOps | None = None,
) -> list[Program]:
    """The programs of a project (see `assembled`), behind them those that its graphs are, and the run whose artifacts
    lie beside it. `supported` are the operators that the installation lists, where that is known."""
    files: list[FileFacts] = []
    left: list[FileFacts] = []
    for file in given:
        (left if file.kind == "artifact" else files).append(file)
    whole = assembled(root, files, adapter, torch, cann, soc)
    programs = list(whole.programs)
    if any(file.graph is not None for file in files):
        programs += graphs_in(whole, files, adapter, cann, soc, supported)
    if left:
        from npulint.assemble.run.run_program import run_program  # most projects have none

        programs.append(run_program(root, left, whole.programs, whole.context))
    return programs


def graphs_in(
    whole: Assembled,
    files: Iterable[FileFacts],
    adapter: str = "",
    cann: str = "",
    soc: str = "",
    supported: SupportedOps | None = None,
) -> list[Program]:
    """The programs that the graphs among some files are, in a project that is known otherwise."""
    from npulint.assemble.graph.graph_programs import graph_programs
    from npulint.assemble.graph.target import Target

    target = Target(torch=whole.context.torch, adapter=adapter, cann=cann, soc=soc)
    if supported is not None:
        target = msgspec.structs.replace(target, supported=supported)
    return graph_programs(files, whole.programs, whole.context, target)


def assembled(
    root: str, files: Iterable[FileFacts], adapter: str = "", torch: str = "", cann: str = "", soc: str = ""
) -> Assembled:
    """A project with its programs. `adapter`, `torch` and `cann` are the declared releases of the TensorFlow adapter,
    PyTorch and CANN; that of PyTorch else is the pinned one; `soc` is the declared SoC family."""
    project = Project(root, files)
    context = Context(project, torch or torch_release(project.files))
    server = npu_server(context)
    context.guards.server = lambda module, block: server.runs(scope_at(context, module, block))
    facts = recognise(context)
    for entry, passed in launch_options(context).items():
        facts[entry] += passed
    other: list[FactTable] = []
    for file in project.files:
        if file.path in facts:
            facts[file.path] += typed(file.facts)
        elif file.facts:
            other.append(table(typed(file.facts)))
    other.append(table(_built(facts)))
    tables = {path: table(found) for path, found in facts.items()}
    complete(tables, other, project, Declared(adapter, cann, soc))
    return Assembled(context, Programs(context, tables, other, adapter or DEFAULT_ADAPTER, context.torch).all())


def _built(facts: dict[str, list[Fact]]) -> list[Fact]:
    """What setup.py, or a script of torch.utils.ffi, compiles is there for every program of the project."""
    return [
        fact
        for path, found in facts.items()
        for fact in found
        if fact.kind == "cuda_extension" and (posixpath.basename(path) == "setup.py" or fact.get("what") == "ffi")
    ]
