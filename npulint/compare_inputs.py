"""The two sides of a comparison: each read, with what concerns no framework, and assembled as one project."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence

import msgspec

from npulint.assemble.build import Assembled, assembled
from npulint.assemble.programs import Program
from npulint.compare.matching.matches import Side
from npulint.discover.context_files import context_files
from npulint.discover.files import DiscoverOptions, discover
from npulint.discover.kinds import SourceFile
from npulint.discover.paths import local, shown
from npulint.facts.model import FileFacts, Problem
from npulint.progress import Advance, no_progress
from npulint.read.files import load, read
from npulint.training_config.configs.lookup import Configs

UNMANAGEABLE = (RecursionError, MemoryError)
"""What code ends in that leads resolution round in circles, or into the depth."""
_CONFIGURATION = "configuration"
_APART = (_CONFIGURATION, "graph")  # settings are read where a program names them, graphs are not compared


class Sources(msgspec.Struct, frozen=True):
    """The files of one side; `entry` is the script that was named."""

    root: str
    sources: Sequence[SourceFile]
    problems: Sequence[Problem]
    entry: str = ""


def below(sources: Iterable[SourceFile], side: str) -> Sources:
    """Those of some files that lie in the folder of a side."""
    return Sources(side, [source for source in sources if source.path.startswith(f"{side}/")], ())


def discovered(path: str, options: DiscoverOptions) -> Sources:
    """The files of the project, or of the script's project, at `path`."""
    options = msgspec.structs.replace(options, configurations=True)
    found = discover((path,), options)
    if os.path.isdir(path):
        return Sources(shown(local(path)).rstrip("/") or ".", found.files, found.problems)
    entry = found.files[0].path if found.files else ""
    files = [*found.files, *context_files(found, options)]
    return Sources(os.path.dirname(entry) or ".", files, found.problems, entry)


class ComparedProject(msgspec.Struct, frozen=True, eq=False):
    """One side: what of it was not found, its facts, the project assembled from them, and its configuration files.
    `entry` is the script that was named, if one was."""

    root: str
    problems: Sequence[Problem]
    files: list[FileFacts]
    whole: Assembled
    configs: Configs
    entry: str = ""

    @property
    def names(self) -> Side:
        """What the modules of the project are called, for finding their counterparts."""
        return Side(self.whole.context.names, list(self.whole.context.project.modules))

    def programs(self) -> Sequence[Program]:
        """The programs that are to be compared."""
        named = [program for program in self.whole.programs if program.entry == self.entry]
        return named if self.entry and named else self.whole.programs


def project(side: Sources, declared: Sequence[str], told: Advance = no_progress) -> ComparedProject:
    """Read and assemble one side, functions that concern no framework included. `declared` are the releases and the
    chip that the settings declare."""
    files = []
    for source in side.sources:
        if source.kind not in _APART:
            files.append(read(load(source), whole=True))
        told(1)
    try:
        whole = assembled(side.root, files, *declared)
    except UNMANAGEABLE:
        files = [FileFacts(f.path, f.kind, problems=[Problem(f.path, "too-deep")]) if f.code else f for f in files]
        whole = assembled(side.root, files, *declared)
    configs = Configs(whole.context, [source for source in side.sources if source.kind == _CONFIGURATION])
    return ComparedProject(side.root, side.problems, files, whole, configs, side.entry)
