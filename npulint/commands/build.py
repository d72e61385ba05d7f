"""Builds the programs of a project from the facts of its files."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable
from typing import TYPE_CHECKING

import msgspec

from npulint.core.wings import service
from npulint.data.releases import DEFAULT_ADAPTER
from npulint.facts.model import Fact, FileFacts
from npulint.model.code.index import FactTable, table
from npulint.model.code.project import Project
from npulint.model.programs.environment_variables import typed
from npulint.model.programs.launch_options import launch_options
from npulint.model.programs.project_options import Declared
from npulint.model.programs.resources import complete
from npulint.model.programs.torch_release import torch_release
from npulint.model.values.context import Context
from npulint.model.values.data_files import DataFiles
from npulint.model.values.executions import Executions
from npulint.read.files import ReadableFiles
from npulint.recognizers.configured_programs import ConfiguredTraining
from npulint.recognizers.programs import Program, Programs
from npulint.recognizers.run import recognise
from npulint.recognizers.versions.conflicts import environments

if TYPE_CHECKING:
    from npulint.data.supported import SupportedOps


class Assembled(msgspec.Struct, frozen=True, eq=False):
    """A project with resolved names, and its programs: entry scripts first, then a program of what no entry script
    reaches."""

    context: Context
    programs: list[Program]


def assemble(
    root: str,
    read: Iterable[FileFacts],
    adapter: str = "",
    torch: str = "",
    cann: str = "",
    soc: str = "",
    supported: SupportedOps | None = None,
    readable: ReadableFiles | None = None,
) -> list[Program]:
    """The programs of a project (see `assembled`), followed by those of its graph files and by the training run whose
    artifacts are in the project. `supported` are the operators in the list of the installation, if known."""
    files: list[FileFacts] = []
    left: list[FileFacts] = []
    for file in read:
        (left if file.kind == "artifact" else files).append(file)
    project = assembled(root, files, adapter, torch, cann, soc, readable=readable)
    programs = list(project.programs)
    if any(file.graph is not None for file in files):
        in_graphs = service("graph_programs")
        programs += in_graphs(project.programs, project.context, files, adapter, cann, soc, supported)
    if left:
        programs.append(service("run_program")(root, left, project.programs, project.context))
    return programs


def assembled(
    root: str,
    files: Iterable[FileFacts],
    adapter: str = "",
    torch: str = "",
    cann: str = "",
    soc: str = "",
    *,
    readable: ReadableFiles | None = None,
) -> Assembled:
    """A project with its programs. `adapter`, `torch` and `cann` are the declared releases of TF Adapter, PyTorch and
    CANN (by default the pinned release of PyTorch); `soc` is the declared SoC family. `readable` are the files, for
    what only an execution of the scripts tells."""
    data: list[FileFacts] = []
    code: list[FileFacts] = []
    for file in files:
        (data if file.kind == "data" else code).append(file)
    project = Project(root, code)
    context = Context(project, torch or torch_release(project.files))
    context.declared = {"torch": torch, "cann": cann}
    if readable is not None:
        context.executions = Executions(project, readable)
    held = DataFiles(context, [*data, *project.files])
    if held.are_loaded:
        context.load, context.composed = held.load, held.composed
        if not held.are_known:  # to ask for what they hold would be in vain
            context.load = context.composed = None
        if held.may_name_devices:
            context.held_under, context.held_as = held.under, held.held_as
    facts = recognise(context)
    for entry, passed in launch_options(context).items():
        facts[entry] += passed
    configured = ConfiguredTraining(context)
    for entry, passed in configured.of_entries.items():
        facts[entry] += passed
    other: list[FactTable] = []
    for file in project.files:
        if file.path in facts:
            facts[file.path] += typed(file.facts)
        elif file.facts:
            other.append(table(typed(file.facts)))
    other += [table(_built(facts)), table(configured.parts), table(_versions(project.files, cann, torch))]
    tables = {path: table(path_facts) for path, path_facts in facts.items()}
    complete(tables, other, project, Declared(adapter, cann, soc))
    starts = configured.only_start, configured.launchers
    programs = Programs(context, tables, other, adapter or DEFAULT_ADAPTER, context.torch, *starts)
    return Assembled(context, programs.all(configured.programs))


def _versions(files: Iterable[FileFacts], cann: str, torch: str) -> list[Fact]:
    """The facts about what the project installs together on NPU servers, each once."""
    installed = list(environments(files, cann, torch))
    if not installed:
        return []
    from npulint.recognizers.versions.conflicts import conflicts  # needs a library for versions

    facts = [fact for environment in installed for fact in conflicts(environment)]
    return list({repr(fact): fact for fact in facts}.values())


def _built(facts: dict[str, list[Fact]]) -> list[Fact]:
    """Adds facts about what setup.py or torch.utils.ffi compiles to every program of the project."""
    return [
        fact
        for path, path_facts in facts.items()
        for fact in path_facts
        if fact.kind == "cuda_extension" and (posixpath.basename(path) == "setup.py" or fact.get("what") == "ffi")
    ]
