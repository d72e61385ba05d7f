"""Programs that are no scripts of the project: trainings that a file or a command line of a framework configures."""

from __future__ import annotations

from collections.abc import Sequence

from npulint.data.training_arguments import configured_framework, framework_started_by
from npulint.facts.kinds import fact_kind
from npulint.facts.model import Fact, FileFacts, Span
from npulint.model.code.index import FactTable, Index, table
from npulint.model.launches.project_launches import Target, target_of
from npulint.model.programs.configured.arguments import (
    TrainingArgument,
    UnknownRelease,
    required_versions,
    training_arguments,
)
from npulint.model.programs.configured.settings import TrainingStart
from npulint.model.programs.configured.starts import TrainingStarts
from npulint.model.programs.program_fact import ProgramFact
from npulint.model.programs.torch_precision import precision_of
from npulint.model.values.context import Context
from npulint.read.launcher_facts import LaunchFact
from npulint.recognizers.counterparts import LauncherStart, launcher_counterparts
from npulint.recognizers.programs import Program

_LAUNCHERS = frozenset(("shell", "makefile"))  # kinds of files that start something


@fact_kind("framework_start")
class FrameworkStart(Fact, dict=True):
    """A launcher starts a training by the command of a framework (``llamafactory-cli``, ``swift``), no script of the
    project; the name is the framework."""

    name: str
    path: str
    span: Span
    target: Target
    """The device that the launcher is for."""
    prepared: bool
    """Whether the launcher sets the toolkit up."""
    beside_npu: bool
    """Whether another launcher starts the training for the NPU."""


class ConfiguredTraining:
    """The trainings of a project that are configured. `of_entries` are the facts about arguments that launchers hand to
    scripts of the project, by script; `parts` those in files of which it is not known what uses them, and those about
    launchers of scripts that are not in the project; `only_start` are the files, by script, that configure its only
    start."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self.of_entries: dict[str, list[Fact]] = {}
        self.parts: list[Fact] = []
        self._alone: dict[str, tuple[TrainingStart, list[Fact]]] = {}
        starts = TrainingStarts(context)
        self.only_start = _only_starts(starts.all)
        shells = {file.path for file in context.project.files if file.kind in _LAUNCHERS}
        self.launchers = frozenset(start.path for start in starts.all if start.framework and start.path in shells)
        versions = required_versions(context)
        for start in starts.all:
            arguments = list(training_arguments(start.effective(), versions, start))
            if start.framework:  # a script of the framework may be started with many configurations
                self._add(self._alone.setdefault(start.path, (start, []))[1], arguments)
                continue
            for entry in start.entries:
                self._add(self.of_entries.setdefault(entry, []), arguments)
            if not start.entries:
                self._add(self.parts, arguments)
        for part in starts.parts:
            self.parts += training_arguments(part.settings, versions)

    def _add(self, facts: list[Fact], arguments: Sequence[TrainingArgument | UnknownRelease]) -> None:
        places = {(fact.kind, fact.path, fact.span, fact.name) for fact in facts}
        facts += [fact for fact in arguments if (fact.kind, fact.path, fact.span, fact.name) not in places]

    def programs(self, others: FactTable, scripts: Sequence[Program]) -> list[Program]:
        """The trainings of frameworks; the entry of each is the file that configures it, or the launcher. `others` are
        the facts of the project that belong to no code: those of other launchers do not concern a training. `scripts`
        are the programs with an entry script."""
        launchers = {file.path: file for file in self._context.project.files if file.kind in _LAUNCHERS}
        shared, own = FactTable(), dict[str, list[Fact]]()
        for kind, facts in others.items():
            for fact in facts:
                if fact.path in launchers:
                    own.setdefault(fact.path, []).append(fact)
                else:
                    shared.setdefault(kind, []).append(fact)
        counterparts = launcher_counterparts(
            _launcher_start(start, launchers[path]) for path, (start, _) in self._alone.items() if path in launchers
        )
        for path, (start, _) in self._alone.items():
            if path in launchers and launchers[path].kind == "shell":
                own.setdefault(path, []).append(_start(start, launchers[path], path in counterparts))
        for_cuda = _copied_for_cuda(scripts, self._context.project.root)
        programs = [
            self._program(start, [*facts, *own.get(path, ())], shared, start.framework in for_cuda)
            for path, (start, facts) in sorted(self._alone.items())
        ]
        for program in programs:
            if program.entry in counterparts:
                program.fact.counterpart = counterparts[program.entry]
                program.fact.migration, program.fact.state = "left", "not_started"
        return programs

    def _program(self, start: TrainingStart, own: list[Fact], shared: FactTable, for_cuda: bool) -> Program:
        """The training of one start. Of the facts of the project those hold surely that are its `own`."""
        fact = _fact(self._context, start, for_cuda)
        program = Program(start.path, self._context.project.root, [start.path], Index([table(own), shared]), fact)
        paths = {start.path, *(argument.path for argument in own)}
        program.how_runs = lambda any_fact: "surely" if any_fact.path in paths else "maybe"
        program.is_example = not start.is_started
        program.fact.computes(precision_of(program.index, True, program.surely_runs))
        return program


def _only_starts(starts: Sequence[TrainingStart]) -> dict[str, frozenset[str]]:
    """For each script of the project that one start configures, the files that it takes its settings from."""
    by_entry: dict[str, list[TrainingStart]] = {}
    for start in starts:
        for entry in start.entries:
            by_entry.setdefault(entry, []).append(start)
    return {
        entry: frozenset(setting.path for setting in of_entry[0].settings)
        for entry, of_entry in by_entry.items()
        if len(of_entry) == 1 and len(of_entry[0].entries) == 1
    }


def _copied_for_cuda(scripts: Sequence[Program], root: str) -> set[str]:
    """The frameworks that the project has its own copy of, in which no training knows the NPU: what their releases can
    do does not apply."""
    copies = [(framework_started_by(script.entry, root), script.fact.migration) for script in scripts]
    return {name for name, _ in copies if name} - {name for name, migration in copies if migration != "none"}


def _launcher_start(start: TrainingStart, file: FileFacts) -> LauncherStart:
    arguments = {setting.name: setting.value for setting in start.effective()}
    return LauncherStart(start.path, start.framework, target_of(file), arguments)


def _start(start: TrainingStart, file: FileFacts, beside_npu: bool) -> FrameworkStart:
    title = configured_framework(start.framework).title
    sourced = [fact for fact in file.facts if isinstance(fact, LaunchFact) and fact.record.sourced]
    prepared = any("set_env" in launch_fact.name for launch_fact in sourced)
    return FrameworkStart(title, start.path, start.span, target_of(file), prepared, beside_npu)


def _fact(context: Context, start: TrainingStart, for_cuda: bool) -> ProgramFact:
    framework = configured_framework(start.framework)
    placed = framework.places and not for_cuda
    return ProgramFact(
        framework="torch",
        entry=True,
        torch=context.torch,
        migration="agnostic" if placed else "none",
        state="migrated" if placed else "not_started",
        configured=True,
        configured_by=framework.title,
    )
