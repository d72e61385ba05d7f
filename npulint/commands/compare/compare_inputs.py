"""The two inputs of a comparison: each is read (with framework-independent functions) and assembled as one project."""

from __future__ import annotations

import os
import posixpath
from collections.abc import Iterable, Sequence

import msgspec

from npulint.commands.build import Assembled, assembled
from npulint.commands.check.isolation import unjudged, without_failing
from npulint.commands.compare.matching.matches import Side
from npulint.commands.training_config.configs.lookup import Configs
from npulint.commands.training_config.execution import ProgramSources
from npulint.core.budget import GENEROUS, Budget, BudgetError
from npulint.core.digest import blake2b
from npulint.core.errors import NpulintError
from npulint.core.progress import Advance, no_progress
from npulint.core.texts import say
from npulint.discover.context_files import context_files
from npulint.discover.files import DiscoverOptions, discover
from npulint.discover.kinds import SourceFile
from npulint.discover.paths import local, shown
from npulint.facts.model import FileFacts, Problem
from npulint.read.files import load, read
from npulint.recognizers.programs import Program
from npulint.report.terminal import escape_control_chars

UNMANAGEABLE = (RecursionError, MemoryError, BudgetError)
"""What resolution raises on code that is recursive or nested too deeply, or that takes too much time or memory."""
_LISTED = 8  # scripts in an error message
_CONFIGURATION = "configuration"
_ALIKE = ("python", "shell")  # kinds whose facts depend on the path only where they name it
_APART = (_CONFIGURATION, "graph")  # configuration files are read when a program names them; graphs are not compared


class SideSources(msgspec.Struct, frozen=True):
    """The files of one side; `entry` is the script that was named on the command line."""

    root: str
    sources: Sequence[SourceFile]
    problems: Sequence[Problem]
    entry: str = ""


def below(sources: Iterable[SourceFile], side: str) -> SideSources:
    """The files in the folder of one side."""
    return SideSources(side, [source for source in sources if source.path.startswith(f"{side}/")], ())


def discovered(path: str, options: DiscoverOptions) -> SideSources:
    """The files of the project at `path`, or of the project of the script at `path`."""
    options = msgspec.structs.replace(options, configurations=True)
    discovery = discover((path,), options)
    if os.path.isdir(path):
        return SideSources(shown(local(path)).rstrip("/") or ".", discovery.files, discovery.problems)
    entry = discovery.files[0].path if discovery.files else ""
    files = [*discovery.files, *context_files(discovery, options)]
    return SideSources(os.path.dirname(entry) or ".", files, discovery.problems, entry)


class ComparedProject(msgspec.Struct, frozen=True, eq=False):
    """One side: the problems of discovery, its facts, the assembled project, its configuration files, and its
    files as they lie on the disk. `entry` is the script that was named, empty for a folder."""

    root: str
    problems: Sequence[Problem]
    files: list[FileFacts]
    assembly: Assembled
    configs: Configs
    sources: ProgramSources
    entry: str = ""

    @property
    def names(self) -> Side:
        """The module names of the project, for finding counterparts."""
        return Side(self.assembly.context.names, list(self.assembly.context.project.modules))

    def programs(self) -> Sequence[Program]:
        """The programs to compare."""
        written = [
            program for program in self.assembly.programs if not program.fact.configured
        ]  # settings of others have no code
        named = [program for program in written if program.entry == self.entry]
        return named if self.entry and named else written

    def program_of(self, script: str, lang: str) -> Program:
        """The program whose entry script is, or ends in, `script`. Raises `NpulintError` unless there is one."""
        name = posixpath.normpath(script.replace("\\", "/"))
        programs = [program for program in self.programs() if program.entry]
        fitting = [program for program in programs if f"/{program.entry}".endswith(f"/{name}")]
        matching = [
            program for program in fitting if program.entry in (name, posixpath.join(self.root, name))
        ] or fitting
        if len(matching) == 1:
            return matching[0]
        trained = sorted(fitting or programs, key=lambda program: not program.fact.trains)[:_LISTED]
        names = (escape_control_chars(program.entry.removeprefix(f"{self.root}/")) for program in trained)
        listed = say(lang, "list.and").join(names)
        key = "compare.entry.several" if fitting else "compare.entry.unknown"
        raise NpulintError(say(lang, key, path=escape_control_chars(script), list=listed))


class ReadOnce:
    """Reads files; the facts of a file whose bytes were read before, on either side, are taken over."""

    def __init__(self, budget: Budget = GENEROUS) -> None:
        self._budget = budget
        self._known: dict[tuple[str, bytes], FileFacts] = {}

    def read(self, source: SourceFile) -> FileFacts:
        """The facts of a file, including functions that use no framework."""
        loaded = load(source, budget=self._budget)
        if loaded.problem is not None or source.kind not in _ALIKE:
            return read(loaded, True, self._budget)
        key = source.kind, blake2b(loaded.data, digest_size=16).digest()
        file = self._known.get(key)
        if file is not None:
            return _moved(file, source.path)
        facts = read(loaded, True, self._budget)
        if not facts.problems:
            self._known[key] = facts
        return facts


def _moved(file: FileFacts, path: str) -> FileFacts:
    """The facts of a file as those of another file with the same content."""
    facts = [
        msgspec.structs.replace(fact, path=path)
        if "path" in fact.__struct_fields__ and fact.path == file.path
        else fact
        for fact in file.facts
    ]
    return msgspec.structs.replace(file, path=path, facts=facts)


def project(
    side: SideSources,
    declared: Sequence[str],
    advance: Advance = no_progress,
    budget: Budget = GENEROUS,
    reader: ReadOnce | None = None,
) -> ComparedProject:
    """Read and assemble one side, including functions that use no framework. `declared` are the versions and the SoC
    version that the settings declare; a common `reader` reads files that both sides have once."""
    reader = reader or ReadOnce(budget)
    files = []
    for source in side.sources:
        if source.kind not in _APART:
            files.append(reader.read(source))
        advance(1)
    limit = budget.of_project(len(files), sum(source.size for source in side.sources))
    try:
        files, assembly = without_failing(files, limit, lambda left: (left, assembled(side.root, left, *declared)))
    except UNMANAGEABLE as error:
        reason, detail = (error.reason, error.detail) if isinstance(error, BudgetError) else ("too-deep", "")
        files = [unjudged(file, reason, detail) if file.code else file for file in files]
        assembly = assembled(side.root, files, *declared)
    configs = Configs(assembly.context, [source for source in side.sources if source.kind == _CONFIGURATION])
    sources = ProgramSources(side.root, side.sources)
    return ComparedProject(side.root, side.problems, files, assembly, configs, sources, side.entry)
